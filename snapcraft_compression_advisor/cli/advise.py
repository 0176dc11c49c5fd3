"""``compression-advisor advise``: which compression suits a payload."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..analysis import Analysis, analyse
from ..core.errors import AdvisorError
from ..core.terminal import emit
from ..launches import price_stacks
from ..lint.request import LintRequest, analysis_request, check_apps
from ..payload.snap_yaml import COMPONENT_TYPE, split_component_name
from ..payload.source import Payload, find_payload, open_payload
from ..project.project_file import find_project_file
from ..report.answer import advise_page
from ..report.lines import COLUMNS
from ..report.model import Page, Section
from .arguments import EDITS, PATH, REPORT, Arguments, Command, output_arguments
from .commands import APP_NAME
from .edits import check_edit_options, set_compression
from .find_project import find_policy, find_project, project_to_set
from .policy_options import ADVICE_ARGUMENTS, lint_request, policy_options
from .record_options import RECORD_ARGUMENTS, check_record_options, with_recordings
from .surroundings import SURROUNDINGS, check_stack_options, open_surroundings
from .write import (
    check_page_outputs,
    note,
    print_page,
    text_style,
    warn,
    write_output,
    write_page,
)

if TYPE_CHECKING:
    from ..lint.finding import LintedPayload
    from ..lint.project import ProjectFile


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
        check_edit_options(parsed_args)
        path = parsed_args.path or find_payload(Path.cwd())
        project_dir: Path | None = parsed_args.project
        if project_dir is not None:
            find_project_file(project_dir)  # before anything that takes time
        check_page_outputs(parsed_args)
        with ExitStack() as until:
            payload = until.enter_context(open_payload(path))
            if parsed_args.fix or parsed_args.diff:
                project_dir = project_to_set(payload, project_dir)
            file = parsed_args.policy or find_policy(payload.path, project_dir)
            lint = lint_request(file, policy_options(parsed_args), narrow=True)
            check_apps(payload, lint)
            lint = with_recordings(payload, lint, parsed_args)
            surroundings = open_surroundings(payload, lint.policy, parsed_args, until)
            project = _project(payload, project_dir)
            request = replace(
                analysis_request(payload, lint, project),
                exact=parsed_args.exact,
                surroundings=surroundings,
            )
            analysis = analyse(payload, request, progress=emit.progress)
            trial, devices = analysis.trial, analysis.devices
            launches = price_stacks(
                analysis.launches, trial, devices, progress=emit.progress
            )
            analysis = replace(analysis, launches=launches)
            linted = None
            if parsed_args.format != "text" or parsed_args.report is not None:
                bases, contents = surroundings.bases, surroundings.contents
                around = replace(lint, bases=bases, content=contents)
                linted = _linted(payload, analysis, around, project)
            command = _command_line(self.config)
            _write(Found(analysis, payload, command, linted), parsed_args)
            if project_dir is not None:
                _follow(analysis, payload, project_dir, parsed_args)
        return os.EX_DATAERR if analysis.missing_programs else None


def _linted(
    payload: Payload, analysis: Analysis, lint: LintRequest, project: ProjectFile | None
) -> LintedPayload:
    """Lint what was analysed.

    :param lint: what to check it against, with the snaps that it runs with.
    :raises AdvisorError: if the payload can't be examined.
    """
    from ..lint.lint import lint_analysed  # noqa: PLC0415 # a text has none of it
    from ..payload.survey import take_survey  # noqa: PLC0415 # as above
    from ..preflight.packing import look_at_packing  # noqa: PLC0415 # as above

    emit.progress("Checking caches and unneeded files")
    survey = take_survey(payload, suppliers=lint.suppliers(payload.snap))
    return lint_analysed(
        payload,
        lint,
        (analysis, survey, look_at_packing(payload)),
        path=str(payload.path),
        project=project,
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
    payload: Payload
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

        return advise_json(
            self.analysis,
            linted=self.linted,
            command=self.command,
        )


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


def _project(payload: Payload, project_dir: Path | None) -> ProjectFile | None:
    """Return the payload's project, as ``lint`` finds it; a broken one is a warning."""
    try:
        return find_project(payload, project_dir)
    except AdvisorError as error:
        warn(str(error))
        return None


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
