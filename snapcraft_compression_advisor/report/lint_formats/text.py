"""Findings as text, grouped by payload and rule: of each what one needs to act."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from ...core.printable import printable
from ...lint.finding import MOST_FILES
from ..diff_report import row_lines
from ..lines import wrapped
from ..phrases import counted
from .phrases import (
    all_findings,
    changed_rows,
    figure,
    fix_label,
    place,
    states_text,
    summary,
    title,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...lint.finding import Finding, LintedPayload, LintReport, Severity
    from ..lines import TextStyle
    from . import Findings

_RULE_INDENT = "  "
_FINDING_INDENT = "    "
_DETAIL_INDENT = "      "
_FILE_INDENT = "        "
_FIGURES = 3
_FILES = 3
_FILES_VERBOSE = 10


def render(findings: Findings) -> str:
    """Return the findings as text for people.

    Against a baseline: those that count, then what changed.
    """
    report, style = findings.counting, findings.style
    lines = [*_statistics_lines(report, style)] if findings.statistics else []
    if not findings.statistics:
        for payload in report.payloads:
            lines += [*_payload_lines(payload, style), ""]
    lines += _summary_lines(report, style)
    if report.against is not None:
        lines += ["", *_against_lines(findings.report, report.against, style)]
    return "\n".join(lines) + "\n"


def _payload_lines(payload: LintedPayload, style: TextStyle) -> Iterator[str]:
    path = printable(payload.path)
    name = printable(payload.snap_name)
    for line in wrapped(f"{name}: {path}" if name else path, style.columns):
        yield style.bold(line)
    if payload.error is not None:
        text = f"not linted: {printable(payload.error)}"
        label, *others = _indented(text, _RULE_INDENT, style)
        yield style.severe("error", label)
        yield from others
    elif not payload.findings:
        yield f"{_RULE_INDENT}nothing found"
    for (severity, rule, name, undecided), group in groupby(
        payload.findings, lambda f: (f.severity, f.rule, f.name, f.undecided)
    ):
        label = "undecided" if undecided else severity
        yield f"{_RULE_INDENT}{style.severe(severity, label)} {rule} {name}"
        for finding in group:
            yield from _finding_lines(finding, style)


def _finding_lines(finding: Finding, style: TextStyle) -> Iterator[str]:
    message = printable(finding.message)
    where = finding.location
    if where.kind != "image" and printable(where.path) not in message:
        message = f"{place(finding.location)}: {message}"
    yield from _indented(message, _FINDING_INDENT, style)
    figures = [*finding.evidence]
    shown = figures if style.verbose else figures[:_FIGURES]
    for item in shown:
        yield from _indented(figure(item), f"{_DETAIL_INDENT}- ", style)
    if len(figures) > len(shown):
        more = counted(len(figures) - len(shown), "more figure")
        yield f"{_DETAIL_INDENT}- {more} with -v"
    yield from _file_lines(finding.files, style)
    if finding.fix is not None:
        fix = f"{fix_label(finding.fix)}: {printable(finding.fix.description)}"
        yield from _indented(fix, f"{_DETAIL_INDENT}- ", style)


def _file_lines(files: Sequence[str], style: TextStyle) -> Iterator[str]:
    """Yield the first files: in a line, or with -v a line for each to copy."""
    if not files:
        return
    label = "file" if len(files) == 1 else "files"
    if not style.verbose:
        names = ", ".join(map(printable, files[:_FILES]))
        text = f"{label}: {names}{_more(files, _FILES)}"
        yield from _indented(text, f"{_DETAIL_INDENT}- ", style)
        return
    yield f"{_DETAIL_INDENT}- {label}:"
    for name in files[:_FILES_VERBOSE]:
        yield f"{_FILE_INDENT}{printable(name)}"
    if more := _more(files, _FILES_VERBOSE):
        yield f"{_FILE_INDENT}{more.lstrip()}"


def _more(files: Sequence[str], shown: int) -> str:
    """Return how many files aren't shown; a rule stops at some number."""
    left = len(files) - shown
    least = "at least " if len(files) == MOST_FILES else ""
    return f" and {least}{left:,} more" if left > 0 else ""


def _summary_lines(report: LintReport, style: TextStyle) -> Iterator[str]:
    findings = [*all_findings(report)]
    safe = sum(each.fix is not None and each.fix.automatic for each in findings)
    text = summary(report)
    text = f"Found: {text}." if findings else f"{text[0].upper()}{text[1:]}."
    for line in wrapped(text, style.columns):
        yield style.bold(line)
    if safe:
        yield f"--fix applies {counted(safe, 'safe fix', plural='safe fixes')}."


def _statistics_lines(report: LintReport, style: TextStyle) -> Iterator[str]:
    """Yield how often each rule was broken, the most often first."""
    counts: Counter[tuple[str, str, Severity, bool]] = Counter(
        (finding.rule, finding.name, finding.severity, finding.undecided)
        for finding in all_findings(report)
    )
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        rule, name, severity, undecided = key
        label = "undecided" if undecided else severity
        shown = style.severe(severity, f"{label:9}")
        yield f"{count:6,} {shown} {rule} {name}"
    if counts:
        yield ""


def _indented(text: str, first: str, style: TextStyle) -> list[str]:
    rest = " " * (len(first) + (0 if first.endswith("- ") else 2))
    return wrapped(text, style.columns, first=first, rest=rest)


def _against_lines(report: LintReport, against: str, style: TextStyle) -> Iterator[str]:
    yield f"Against {printable(against)}: {states_text(report)}."
    for payload in report.payloads:
        yield from _changed_lines(payload, style, named=len(report.payloads) > 1)


def _changed_lines(
    payload: LintedPayload, style: TextStyle, *, named: bool
) -> Iterator[str]:
    if named:
        yield f"{printable(payload.snap_name or payload.path)}:"
    if payload.before is None and payload.error is None:
        yield "  not in the baseline: all of its findings are new"
    yield from row_lines(changed_rows(payload), style.columns, indent="  ")
    for state in ("moved", "known"):
        for each in payload.findings:
            if each.state == state:
                where = printable(each.location.path)
                if each.was is not None and state == "moved":
                    where = f"{printable(each.was.location.path)} -> {where}"
                yield f"  {state}: {title(each)}: {where}"
    for gone in payload.gone:
        yield f"  gone: {gone.rule} {gone.name}: {printable(gone.location.path)}"
