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
from ..core.errors import AdvisorError, NoInputError
from ..core.terminal import emit
from ..launches import price_stacks
from ..lint.request import LintRequest, analysis_request, check_apps
from ..payload.snap_yaml import COMPONENT_TYPE, split_component_name
from ..payload.source import Payload, find_payload, open_payload
from ..project.project_file import find_project_file
from ..report.answer import advise_page
from ..report.lines import COLUMNS
from ..report.model import Page, Section
from .arguments import (
    EDITS,
    PATH,
    Arguments,
    Command,
    format_argument,
    output_argument,
)
from .commands import APP_NAME
from .edits import check_edit_options, set_compression
from .find_project import find_policy, find_project, project_to_set
from .pages import FORMATS, REPORT, check_report_path, save_page, text_style, write_page
from .policy_options import ADVICE_ARGUMENTS, lint_request, policy_options
from .record_options import RECORD_ARGUMENTS, check_record_options, with_recordings
from .surroundings import SURROUNDINGS, check_stack_options, open_surroundings
from .write import check_outputs, write_output

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
        **format_argument(FORMATS),
        **output_argument(),
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
        in_full = parsed_args.format != "text" or parsed_args.report is not None
        check_report_path(parsed_args.report)
        check_outputs(parsed_args.output, *filter(None, [parsed_args.report]))
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
            launches = price_stacks(
                analysis.launches,
                analysis.trial,
                analysis.devices,
                progress=emit.progress,
            )
            analysis = replace(analysis, launches=launches)
            found = Found(analysis, payload, project, self.config)
            if in_full:
                around = replace(
                    lint, bases=surroundings.bases, content=surroundings.contents
                )
                found = with_findings(found, around)
            _write(found, parsed_args)
            if project_dir is not None:
                _follow(analysis, payload, project_dir, parsed_args)
        return os.EX_DATAERR if analysis.missing_programs else None


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out about a payload.

    :param command: arguments of the command line; anything else if they aren't known.
    :param linted: findings, if it was linted.
    """

    analysis: Analysis
    payload: Payload
    project: ProjectFile | None
    command: object
    linted: LintedPayload | None = None

    @property
    def command_line(self) -> str:
        """The command as it was given; empty if that isn't known."""
        words = map(str, self.command) if isinstance(self.command, list) else ()
        return shlex.join((APP_NAME, *words)) if self.command else ""


def with_findings(found: Found, lint: LintRequest) -> Found:
    """Lint what was analysed.

    :param lint: what to check it against, with the snaps that it runs with.
    :raises AdvisorError: if the payload can't be looked at.
    """
    from ..lint.lint import lint_analysed  # noqa: PLC0415 # a text has none of it
    from ..payload.survey import take_survey  # noqa: PLC0415 # as above
    from ..preflight.packing import look_at_packing  # noqa: PLC0415 # as above

    emit.progress("Checking caches and unneeded files")
    payload = found.payload
    survey = take_survey(payload, suppliers=lint.suppliers(payload.snap))
    linted = lint_analysed(
        payload,
        lint,
        (found.analysis, survey, look_at_packing(payload)),
        path=str(payload.path),
        project=found.project,
        progress=emit.progress,
    )
    return replace(found, linted=linted)


def _write(found: Found, parsed_args: argparse.Namespace) -> None:
    """Write the advice as it is wanted; its details are made only if they are."""
    output, form, report = parsed_args.output, parsed_args.format, parsed_args.report
    style = text_style(output)
    if parsed_args.diff:
        form = ""
    if form == "json":
        write_output(_json(found), output)
    elif form == "text":
        details = _details(found) if style.verbose else ()
        page = _page(found, parsed_args, details, columns=style.wrap_columns)
        write_page(page, form, output)
    if form == "markdown" or report is not None:
        from ..report.charts import chart_sections  # noqa: PLC0415 # a text has none

        sections = (*chart_sections(found.analysis), *_details(found))
        page = _page(found, parsed_args, sections)
        if form == "markdown":
            write_page(page, form, output)
        save_page(page, report)


def _page(
    found: Found,
    parsed_args: argparse.Namespace,
    details: Iterable[Section],
    *,
    columns: int = COLUMNS,
) -> Page:
    apply = None if parsed_args.fix else ""
    return advise_page(found.analysis, columns=columns, apply=apply, details=details)


def _details(found: Found) -> Iterator[Section]:
    from ..report.advise_details import detail_sections  # noqa: PLC0415 # with -v

    return detail_sections(
        found.analysis,
        linted=found.linted,
        command=found.command_line,
    )


def _json(found: Found) -> str:
    from ..report.advise_json import advise_json  # noqa: PLC0415 # a text has none

    entries = found.payload.inventory.entries.values()
    return advise_json(
        found.analysis,
        linted=found.linted,
        executables=frozenset(entry.path for entry in entries if entry.executable),
        command=found.command_line,
    )


def _project(payload: Payload, project_dir: Path | None) -> ProjectFile | None:
    """Return the payload's project, as ``lint`` finds it; a broken one is a warning."""
    try:
        return find_project(payload, project_dir)
    except NoInputError:
        return None
    except AdvisorError as error:
        emit.progress(f"Warning: {error}", permanent=True)
        return None


def _follow(
    analysis: Analysis,
    payload: Payload,
    project_dir: Path,
    parsed_args: argparse.Namespace,
) -> None:
    """Set the compression, or show that, if it is asked for and advised."""
    advice = analysis.recommendation
    if not (parsed_args.fix or parsed_args.diff):
        return
    if advice.verdict != "change":
        message = f"Nothing to set: the verdict is '{advice.verdict}'"
        emit.progress(message, permanent=True)
        return
    component = None
    if payload.snap.type == COMPONENT_TYPE:
        _, component = split_component_name(payload.snap.name)
        component = component or payload.snap.name
    set_compression(
        project_dir,
        advice.compression,
        component=component,
        diff=parsed_args.diff,
        output=parsed_args.output,
    )
