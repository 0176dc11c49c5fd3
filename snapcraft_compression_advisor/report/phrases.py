"""Phrases that several forms of the findings share."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from snapcraft_compression_advisor.lint.finding import (
        Evidence,
        Finding,
        Fix,
        LintedPayload,
        LintReport,
        Location,
    )

LISTED_NAMES = 6
"""Names that a list for people shows; it counts the others."""


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(2, "error")
    '2 errors'
    """
    nouns = plural or f"{noun}s"
    return f"{count:,} {noun if count == 1 else nouns}"


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(names) - LISTED_NAMES
    shown = [*islice(names, LISTED_NAMES)]
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


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


def details(finding: Finding, *, files: bool = True) -> list[str]:
    """Return evidence, files and fix in a line each, printable.

    :param files: whether the files are wanted.
    """
    lines = [*map(figure, finding.evidence)]
    if finding.files and files:
        label = "file" if len(finding.files) == 1 else "files"
        lines.append(f"{label}: {listed([printable(name) for name in finding.files])}")
    if finding.fix is not None:
        lines.append(f"{fix_label(finding.fix)}: {printable(finding.fix.description)}")
    return lines


def figure(item: Evidence) -> str:
    """Return a figure that a finding rests on, printable."""
    return f"{printable(item.label)}: {printable(item.text)} ({item.origin})"


def fix_label(fix: Fix) -> str:
    """Return what kind of fix this is."""
    return "fix (safe)" if fix.safe else "fix (look at its result)"


def is_automatic(fix: Fix) -> bool:
    """Tell whether ``--fix`` makes it."""
    return fix.safe and fix.edit is not None


def summary(report: LintReport) -> str:
    """Return how many findings of each severity there are, in one clause."""
    findings = [*all_findings(report)]
    decided = Counter(f.severity for f in findings if not f.undecided)
    parts = [
        counted(decided["error"], "error") if decided["error"] else "",
        counted(decided["warning"], "warning") if decided["warning"] else "",
        f"{decided['info']:,} info" if decided["info"] else "",
        f"{undecided:,} undecided" if (undecided := _undecided(findings)) else "",
    ]
    text = ", ".join(filter(None, parts)) or "nothing found"
    text += f" in {counted(len(report.payloads), 'payload')}"
    failed = sum(payload.error is not None for payload in report.payloads)
    return f"{text}, of which {failed:,} could not be linted" if failed else text


def all_findings(report: LintReport) -> Iterable[Finding]:
    """Yield the findings of all payloads in order."""
    for payload in report.payloads:
        yield from payload.findings


def _undecided(findings: Iterable[Finding]) -> int:
    return sum(finding.undecided for finding in findings)
