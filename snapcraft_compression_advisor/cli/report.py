"""``compression-advisor report``: a page from saved JSON; also that of ``advise``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ..analysis import Analysis
from ..capture.snapd_timings import SnapdTimings
from ..core.documents import DocumentKind
from ..core.errors import UsageError
from ..core.terminal import emit
from ..core.units import MIB
from ..lint.lint import lint_analysed
from ..lint.project import ProjectFile
from ..lint.request import LintRequest
from ..payload.source import Payload
from ..payload.survey import take_survey
from ..preflight.packing import look_at_packing
from ..report.html_report import check_html_extra, render_html
from ..report.json_report import Report, build_report
from ..report.lint_formats.json import LintDocument
from ..report.markdown_report import render_markdown
from ..report.measure_json import MeasurementReport
from ..report.page.build import Sources, build_page
from ..report.page.model import Page
from .arguments import Arguments, Command, details
from .write import check_outputs, write_output

PAGES: Mapping[str, Callable[[Page], str]] = {
    ".html": render_html,
    ".htm": render_html,
    ".md": render_markdown,
}
"""By the ending of the file's name."""

_MARKDOWN = ".md"
"""Needs nothing that the extra installs."""

Saved = Report | MeasurementReport | LintDocument

SAVED: DocumentKind[Saved] = DocumentKind(
    model=Report,
    name="report",
    max_bytes=64 * MIB,  # a report of 100,000 findings has a tenth of it
    broken="{where!r} is not a report of 'advise', 'measure' or 'lint'",
    resolution="Write it with '--format json' and this version.",
)

_FORMS: tuple[tuple[str, type[Saved]], ...] = (
    ("recommendation", Report),
    ("method", MeasurementReport),
    ("summary", LintDocument),
)
"""A key that only reports of this kind have at their root, and the kind."""

_COMMANDS = {Report: "advise", MeasurementReport: "measure", LintDocument: "lint"}


class ReportCommand(Command):
    """Make a page from saved reports."""

    name = "report"
    overview = (
        "Write the page of 'advise --report' from reports that 'advise', 'measure' "
        "and 'lint' saved with '--format json'. Measured launches are drawn beside "
        "the estimated ones. Two reports of lint, the earlier one first, are shown as "
        "before and now."
    )

    arguments: ClassVar[Arguments] = {
        "FILE…": "JSON of 'advise', 'measure' or 'lint': one of each, two of lint",
        "-o, --output FILE": details(
            "write the page to this file: .html (self-contained) or .md (required)",
            required=True,
        ),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Write the page."""
        check_report_path(parsed_args.output)
        check_outputs(parsed_args.output)
        saved = [read_saved(path) for path in parsed_args.file]
        write_page(sources_of(saved), parsed_args.output)


def sources_of(saved: Sequence[Saved]) -> Sources:
    """Return what a page is made from.

    :raises UsageError: where there are more of a kind than a page shows.
    """
    report, measurement, before, now = None, None, None, None
    for each in saved:
        if isinstance(each, Report) and report is None:
            report = each
        elif isinstance(each, MeasurementReport) and measurement is None:
            measurement = each
        elif isinstance(each, LintDocument) and before is None:
            before, now = now, each
        else:
            message = f"Too many reports of {_COMMANDS[type(each)]!r} are named"
            raise UsageError(
                message, resolution="Specify one of each, or up to two of lint."
            )
    return Sources(report=report, measurement=measurement, lint=now, lint_before=before)


def read_saved(path: Path) -> Saved:
    """Read a report.

    :raises NoInputError: where it isn't there or can't be read.
    :raises BadDataError: where it isn't a report of this version.
    """
    content, where = SAVED.read(path), str(path)
    keys = SAVED.load_json(content, where=where)
    form = next((form for key, form in _FORMS if _has_key(keys, key)), None)
    if form is None:
        raise SAVED.error(where, "it has none of their keys")
    if _has_huge_number(keys):
        raise SAVED.error(where, "it has impossibly large numbers")
    return replace(SAVED, model=form).parse_json(content, where=where)


def _has_key(document: object, key: str) -> bool:
    return isinstance(document, dict) and key in document


def _has_huge_number(value: object) -> bool:
    """Tell whether JSON has numbers that don't fit into 64 bits, whole or not."""
    if isinstance(value, dict):
        return any(map(_has_huge_number, value.values()))
    if isinstance(value, list):
        return any(map(_has_huge_number, value))
    return isinstance(value, int | float) and not -(2**63) <= value < 2**63


def check_report_path(path: Path | None) -> None:
    """Refuse early what can't be written after minutes of work.

    :raises UsageError: where the name's ending is of no known form.
    :raises ToolError: where an HTML report needs what isn't installed.
    """
    if path is None:
        return
    ending = path.suffix.lower()
    if ending not in PAGES:
        message = f"{str(path)!r} is neither .html nor .md"
        raise UsageError(message, resolution="Specify a file such as report.html.")
    if ending != _MARKDOWN:
        check_html_extra()


def write_page(sources: Sources, path: Path) -> None:
    """Write the page.

    :param path: as :func:`check_report_path` accepts it.
    :raises AdvisorError: where that isn't possible.
    """
    write_output(PAGES[path.suffix.lower()](build_page(sources)), path)


def full_report(  # noqa: PLR0913 # one says what, the others what is known of it
    analysis: Analysis,
    payload: Payload,
    lint: LintRequest,
    *,
    project: ProjectFile | None,
    command: object,
    timings: SnapdTimings | None = None,
) -> Report:
    """Return the report with all that a page shows.

    :param lint: what to check the payload against, with the snaps that it runs with.
    :param project: of the payload, where it is at hand.
    :param command: arguments of the command line; anything else where they aren't
        known.
    :param timings: of snapd, where they were given.
    :raises AdvisorError: where the payload can't be looked at.
    """
    emit.progress("Checking caches and unneeded files")
    survey = take_survey(payload, suppliers=lint.suppliers(payload.snap))
    linted = lint_analysed(
        payload,
        lint,
        (analysis, survey, look_at_packing(payload)),
        path=str(payload.path),
        project=project,
        progress=emit.progress,
    )
    entries = payload.inventory.entries.values()
    words = map(str, command) if isinstance(command, list) else ()
    return build_report(
        analysis,
        linted=linted,
        executables=frozenset(entry.path for entry in entries if entry.executable),
        command=shlex.join(("compression-advisor", *words)) if command else "",
        timings=timings,
    )
