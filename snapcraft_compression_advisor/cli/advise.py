"""``compression-advisor advise``: which compression suits a payload."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..analysis import Analysis, analyse
from ..core.terminal import emit
from ..launches import price_stacks
from ..payload.snap_yaml import COMPONENT_TYPE, split_component_name
from ..payload.source import Payload
from ..report.answer import advise_page
from ..report.lines import COLUMNS
from ..report.model import Page, Section
from .arguments import EDITS, PATH, REPORT, Arguments, Command, output_arguments
from .commands import APP_NAME
from .edits import set_compression
from .policy_options import ADVICE_ARGUMENTS
from .record_options import RECORD_ARGUMENTS, check_record_options
from .surroundings import SURROUNDINGS, Subject, check_stack_options, open_subject
from .write import (
    check_page_outputs,
    note,
    print_page,
    text_style,
    write_output,
    write_page,
)

if TYPE_CHECKING:
    from ..lint.finding import LintedPayload


class AdviseCommand(Command):
    """Pack with every codec, estimate launches, recommend."""

    name = "advise"
    overview = (
        "Compress a prime directory or a built snap with every squashfs codec, "
        "determine which data blocks a launch reads, estimate what a cold launch "
        "costs with each codec, and recommend xz or lzo.\n\n"
        "Nothing is changed unless --fix is given and the verdict is 'change'."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        **ADVICE_ARGUMENTS,
        **SURROUNDINGS,
        **RECORD_ARGUMENTS,
        "--exact": "pack the whole payload with every codec instead of compressing a "
        "sample of its blocks; takes minutes",
        **output_arguments(),
        **REPORT,
        "--project PROJECT_DIR": "the payload's project, or its snapcraft.yaml "
        "(default: the one beside the payload, else the one in the current directory "
        "if it has the snap's name)",
        **EDITS,
    }

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the advice, and follow it if that is asked for."""
        check_record_options(parsed_args)
        check_stack_options(parsed_args)
        check_page_outputs(parsed_args)
        with open_subject(parsed_args, records=True) as subject:
            request = replace(subject.request(), exact=parsed_args.exact)
            analysis = analyse(subject.payload, request, progress=emit.progress)
            launches = price_stacks(
                analysis.launches,
                analysis.trial,
                analysis.devices,
                progress=emit.progress,
            )
            analysis = replace(analysis, launches=launches)
            linted = None
            if parsed_args.format != "text" or parsed_args.report is not None:
                linted = _linted(subject, analysis)
            command = _command_line(self.config)
            _write(Found(analysis, command, linted), parsed_args)
            if subject.project_dir is not None:
                _follow(analysis, subject.payload, subject.project_dir, parsed_args)
        return os.EX_DATAERR if analysis.missing_programs else None


def _linted(subject: Subject, analysis: Analysis) -> LintedPayload:
    """Lint what was analysed."""
    from ..lint.lint import lint_analysed  # noqa: PLC0415 # a text has none of it
    from ..payload.survey import take_survey  # noqa: PLC0415 # as above
    from ..preflight.packing import look_at_packing  # noqa: PLC0415 # as above

    emit.progress("Checking caches and unneeded files")
    payload, around = subject.payload, subject.surroundings
    lint = replace(subject.lint, bases=around.bases, content=around.contents)
    survey = take_survey(payload, suppliers=lint.suppliers(payload.snap))
    return lint_analysed(
        payload,
        lint,
        (analysis, survey, look_at_packing(payload)),
        path=str(payload.path),
        project=subject.project,
        progress=emit.progress,
    )


def _command_line(words: object) -> str:
    """Return the command as it was given; empty if that isn't known."""
    return shlex.join((APP_NAME, *map(str, words))) if isinstance(words, list) else ""


@dataclass(frozen=True, slots=True)
class Found:
    """The advice on a payload.

    :param command: command line; empty if it isn't known.
    :param linted: findings, if it was linted.
    """

    analysis: Analysis
    command: str
    linted: LintedPayload | None

    def page(
        self,
        parsed_args: argparse.Namespace,
        details: Iterable[Section],
        columns: int = COLUMNS,
    ) -> Page:
        """Return the page."""
        apply = None if parsed_args.fix else ""
        return advise_page(self.analysis, columns=columns, apply=apply, details=details)

    def details(self) -> Iterator[Section]:
        """Return what the default leaves out."""
        from ..report.advise_details import detail_sections  # noqa: PLC0415 # with -v

        return detail_sections(self.analysis, linted=self.linted, command=self.command)

    def json(self) -> str:
        """Return the advice as JSON."""
        from ..report.advise_json import advise_json  # noqa: PLC0415 # a text has none

        return advise_json(self.analysis, linted=self.linted, command=self.command)


def _write(found: Found, parsed_args: argparse.Namespace) -> None:
    """Write the advice as it is wanted; its details are made only if they are."""
    report: Path | None = parsed_args.report
    form = "" if parsed_args.diff else parsed_args.format
    if form == "json":
        write_output(found.json(), parsed_args.output)
    elif form == "text":
        style = text_style(parsed_args.output)
        details = found.details() if style.verbose else ()
        page = found.page(parsed_args, details, style.wrap_columns)
        write_page(page, parsed_args)
    if form == "markdown" or report is not None:
        from ..report.charts import chart_sections  # noqa: PLC0415 # a text has none

        charts = chart_sections(found.analysis)
        page = found.page(parsed_args, (*charts, *found.details()))
        if form == "markdown":
            write_page(page, parsed_args)
        if report is not None:
            write_output(print_page(page, report), report)


def _follow(
    analysis: Analysis, payload: Payload, folder: Path, parsed_args: argparse.Namespace
) -> None:
    """Set the compression, or show that, if it is asked for and advised."""
    advice = analysis.recommendation
    if not (parsed_args.fix or parsed_args.diff):
        return
    if advice.verdict != "change":
        note(f"Nothing to set: the verdict is '{advice.verdict}'")
        return
    component = None
    if payload.snap.type == COMPONENT_TYPE:
        _, component = split_component_name(payload.snap.name)
        component = component or payload.snap.name
    set_compression(
        folder,
        advice.compression,
        component=component,
        diff=parsed_args.diff,
        output=parsed_args.output,
    )
