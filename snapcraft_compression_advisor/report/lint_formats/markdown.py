"""Findings as Markdown, for a merge request's comment or a job's summary.

CommonMark; names of files may hold anything, and only code spans and backslashes keep
it from being markup in every renderer. Tables hold figures and words of our own.

Against a baseline it is read in ten seconds: the verdict, the figures before and now,
the three findings that matter; the rest is folded. The first line is a hidden mark by
which a later run finds its own comment again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lint.finding import REGRESSIONS
from ...lint.run import SEVERITIES
from ..diff_report import cause_lines, files_lines, table_lines
from ..markdown_printer import code_span, comment_text, plain
from ..phrases import LISTED_NAMES, counted
from .phrases import (
    changed_rows,
    fix_label,
    states_text,
    summary,
    unchecked_lines,
    verdict_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...lint.finding import Finding, LintedPayload, LintReport
    from . import Findings

COMMENT_MARK = "<!-- compression-advisor -->"
_OTHERS = "`compression-advisor lint -v` shows all."
SHOWN_FINDINGS = 3
"""Findings of each payload that aren't folded."""


def render(findings: Findings) -> str:
    """Return the findings as Markdown; against a baseline, a comment."""
    if findings.report.against is not None:
        return _comment(findings.report, findings.report.against)
    lines = [f"## compression-advisor: {summary(findings.report)}", ""]
    for payload in findings.report.payloads:
        lines += [*_payload_lines(payload), ""]
    return comment_text(lines[:-1], others=_OTHERS)


def _payload_lines(payload: LintedPayload) -> Iterator[str]:
    yield _heading(payload)
    yield ""
    if payload.error is not None:
        yield f"Not linted: {plain(payload.error)}"
    elif not payload.findings:
        yield (
            "Nothing found by the other rules."
            if payload.unchecked
            else ("Nothing found.")
        )
    if payload.error is not None and payload.findings:
        yield ""
    for finding in payload.findings:
        yield from finding_lines(finding)
    yield from _unchecked(payload)


def _unchecked(payload: LintedPayload) -> Iterator[str]:
    if payload.unchecked and not payload.findings:
        yield ""
    for rules, why in unchecked_lines(payload):
        yield f"- **not checked** {rules}: {plain(why)}"


def _heading(payload: LintedPayload) -> str:
    name, path = plain(payload.snap_name), code_span(payload.path)
    return f"### {name}: {path}" if name.strip() else f"### {path}"


def finding_lines(finding: Finding) -> list[str]:
    """Return a finding as a list's item: a line that stands alone, then details."""
    return [*_finding_lines(finding)]


def _finding_lines(finding: Finding) -> Iterator[str]:
    location = finding.location
    label = "undecided" if finding.undecided else finding.severity
    where = ""
    if location.kind != "image":
        line = "" if location.line is None else f" line {location.line}"
        where = f" {code_span(location.path)}{line}:"
    rule = f"{finding.rule} {finding.name}"
    yield f"- **{label}** {rule}:{where} {plain(finding.message)}"
    for item in finding.evidence:
        yield f"  - {plain(item.label)}: {plain(item.text)} ({item.origin})"
    if finding.files:
        yield f"  - files: {_listed_files(finding)}"
    if finding.fix is not None:
        made = ", applied by `--fix`" if finding.fix.automatic else ""
        description = plain(finding.fix.description)
        yield f"  - {fix_label(finding.fix)}{made}: {description}"


def _listed_files(finding: Finding) -> str:
    shown = ", ".join(map(code_span, finding.files[:LISTED_NAMES]))
    more = len(finding.files) - LISTED_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _comment(report: LintReport, against: str) -> str:
    verdict, why = verdict_text(report)
    lines = [
        COMMENT_MARK,
        f"## compression-advisor: {verdict.lower()}",
        "",
        (f"**{verdict}**: {why}. Against {code_span(against)}: {states_text(report)}."),
    ]
    for payload in report.payloads:
        about = _about(payload, named=len(report.payloads) > 1)
        lines += ["", *about] if about else []
    return comment_text(lines, others=_OTHERS)


def _about(payload: LintedPayload, *, named: bool) -> list[str]:
    blocks = [[_heading(payload)]] if named else []
    if payload.error is not None:
        return _joined([*blocks, [f"Not linted: {plain(payload.error)}"]])
    if payload.before is None:
        blocks.append(["Not in the baseline, so all of its findings are new."])
    blocks.append([*table_lines(changed_rows(payload))])
    difference = payload.baseline.difference if payload.baseline else None
    counting = sorted((each for each in payload.findings if each.counts), key=_weight)
    matter = counting[:SHOWN_FINDINGS]
    blocks.append([line for each in matter for line in _brief(each)])
    if difference is not None:
        blocks.append([*cause_lines(difference)])
    blocks.append([*_folded(payload, counting)])
    if difference is not None:
        blocks.append([*files_lines(difference.files)])
    blocks.append([line for line in _unchecked(payload) if line])
    return _joined(blocks)


def _joined(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Return blocks of lines with an empty line between any two."""
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += [*([""] if lines else []), *block]
    return lines


def _weight(finding: Finding) -> tuple[int, bool, bool]:
    """Return a finding's place: of equals, first what this change made worse."""
    changed = finding.rule.startswith(REGRESSIONS)
    return SEVERITIES.index(finding.severity), finding.undecided, not changed


def _brief(finding: Finding) -> list[str]:
    """Return a finding's first line: what and where, without what it rests on."""
    line, was = finding_lines(finding)[0], finding.was
    if was is None:
        return [line]
    return [f"{line} (was {'undecided' if was.undecided else was.severity})"]


def _folded(payload: LintedPayload, counting: Sequence[Finding]) -> Iterator[str]:
    others = len(counting) - SHOWN_FINDINGS
    known_before = [each for each in payload.findings if not each.counts]
    known = len(known_before)
    if not (counting or known or payload.gone):
        return
    parts = [counted(others, "more finding")] if others > 0 else []
    parts += ["the evidence"] if counting else []
    parts += [f"{known:,} known before"] if known else []
    parts += [f"{len(payload.gone):,} gone"] if payload.gone else []
    yield f"<details><summary>{', '.join(parts).capitalize()}</summary>"
    yield ""
    for each in counting:
        yield from finding_lines(each)
    for each in known_before:
        first = finding_lines(each)[0]
        yield f"{first} ({_state(each)})"
    for gone in payload.gone:
        yield f"- gone: {gone.rule} {plain(gone.name)}: {plain(gone.message)}"
    yield ""
    yield "</details>"


def _state(finding: Finding) -> str:
    if finding.state == "moved" and finding.was is not None:
        return f"moved from {code_span(finding.was.location.path)}"
    return "known before"
