"""Findings as Markdown, for a merge request's comment or a job's summary.

CommonMark; names of files may hold anything, and only code spans and backslashes keep
it from being markup in every renderer. Tables hold figures and words of our own.

Against a baseline it is read in ten seconds: the verdict, the figures before and now,
the three findings that matter; the rest is folded. The first line is a hidden mark by
which a later run finds its own comment again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.lint.baseline import COUNTING
from snapcraft_compression_advisor.lint.rules.regressions import REGRESSIONS
from snapcraft_compression_advisor.lint.run import SEVERITIES
from snapcraft_compression_advisor.report.diff_markdown import (
    cause_lines,
    files_lines,
)
from snapcraft_compression_advisor.report.lint_formats.phrases import (
    figure_rows,
    fix_label,
    states_text,
    summary,
    verdict_text,
)
from snapcraft_compression_advisor.report.names import code_span, plain
from snapcraft_compression_advisor.report.phrases import LISTED_NAMES, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.lint.baseline import (
        JudgedFinding,
        JudgedPayload,
        JudgedReport,
    )
    from snapcraft_compression_advisor.lint.finding import Finding, LintedPayload
    from snapcraft_compression_advisor.report.lint_formats import Findings

COMMENT_MARK = "<!-- compression-advisor -->"
SHOWN_FINDINGS = 3
"""Findings of each payload that aren't folded."""


def render(findings: Findings) -> str:
    """Return the findings as Markdown; against a baseline, a comment."""
    if findings.judged is not None:
        return _comment(findings.judged)
    lines = [f"## compression-advisor: {summary(findings.report)}", ""]
    for payload in findings.report.payloads:
        lines += [*_payload_lines(payload), ""]
    return "\n".join(lines[:-1]) + "\n"


def _payload_lines(payload: LintedPayload) -> Iterator[str]:
    yield _heading(payload)
    yield ""
    if payload.error is not None:
        yield f"Not linted: {plain(payload.error)}"
    elif not payload.findings:
        yield "Nothing found."
    if payload.error is not None and payload.findings:
        yield ""
    for finding in payload.findings:
        yield from finding_lines(finding)


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
        made = ", `--fix` makes it" if finding.fix.automatic else ""
        description = plain(finding.fix.description)
        yield f"  - {fix_label(finding.fix)}{made}: {description}"


def _listed_files(finding: Finding) -> str:
    shown = ", ".join(map(code_span, finding.files[:LISTED_NAMES]))
    more = len(finding.files) - LISTED_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def _comment(judged: JudgedReport) -> str:
    verdict, why = verdict_text(judged)
    lines = [
        COMMENT_MARK,
        f"## compression-advisor: {verdict.lower()}",
        "",
        (
            f"**{verdict}**: {why}. Against {code_span(judged.where)}: "
            f"{states_text(judged)}."
        ),
    ]
    for payload in judged.payloads:
        about = _about(payload, named=len(judged.payloads) > 1)
        lines += ["", *about] if about else []
    return "\n".join(lines) + "\n"


def _about(payload: JudgedPayload, *, named: bool) -> list[str]:
    linted = payload.linted
    blocks = [[_heading(linted)]] if named else []
    if linted.error is not None:
        return _joined([*blocks, [f"Not linted: {plain(linted.error)}"]])
    if payload.before is None:
        blocks.append(["Not in the baseline, so all of its findings are new."])
    blocks.append([*_table(payload)])
    difference = linted.baseline.difference if linted.baseline else None
    counting = sorted(payload.of(*COUNTING), key=_weight)
    matter = counting[:SHOWN_FINDINGS]
    blocks.append([line for each in matter for line in _brief(each)])
    if difference is not None:
        blocks.append([*cause_lines(difference)])
    blocks.append([*_folded(payload, counting)])
    if difference is not None:
        blocks.append([*files_lines(difference)])
    return _joined(blocks)


def _joined(blocks: Sequence[Sequence[str]]) -> list[str]:
    """Return blocks of lines with an empty line between any two."""
    lines: list[str] = []
    for block in filter(None, blocks):
        lines += [*([""] if lines else []), *block]
    return lines


def _table(payload: JudgedPayload) -> Iterator[str]:
    rows = [*figure_rows(payload)]
    if rows:
        yield "| | before | now | change |"
        yield "|---|---|---|---|"
    for row in rows:
        yield f"| {' | '.join(map(plain, row))} |".replace("|  |", "| |")


def _weight(judged: JudgedFinding) -> tuple[int, bool, bool]:
    """Return a finding's place: of equals, first what this change made worse."""
    finding = judged.finding
    changed = finding.rule.startswith(REGRESSIONS)
    return SEVERITIES.index(finding.severity), finding.undecided, not changed


def _brief(judged: JudgedFinding) -> list[str]:
    """Return a finding's first line: what and where, without what it rests on."""
    line = finding_lines(judged.finding)[0]
    return [f"{line} (was {_was(judged)})" if judged.was else line]


def _was(judged: JudgedFinding) -> str:
    was = judged.was
    if was is None:
        return ""
    return "undecided" if was.undecided else was.severity


def _folded(payload: JudgedPayload, counting: Sequence[JudgedFinding]) -> Iterator[str]:
    others, known = len(counting) - SHOWN_FINDINGS, len(payload.not_counting)
    if not (counting or known or payload.gone):
        return
    parts = [counted(others, "more finding")] if others > 0 else []
    parts += ["the evidence"] if counting else []
    parts += [f"{known:,} known before"] if known else []
    parts += [f"{len(payload.gone):,} gone"] if payload.gone else []
    yield f"<details><summary>{', '.join(parts).capitalize()}</summary>"
    yield ""
    for each in counting:
        yield from finding_lines(each.finding)
    for each in payload.not_counting:
        first = finding_lines(each.finding)[0]
        yield f"{first} ({_state(each)})"
    for gone in payload.gone:
        yield f"- gone: {gone.rule} {plain(gone.name)}: {plain(gone.message)}"
    yield ""
    yield "</details>"


def _state(judged: JudgedFinding) -> str:
    if judged.state == "moved" and judged.was is not None:
        return f"moved from {code_span(judged.was.path)}"
    return "known before"
