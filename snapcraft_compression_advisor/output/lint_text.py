"""Findings as text in 80 columns, grouped by payload and rule."""

from __future__ import annotations

import textwrap
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.output.colour import Paint
from snapcraft_compression_advisor.output.names import printable
from snapcraft_compression_advisor.output.phrases import (
    LISTED_NAMES,
    all_findings,
    details,
    is_automatic,
    place,
    summary,
)
from snapcraft_compression_advisor.output.text import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.rules.finding import (
        Finding,
        LintedPayload,
        LintReport,
        Severity,
    )

_RULE_INDENT = "  "
_FINDING_INDENT = "    "
_DETAIL_INDENT = "      "
_FILE_INDENT = "        "


def render_lint_text(
    report: LintReport, *, coloured: bool = False, statistics: bool = False
) -> str:
    """Return the findings as text for people.

    :param coloured: whether to colour it; :func:`colour.wants_colour` tells.
    :param statistics: whether to show only how often each rule was broken.
    """
    paint = Paint(coloured=coloured)
    lines = [*_statistics_lines(report, paint)] if statistics else []
    if not statistics:
        for payload in report.payloads:
            lines += [*_payload_lines(payload, paint), ""]
    lines += [*_summary_lines(report, paint)]
    return "\n".join(map(without_commands, lines)) + "\n"


def _payload_lines(payload: LintedPayload, paint: Paint) -> Iterator[str]:
    path = printable(payload.path)
    name = printable(payload.snap_name)
    heading = f"{name}: {path}" if name else path
    for line in textwrap.wrap(heading, COLUMNS, break_on_hyphens=False):
        yield paint.bold(line)
    if payload.error is not None:
        label, *others = _wrapped(f"not linted: {printable(payload.error)}")
        yield paint.severity("error", label)
        yield from others
    elif not payload.findings:
        yield f"{_RULE_INDENT}nothing found"
    for (severity, rule, name, undecided), group in groupby(
        payload.findings, lambda f: (f.severity, f.rule, f.name, f.undecided)
    ):
        label = "undecided" if undecided else severity
        yield f"{_RULE_INDENT}{paint.severity(severity, label)} {rule} {name}"
        for finding in group:
            yield from _finding_lines(finding)


def _finding_lines(finding: Finding) -> Iterator[str]:
    message = printable(finding.message)
    if finding.location.kind != "image":
        message = f"{place(finding.location)}: {message}"
    yield from _wrapped(message, first=_FINDING_INDENT)
    for detail in details(finding, files=False):
        yield from _wrapped(detail, first=f"{_DETAIL_INDENT}- ")
    yield from _file_lines(finding.files)


def _file_lines(files: Sequence[str]) -> Iterator[str]:
    """Yield a line for each of the first files: paths are for copying."""
    if not files:
        return
    yield f"{_DETAIL_INDENT}- {'file' if len(files) == 1 else 'files'}:"
    for name in files[:LISTED_NAMES]:
        yield from _wrapped(printable(name), first=_FILE_INDENT)
    if len(files) > LISTED_NAMES:
        yield f"{_FILE_INDENT}and {len(files) - LISTED_NAMES:,} more"


def _summary_lines(report: LintReport, paint: Paint) -> Iterator[str]:
    safe = sum(
        finding.fix is not None and is_automatic(finding.fix)
        for finding in all_findings(report)
    )
    for line in textwrap.wrap(f"Found: {summary(report)}.", COLUMNS):
        yield paint.bold(line)
    if safe:
        yield f"--fix mends {safe:,} of them."


def _statistics_lines(report: LintReport, paint: Paint) -> Iterator[str]:
    """Yield how often each rule was broken, the most often first."""
    counts: Counter[tuple[str, str, Severity, bool]] = Counter(
        (finding.rule, finding.name, finding.severity, finding.undecided)
        for finding in all_findings(report)
    )
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        rule, name, severity, undecided = key
        label = "undecided" if undecided else severity
        shown = paint.severity(severity, f"{label:9}")
        yield f"{count:6,} {shown} {rule} {name}"
    if counts:
        yield ""


def _wrapped(text: str, *, first: str = _RULE_INDENT) -> list[str]:
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent=first,
        subsequent_indent=" " * (len(first) + (0 if first.endswith("- ") else 2)),
        break_on_hyphens=False,
    )


def without_commands(line: str) -> str:
    r"""Return a line that no CI runner takes for one of its commands.

    GitHub's runner obeys lines that begin with ``::`` after white space, and ``##[``
    anywhere (ActionCommand.cs of actions/runner); GitLab's takes ``section_start:``
    only after control characters, which :func:`printable` has escaped.
    """
    bare = line.lstrip()
    if bare.startswith("::"):
        line = line.replace("::", "\\x3a:", 1)
    return line.replace("##[", "#\\x23[")
