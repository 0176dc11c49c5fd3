"""What several formats of the findings share: phrases, and names of findings."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ...core.terminal import printable
from ...core.units import counted, first_of, size
from ...diff.figures import image_change, launch_changes
from ...lint.finding import MOST_FILES
from ...lint.rule import delta_name
from ...lint.run import SEVERITIES, failing
from ..diff import Row, figure_table
from ..model import Entry, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...lint.finding import (
        Finding,
        LintedPayload,
        LintReport,
        Location,
    )
    from ..model import Table

SCHEME = "compressionAdvisor/v2"
"""Changes when the same finding would get another fingerprint."""
_NAMED_FILES = 10


def place(location: Location) -> str:
    """Return where a finding is, printable: a path, and its line if one is known."""
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
    lines = [
        f"{printable(each.label)}: {printable(each.text)} ({each.origin})"
        for each in finding.evidence
    ]
    if finding.files:
        label = "file" if len(finding.files) == 1 else "files"
        if len(finding.files) == MOST_FILES:  # where a rule stops
            label = f"the first {MOST_FILES} files"
        names = [printable(name) for name in finding.files]
        lines.append(f"{label}: {first_of(names, _NAMED_FILES)}")
    if finding.fix is not None:
        kind = "safe" if finding.fix.safe else "review its result"
        lines.append(f"fix ({kind}): {printable(finding.fix.description)}")
    return lines


def summary(report: LintReport) -> str:
    """Return the counts of findings by severity, and of rules that weren't checked."""
    failed = sum(payload.error is not None for payload in report.payloads)
    linted = len(report.payloads) - failed
    unchecked = {each.rule for payload in report.payloads for each in payload.unchecked}
    text = counts_text(all_findings(report)) or "nothing found"
    clauses = []
    if linted or not failed:
        clauses.append(f"{text} in {counted(linted, 'payload')}")
    if unchecked:
        clauses.append(f"{counted(len(unchecked), 'rule')} could not look")
    if failed:
        clauses.append(f"{counted(failed, 'payload')} could not be linted")
    return "; ".join(clauses)


def unchecked_lines(payload: LintedPayload) -> Iterator[tuple[str, str]]:
    """Yield the rules that couldn't look at a payload, and why, for each reason."""
    by_reason: dict[str, list[str]] = {}
    for each in payload.unchecked:
        by_reason.setdefault(each.why, []).append(each.rule)
    for why, rules in by_reason.items():
        yield ", ".join(rules), printable(why)


def counts_text(findings: Iterable[Finding]) -> str:
    """Return the counts of findings by severity as a text; empty if there are none."""
    counts = severities(findings)
    nouns = {key: counted(counts[key], key) for key in ("error", "warning")}
    nouns |= {key: f"{counts[key]:,} {key}" for key in ("info", "undecided")}
    return ", ".join(text for key, text in nouns.items() if counts[key])


def severities(findings: Iterable[Finding]) -> Counter[str]:
    """Return the counts of findings by severity; undecided ones count as such."""
    return Counter("undecided" if f.undecided else f.severity for f in findings)


def all_findings(report: LintReport) -> Iterable[Finding]:
    """Yield the findings of all payloads in order."""
    for payload in report.payloads:
        yield from payload.findings


def changed_table(payload: LintedPayload) -> Table | None:
    """Return the figures of a payload before and now; None if there are none."""
    now, baseline = payload.figures, payload.baseline
    if now is None or baseline is None or baseline.figures is None:
        return None
    downloads: list[Row] = []
    if baseline.delta is not None:
        known = f"estimated, {delta_name(baseline.delta)}"
        downloads.append(
            ("download of a refresh", "", size(baseline.delta.size_bytes), known)
        )
    return figure_table(
        baseline.figures,
        now,
        image_change=image_change(baseline, now),
        launches=launch_changes(baseline, now),
        others=downloads,
    )


def states_text(report: LintReport) -> str:
    """Return the counts of findings by state.

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
    """Return a word that says whether the run failed, and which findings did it."""
    failed = sum(payload.error is not None for payload in report.payloads)
    if failed:
        return "Not linted", f"{counted(failed, 'payload')} could not be linted"
    limits = {payload.fail_on for payload in report.payloads}
    limit = " or ".join(each for each in SEVERITIES if each in limits)
    if counts := counts_text(failing(report.payloads)):
        new = "" if report.against is None else ", new or worse"
        return "Failed", f"{counts}{new} (fail-on: {limit})"
    return "Passed", f"nothing new or worse (fail-on: {limit})"


def fingerprints(report: LintReport) -> tuple[tuple[str, ...], ...]:
    """Return one fingerprint (64 hexadecimal digits) for each payload's findings.

    A fingerprint is made of the snap, the rule, the place (the path within the
    payload) and the subject: data alone, so that texts can change. Figures, lines and
    the way to the checkout aren't part of it, as they change while the finding stays.
    Findings that are alike in all of these are numbered in their order.
    """
    seen: Counter[str] = Counter()
    return tuple(
        tuple(_numbered(_identity(payload, f), seen) for f in payload.findings)
        for payload in report.payloads
    )


def payload_fingerprint(payload: LintedPayload, rule: str | None = None) -> str:
    """Return the fingerprint of a payload that couldn't be linted, or by one rule."""
    return _digest(["not linted", _snap(payload), *([rule] if rule else [])])


def _identity(payload: LintedPayload, finding: Finding) -> list[str]:
    subject = [text for pair in sorted(finding.subject.items()) for text in pair]
    return [_snap(payload), *finding.place, *subject]


def _snap(payload: LintedPayload) -> str:
    return payload.snap_name or PurePosixPath(payload.path).name


def _numbered(identity: list[str], seen: Counter[str]) -> str:
    plain = _digest(identity)
    seen[plain] += 1
    return plain if seen[plain] == 1 else _digest([*identity, str(seen[plain])])


def _digest(parts: list[str]) -> str:
    # JSON in ASCII: surrogates of names that aren't UTF-8 are escaped, not refused.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


def entry(finding: Finding, state: str = "", *, in_full: bool = False) -> Entry:
    """Return a finding as a point of a list; in full, with what it rests on.

    :param state: against a baseline; by default, whether it was less severe.
    """
    where, was = finding.location, finding.was
    if not state and was is not None:
        state = f"was {'undecided' if was.undecided else was.severity}"
    at = "" if where.kind == "image" else f"{place(where)}: "
    known = f" ({state})" if state else ""
    return Entry(
        mark="undecided" if finding.undecided else finding.severity,
        tone="info" if finding.undecided else finding.severity,
        title=f"{finding.rule} {finding.name}",
        text=f"{at}{finding.message}{known}",
        details=tuple(details(finding)) if in_full else (),
    )


def findings_sections(linted: LintedPayload) -> Iterator[Section]:
    """Yield lint's findings by title, and the rules that couldn't look; then all."""
    found = linted.findings
    unable = (
        Entry(mark="not checked", title=f"{each.rule} {each.name}", text=each.why)
        for each in linted.unchecked
    )
    yield Section(
        title="Lint findings",
        opened=True,
        sentences=() if found else ("Nothing found.",),
        entries=(*(replace(entry(each), text="") for each in found), *unable),
    )
    if found:
        yield Section(
            title="What the findings rest on",
            origin="Each figure says how it is known.",
            entries=tuple(entry(each, in_full=True) for each in found),
        )
