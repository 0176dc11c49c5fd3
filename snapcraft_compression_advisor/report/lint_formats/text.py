"""Findings as text: a line each, or with -v all that they rest on, by rule."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from ...core.printable import printable
from ...core.units import counted
from ...lint.finding import MOST_FILES
from ...lint.run import SEVERITIES
from ..lines import cut, wrapped
from ..model import Section
from ..text_printer import section_lines
from .phrases import (
    all_findings,
    changed_table,
    counts_text,
    figure,
    fix_label,
    place,
    states_text,
    summary,
    title,
    unchecked_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...lint.finding import Finding, LintedPayload, LintReport
    from ..lines import TextStyle
    from . import Findings

_RULE_INDENT = "  "
_FINDING_INDENT = "    "
_DETAIL_INDENT = "      "
_FILE_INDENT = "        "
_FILES_VERBOSE = 10
_ASIDE = re.compile(r" \([^()]*\)")
"""Such as an interval, or the number of files."""


def render(findings: Findings) -> str:
    """Return the findings as text for people.

    Against a baseline: those that count, then what changed.
    """
    report, style = findings.counting, findings.style
    if not style.verbose:
        return "\n".join(_short_lines(findings)) + "\n"
    lines: list[str] = []
    for payload in report.payloads:
        lines += [*_payload_lines(payload, style), ""]
    lines += _summary_lines(report, style)
    if report.against is not None:
        lines += ["", *_against_lines(findings.report, report.against, style)]
    return "\n".join(lines) + "\n"


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
            yield style.severe("error", line)
    else:
        count = len({each.rule for each in payload.unchecked})
        ok = f"ok, {counted(payload.checked, 'rule')} checked"
        text = counts_text(payload.findings) or ok
        unable = f", {counted(count, 'rule')} could not look" if count else ""
        yield style.bold(f"{name}: {text}{unable}")
        for line in _unchecked_lines(payload):
            yield cut(line, style.columns)


def _unchecked_lines(payload: LintedPayload) -> Iterator[str]:
    for rules, why in unchecked_lines(payload):
        yield f"{_RULE_INDENT}not checked: {rules}: {why}"


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
    said = _sentence(finding)
    if style.columns is not None:
        said = _ASIDE.sub("", printable(finding.message))
        said = said.replace("an estimated ", "about ")
    line = cut(f"{_RULE_INDENT}{label} {finding.rule} {said}", style.columns, end=mark)
    return line.replace(label, style.severe(finding.severity, label), 1)


def _sentence(finding: Finding) -> str:
    """Return what was found, with the place if the message doesn't name it."""
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
        by = " by the other rules" if payload.unchecked else ""
        yield f"{_RULE_INDENT}nothing found{by}"
    for line in _unchecked_lines(payload):
        yield from _indented(line.strip(), _RULE_INDENT, style)
    for (severity, rule, name, undecided), group in groupby(
        payload.findings, lambda f: (f.severity, f.rule, f.name, f.undecided)
    ):
        label = "undecided" if undecided else severity
        yield f"{_RULE_INDENT}{style.severe(severity, label)} {rule} {name}"
        for finding in group:
            yield from _finding_lines(finding, style)


def _finding_lines(finding: Finding, style: TextStyle) -> Iterator[str]:
    yield from _indented(_sentence(finding), _FINDING_INDENT, style)
    for item in finding.evidence:
        yield from _indented(figure(item), f"{_DETAIL_INDENT}- ", style)
    yield from _file_lines(finding.files)
    if finding.fix is not None:
        fix = f"{fix_label(finding.fix)}: {printable(finding.fix.description)}"
        yield from _indented(fix, f"{_DETAIL_INDENT}- ", style)


def _file_lines(files: Sequence[str]) -> Iterator[str]:
    """Yield the first files, a line each to copy."""
    if not files:
        return
    yield f"{_DETAIL_INDENT}- {'file' if len(files) == 1 else 'files'}:"
    for name in files[:_FILES_VERBOSE]:
        yield f"{_FILE_INDENT}{printable(name)}"
    if (left := len(files) - _FILES_VERBOSE) > 0:
        least = "at least " if len(files) == MOST_FILES else ""  # a rule stops there
        yield f"{_FILE_INDENT}and {least}{left:,} more"


def _summary_lines(report: LintReport, style: TextStyle) -> Iterator[str]:
    findings = [*all_findings(report)]
    safe = sum(each.fix is not None and each.fix.automatic for each in findings)
    text = summary(report)
    text = f"Found: {text}." if findings else f"{text[0].upper()}{text[1:]}."
    for line in wrapped(text, style.columns):
        yield style.bold(line)
    if safe:
        yield f"--fix applies {counted(safe, 'safe fix', plural='safe fixes')}."


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
    table = changed_table(payload)
    if table is not None:
        yield from section_lines(Section(tables=(table,)), style)
    for state in ("moved", "known"):
        for each in payload.findings:
            if each.state == state:
                where = printable(each.location.path)
                if each.was is not None and state == "moved":
                    where = f"{printable(each.was.location.path)} -> {where}"
                yield f"  {state}: {title(each)}: {where}"
    for gone in payload.gone:
        yield f"  gone: {gone.rule} {gone.name}: {printable(gone.location.path)}"
