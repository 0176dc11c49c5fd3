"""``compression-advisor advise``: which compression suits a payload."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from craft_cli import EmitterMode

from ..analysis import Analysis, analyse
from ..core.errors import AdvisorError, NoInputError
from ..core.terminal import emit
from ..launches import price_stacks
from ..lint.request import analysis_request, check_apps
from ..payload.snap_yaml import COMPONENT_TYPE, split_component_name
from ..payload.source import Payload, find_payload, open_payload
from ..project.project_file import find_project_file
from ..report.answer import render_answer
from ..report.lines import FILE_STYLE, style_for
from ..report.text import render_text
from .arguments import (
    EDITS,
    PATH,
    Arguments,
    Command,
    details,
    format_argument,
    output_argument,
)
from .edits import check_edit_options, set_compression
from .find_project import find_policy, find_project, project_to_set
from .policy_options import ADVICE_ARGUMENTS, lint_request, policy_options
from .record_options import RECORD_ARGUMENTS, check_record_options, with_recordings
from .surroundings import SURROUNDINGS, check_stack_options, open_surroundings
from .write import check_outputs, write_output

if TYPE_CHECKING:
    from ..capture.snapd_timings import SnapdTimings
    from ..lint.project import ProjectFile

FORMATS = ("text", "json", "markdown")


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
        "--report FILE": "also write a page with charts to this file: .html "
        "(self-contained) or .md (default: none)",
        "--timings FILE…": details(
            "also show what snapd measured on an installed snap: the output of 'snap "
            "debug timings CHANGE', 'snap changes --abs-time' or 'snap run "
            "--trace-exec'; may be repeated (default: none)",
            type=Path,
        ),
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
        if in_full:
            _pages().check_report_path(parsed_args.report)
        check_outputs(parsed_args.output, *filter(None, [parsed_args.report]))
        with ExitStack() as until:
            payload = until.enter_context(open_payload(path))
            if parsed_args.fix or parsed_args.diff:
                project_dir = project_to_set(payload, project_dir)
            file = parsed_args.policy or find_policy(payload.path, project_dir)
            lint = lint_request(file, policy_options(parsed_args), narrow=True)
            check_apps(payload, lint)
            timings = _timings(parsed_args, payload)
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
            if parsed_args.format == "text" and not parsed_args.diff:
                _write_text(analysis, timings, parsed_args)
            if in_full:
                lint = replace(
                    lint, bases=surroundings.bases, content=surroundings.contents
                )
                report = _pages().full_report(
                    analysis,
                    payload,
                    lint,
                    project=project,
                    command=self.config,
                    timings=timings,
                )
                sources = _pages().Sources(report=report)
                if parsed_args.format == "json" and not parsed_args.diff:
                    write_output(report.text(), parsed_args.output)
                elif parsed_args.format == "markdown" and not parsed_args.diff:
                    page = _pages().build_page(sources)
                    write_output(_pages().render_markdown(page), parsed_args.output)
                if parsed_args.report is not None:
                    _pages().write_page(sources, parsed_args.report)
            if project_dir is not None:
                _follow(analysis, payload, project_dir, parsed_args)
        return os.EX_DATAERR if analysis.missing_programs else None


def _write_text(
    analysis: Analysis, timings: SnapdTimings | None, parsed_args: argparse.Namespace
) -> None:
    output, fixes = parsed_args.output, parsed_args.fix
    style = style_for(sys.stdout, os.environ) if output is None else FILE_STYLE
    if emit.get_mode() in {EmitterMode.QUIET, EmitterMode.BRIEF}:
        text = render_answer(analysis, style, sets_key=fixes)
    else:
        text = render_text(analysis, style, timings=timings, sets_key=fixes)
    write_output(text, output)


def _timings(parsed_args: argparse.Namespace, payload: Payload) -> SnapdTimings | None:
    if not parsed_args.timings:
        return None
    from ..capture.snapd_timings import (  # noqa: PLC0415 # few runs have any
        read_snapd_timings,
    )

    return read_snapd_timings(parsed_args.timings, snap=payload.snap.name)


def _pages() -> ModuleType:
    """Return what writes full reports; importing it takes as long as small advice."""
    return import_module("snapcraft_compression_advisor.cli.report")


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
