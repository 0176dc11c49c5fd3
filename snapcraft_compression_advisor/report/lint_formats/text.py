"""Findings as text: a line each, or with -v all that they rest on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...core.terminal import printable
from ...core.units import counted
from ...lint.run import SEVERITIES
from ..lines import cut, wrapped
from ..text_printer import print_text
from .markdown import findings_page
from .phrases import (
    all_findings,
    counts_text,
    place,
    states_text,
    summary,
    unchecked_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...lint.finding import Finding, LintedPayload, LintReport
    from ..lines import TextStyle
    from . import Findings

_INDENT = "  "
_ASIDE = re.compile(r" \([^()]*\)")
"""Such as an interval, or the number of files."""


def render(findings: Findings) -> str:
    """Return the findings as text for people.

    Against a baseline: those that count, then what changed.
    """
    if findings.style.verbose:
        return print_text(findings_page(findings.report, in_full=True), findings.style)
    return "\n".join(_short_lines(findings)) + "\n"


def _short_lines(findings: Findings) -> Iterator[str]:
    """Yield how many findings there are, each in a line, and what fixes them."""
    report, style = findings.counting, findings.style
    for payload in report.payloads:
        yield from _counts_lines(payload, style)
        for finding in sorted(payload.findings, key=_by_gain):
            yield _short_finding(finding, style)
    if len(report.payloads) != 1:
        yield style.bold(f"{summary(report)}.")
    yield from _fix_lines(report)
    if report.against is not None:
        yield f"Against {printable(report.against)}: {states_text(findings.report)}."


def _counts_lines(payload: LintedPayload, style: TextStyle) -> Iterator[str]:
    name = printable(payload.snap_name or payload.path)
    if payload.error is not None:
        text = f"{name}: not linted: {printable(payload.error)}"
        for line in wrapped(text, style.columns):
            yield style.bold(line, "error")
    else:
        count = len({each.rule for each in payload.unchecked})
        ok = f"ok, {counted(payload.checked, 'rule')} checked"
        text = counts_text(payload.findings) or ok
        unable = f", {counted(count, 'rule')} could not look" if count else ""
        yield style.bold(f"{name}: {text}{unable}")
        for rules, why in unchecked_lines(payload):
            yield cut(f"{_INDENT}not checked: {rules}: {why}", style.columns)


def _by_gain(finding: Finding) -> tuple[int, bool, bool, float]:
    """Return the order of findings: by severity, then by what fixing them saves.

    Users start a snap more often than they download it, so starts come first.
    """
    gain, severity = finding.gain, SEVERITIES.index(finding.severity)
    rare = gain is None or gain.of != "cold launch"
    return severity, finding.undecided, rare, -gain.seconds.mid if gain else 0.0


def _short_finding(finding: Finding, style: TextStyle) -> str:
    """Return a finding in a line; a terminal has room for neither place nor aside."""
    label = "undecided" if finding.undecided else finding.severity
    fix = finding.fix
    mark = "" if fix is None else " [--fix]" if fix.automatic else " [by hand]"
    text = _sentence(finding)
    if style.columns is not None:
        text = _ASIDE.sub("", printable(finding.message))
        text = text.replace("an estimated ", "about ")
    line = cut(f"{_INDENT}{label} {finding.rule} {text}", style.columns, end=mark)
    return line.replace(label, style.bold(label, finding.severity), 1)


def _sentence(finding: Finding) -> str:
    """Return a finding's message, with the place if it doesn't name that."""
    message, where = printable(finding.message), finding.location
    if where.kind != "image" and printable(where.path) not in message:
        return f"{place(where)}: {message}"
    return message


def _fix_lines(report: LintReport) -> Iterator[str]:
    """Yield a line for each kind of fix, and what shows more."""
    fixes = [each.fix for each in all_findings(report) if each.fix is not None]
    safe = sum(fix.automatic for fix in fixes)
    if safe:
        yield f"[--fix] {counted(safe, 'finding')}: run 'lint --fix'"
    others = len(fixes) - safe
    if others:
        yield f"[by hand] {counted(others, 'finding')}: -v says how"
    elif any(each for each in all_findings(report)):
        yield "-v shows what each finding rests on"
