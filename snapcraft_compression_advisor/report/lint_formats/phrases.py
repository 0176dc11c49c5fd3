"""Phrases that several formats of the findings share, against a baseline as well."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...diff.figures import image_change, launch_changes
from ...lint.run import SEVERITIES, at_least
from ..diff_report import Row, figure_rows
from ..names import printable
from ..phrases import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...lint.finding import (
        Evidence,
        Finding,
        Fix,
        LintedPayload,
        LintReport,
        Location,
    )
    from .json import EvidenceReport, FindingReport, FixReport


def place(location: Location) -> str:
    """Return where a finding is, printable: a path, and its line where one is known."""
    path = printable(location.path)
    return path if location.line is None else f"{path}:{location.line}"


def full_path(payload: LintedPayload, location: Location) -> str:
    """Return where a finding is as a printable path, the payload's way included.

    A file of a payload gets the payload's path before its own, whether that is a
    directory or an image.
    """
    path = printable(location.path)
    if location.kind == "payload":
        return f"{printable(payload.path).rstrip('/')}/{path}"
    return path


def title(finding: Finding) -> str:
    """Return a rule's id and name, and whether it is undecided."""
    undecided = " (undecided)" if finding.undecided else ""
    return f"{finding.rule} {finding.name}{undecided}"


def details(finding: Finding) -> list[str]:
    """Return evidence, files and fix in a line each, printable."""
    lines = [*map(figure, finding.evidence)]
    if finding.files:
        label = "file" if len(finding.files) == 1 else "files"
        lines.append(f"{label}: {listed([printable(name) for name in finding.files])}")
    if finding.fix is not None:
        lines.append(f"{fix_label(finding.fix)}: {printable(finding.fix.description)}")
    return lines


def figure(item: Evidence | EvidenceReport) -> str:
    """Return a figure that a finding rests on, printable."""
    return f"{printable(item.label)}: {printable(item.text)} ({item.origin})"


def fix_label(fix: Fix | FixReport) -> str:
    """Return what kind of fix this is."""
    return "fix (safe)" if fix.safe else "fix (review its result)"


def summary(report: LintReport) -> str:
    """Return how many findings of each severity there are, in one clause."""
    text = counts_text([*all_findings(report)]) or "nothing found"
    text += f" in {counted(len(report.payloads), 'payload')}"
    failed = sum(payload.error is not None for payload in report.payloads)
    if not failed:
        return text
    return f"{text}; {counted(failed, 'payload')} could not be linted"


def counts_text(findings: Sequence[Finding | FindingReport]) -> str:
    """Return how many of some findings are of each severity; nothing for none."""
    decided = Counter(f.severity for f in findings if not f.undecided)
    undecided = sum(finding.undecided for finding in findings)
    parts = [
        counted(decided["error"], "error") if decided["error"] else "",
        counted(decided["warning"], "warning") if decided["warning"] else "",
        f"{decided['info']:,} info" if decided["info"] else "",
        f"{undecided:,} undecided" if undecided else "",
    ]
    return ", ".join(filter(None, parts))


def all_findings(report: LintReport) -> Iterable[Finding]:
    """Yield the findings of all payloads in order."""
    for payload in report.payloads:
        yield from payload.findings


def changed_rows(payload: LintedPayload) -> Iterator[Row]:
    """Yield what is known of a payload before and now; each says how."""
    now, baseline = payload.figures, payload.baseline
    if now is None or baseline is None or baseline.figures is None:
        return
    yield from figure_rows(
        baseline.figures,
        now,
        image_change=image_change(baseline, now),
        launches=launch_changes(baseline, now),
    )


def states_text(report: LintReport) -> str:
    """Return how many findings are of which state.

    A state that no finding has isn't named, but that nothing is new is.
    """
    counts = Counter(each.state for each in all_findings(report))
    gone = sum(len(payload.gone) for payload in report.payloads)
    parts = [counted(counts["new"], "new finding") if counts["new"] else "nothing new"]
    parts += [
        f"{counts[state]:,} {state}"
        for state in ("worse", "moved", "known")
        if counts[state]
    ]
    parts += [f"{gone:,} gone"] if gone else []
    return ", ".join(parts)


def verdict_text(report: LintReport) -> tuple[str, str]:
    """Return a word that says whether the run fails, and why."""
    failed = sum(payload.error is not None for payload in report.payloads)
    if failed:
        return "Not linted", f"{counted(failed, 'payload')} could not be linted"
    count = sum(
        finding.counts and at_least(finding.severity, payload.fail_on)
        for payload in report.payloads
        for finding in payload.findings
    )
    limits = {payload.fail_on for payload in report.payloads}
    limit = " or ".join(each for each in SEVERITIES if each in limits)
    limit += "" if limit == "error" else " or more severe"
    if count:
        findings = counted(count, "new or worse finding")
        return "Fails", f"{findings} of severity {limit}"
    return "Passes", f"no new or worse finding of severity {limit}"
