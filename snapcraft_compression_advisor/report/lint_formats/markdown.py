"""Findings as Markdown, for a merge request's comment or a job's summary.

It is read in ten seconds: the verdict, the figures before and now, the three findings
that matter; the rest is folded. The first line of a comment is a hidden mark by which a
later run finds its own comment again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.units import counted
from ...lint.finding import REGRESSIONS
from ...lint.run import SEVERITIES
from ..diff import cause_sentences, counts_text, files_sections
from ..markdown_printer import print_markdown
from ..model import Entry, Page, Section
from .phrases import (
    changed_table,
    entry,
    states_text,
    summary,
    unchecked_lines,
    verdict_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...lint.finding import Finding, LintedPayload, LintReport
    from . import Findings

COMMENT_MARK = "<!-- compression-advisor -->"
SHOWN_FINDINGS = 3
"""Findings of each payload that aren't folded."""


def render(findings: Findings) -> str:
    """Return the findings as Markdown; against a baseline, a comment."""
    mark = f"{COMMENT_MARK}\n" if findings.report.against is not None else ""
    return mark + print_markdown(findings_page(findings.report))


def findings_page(report: LintReport, *, in_full: bool = False) -> Page:
    """Return findings: of each payload the three that matter most, then the rest.

    :param in_full: whether the text shows all of them with what they rest on.
    """
    headline = f"compression-advisor: {summary(report)}"
    sentences: tuple[str, ...] = ()
    if report.against is not None:
        verdict, why = verdict_text(report)
        headline = f"compression-advisor: {verdict.lower()}"
        states = f"Against {report.against}: {states_text(report)}."
        sentences = (f"{verdict}: {why}. {states}",)
    return Page(
        title="Lint findings",
        headline=headline,
        sections=(
            Section(short=True, sentences=sentences),
            *(
                section
                for each in report.payloads
                for section in _sections(each, in_full=in_full)
            ),
        ),
    )


def _sections(payload: LintedPayload, *, in_full: bool) -> Iterator[Section]:
    name = f"{payload.snap_name}: " if payload.snap_name.strip() else ""
    title = f"{name}{payload.path}"
    if payload.error is not None:
        yield Section(
            title=title, short=True, sentences=(f"Not linted: {payload.error}",)
        )
        return
    counting = sorted((each for each in payload.findings if each.counts), key=_weight)
    table = changed_table(payload)
    difference = payload.baseline.difference if payload.baseline else None
    folded = [*_folded(payload, counting)]
    shown = [*map(entry, counting[:SHOWN_FINDINGS]), *_more(counting)]
    yield Section(
        title=title,
        short=True,
        tables=(table,) if table else (),
        entries=(
            *(folded if in_full else shown),
            *(
                Entry(mark="not checked", title=rules, text=why)
                for rules, why in unchecked_lines(payload)
            ),
        ),
        sentences=(
            *([] if counting else [_nothing(payload)]),
            *(cause_sentences(difference) if difference else ()),
        ),
    )
    if folded and not in_full:
        yield Section(title=f"What the findings of {title} rest on", entries=(*folded,))
    if difference is not None:
        yield Section(sentences=(counts_text(difference.files),))
        yield from files_sections(difference.files)


def _nothing(payload: LintedPayload) -> str:
    if payload.before is None and payload.baseline is not None and payload.findings:
        return "Not in the baseline, so all of its findings are new."
    found = "Nothing new found" if payload.findings else "Nothing found"
    return f"{found}{' by the other rules' * bool(payload.unchecked)}."


def _more(counting: list[Finding]) -> Iterator[Entry]:
    left = len(counting) - SHOWN_FINDINGS
    if left > 0:
        yield Entry(title=f"{counted(left, 'more finding')} below")


def _weight(finding: Finding) -> tuple[int, bool, bool]:
    """Return a finding's place: of equals, first what this change made worse."""
    changed = finding.rule.startswith(REGRESSIONS)
    return SEVERITIES.index(finding.severity), finding.undecided, not changed


def _folded(payload: LintedPayload, counting: list[Finding]) -> Iterator[Entry]:
    """Yield all findings with what they rest on, then those that were known before."""
    yield from (entry(each, in_full=True) for each in counting)
    for each in payload.findings:
        if not each.counts:
            moved = each.state == "moved" and each.was is not None
            was = f"moved from {each.was.location.path}" if moved and each.was else ""
            yield entry(each, was or "known before")
    for gone in payload.gone:
        yield Entry(mark="gone", title=f"{gone.rule} {gone.name}", text=gone.message)
