"""``compression-advisor advise``: which compression suits a payload."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ..analysis import Analysis, analyse
from ..core.terminal import emit
from ..payload.snap_yaml import COMPONENT_TYPE, split_component_name
from ..report.answer import advise_page
from ..report.lines import COLUMNS
from ..report.model import Section
from ..report.words import again
from .commands import (
    EDITS,
    PATH,
    REPORT,
    Arguments,
    Command,
    exclude,
    given_options,
    output_arguments,
)
from .settings_options import ADVICE_ARGUMENTS, RECORD_ARGUMENTS, check_record_options
from .subject import SURROUNDINGS, Subject, open_subject
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


_ANALYSIS_ARGUMENTS: Arguments = {
    **ADVICE_ARGUMENTS,
    **SURROUNDINGS,
    **RECORD_ARGUMENTS,
    "--exact": "pack the whole payload with every codec instead of compressing a "
    "sample of its blocks; takes minutes",
    "--project PROJECT_DIR": "the snap's project, or its snapcraft.yaml "
    "(default: the one beside the snap, else the one in the current directory "
    "if it has the snap's name)",
}
"""What the answer depends on, so commands to copy repeat it."""


class AdviseCommand(Command):
    """Pack with every codec, estimate launches, recommend."""

    name = "advise"
    overview = (
        "Compress a prime directory or a built snap with every squashfs codec, "
        "find what a start of the app reads, estimate what a cold start costs with "
        "each codec, and recommend xz or lzo.\n\n"
        "Nothing is changed unless --fix is given and the verdict is 'change'."
    )

    arguments: ClassVar[Arguments] = {
        **PATH,
        **_ANALYSIS_ARGUMENTS,
        **output_arguments(),
        **REPORT,
        **EDITS,
    }

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the advice, and follow it if that is asked for."""
        check_record_options(parsed_args)
        exclude(
            {"--consumer": parsed_args.consumer, "--record": parsed_args.record},
            "Record the launch of each consumer by itself ('record --installed'), and "
            "name the recordings with --launch-profile.",
        )
        check_page_outputs(parsed_args)
        with open_subject(parsed_args, records=True) as subject:
            request = replace(
                subject.request(), exact=parsed_args.exact, prices_stacks=True
            )
            analysis = analyse(subject.payload, request, progress=emit.progress)
            options = tuple(given_options(_ANALYSIS_ARGUMENTS, parsed_args))
            analysis = replace(analysis, options=options)
            linted = None
            if parsed_args.format != "text" or parsed_args.report is not None:
                linted = _linted(subject, analysis)
            _write(analysis, linted, parsed_args)
            if parsed_args.fix or parsed_args.diff:
                _follow(analysis, subject, parsed_args)
        return os.EX_DATAERR if analysis.missing_programs else None


def _linted(subject: Subject, analysis: Analysis) -> LintedPayload:
    """Lint what was analysed."""
    from ..lint.lint import LintRequest, lint_analysed  # noqa: PLC0415 # a text has none of it

    return lint_analysed(
        subject.payload,
        LintRequest(loaded=subject.loaded, surroundings=subject.surroundings),
        analysis,
        project=subject.project,
        progress=emit.progress,
    )


def _write(
    analysis: Analysis, linted: LintedPayload | None, parsed_args: argparse.Namespace
) -> None:
    """Write the advice as it is wanted; its details are made only if they are."""
    report: Path | None = parsed_args.report
    form = "" if parsed_args.diff else parsed_args.format
    page = partial(advise_page, analysis, apply=None if parsed_args.fix else "")
    style, command = text_style(parsed_args.output), again(analysis)
    details: tuple[Section, ...] = ()
    if form == "markdown" or report is not None or (form == "text" and style.verbose):
        from ..report.advise_details import detail_sections  # noqa: PLC0415 # with -v

        details = tuple(detail_sections(analysis, linted=linted, command=command))
    if form == "json":
        from ..report.advise_json import advise_json  # noqa: PLC0415 # a text has none

        document = advise_json(analysis, linted=linted, command=command)
        write_output(document, parsed_args.output)
    elif form == "text":
        shown = details if style.verbose else ()
        write_page(page(columns=style.wrap_columns, details=shown), parsed_args)
    if form == "markdown" or report is not None:
        from ..report.charts import chart_sections  # noqa: PLC0415 # a text has none

        charted = page(columns=COLUMNS, details=(*chart_sections(analysis), *details))
        if form == "markdown":
            write_page(charted, parsed_args)
        if report is not None:
            write_output(print_page(charted, report), report)


def _follow(
    analysis: Analysis, subject: Subject, parsed_args: argparse.Namespace
) -> None:
    """Set the compression that is advised, or show that."""
    from .edits import set_compression  # noqa: PLC0415 # most runs change nothing

    advice, snap = analysis.recommendation, subject.payload.snap
    if advice.verdict != "change":
        note(f"Nothing to set: the verdict is '{advice.verdict}'")
        return
    component = None
    if snap.type == COMPONENT_TYPE:
        component = split_component_name(snap.name)[1] or snap.name
    set_compression(
        subject.project_dir or Path(),
        advice.compression,
        component=component,
        diff=parsed_args.diff,
        output=parsed_args.output,
    )
