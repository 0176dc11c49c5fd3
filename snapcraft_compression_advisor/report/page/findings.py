"""What ``lint`` found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.page.model import Entry, Section
from snapcraft_compression_advisor.report.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.report.lint_formats.json import FindingReport

_LISTED_FILES = 4


def findings_section(findings: Sequence[FindingReport] | None) -> Section | None:
    """Return the findings; ``None`` where nobody looked."""
    if findings is None:
        return None
    return Section(
        key="findings",
        title="Findings of lint",
        origin="Each figure says whether it is measured, estimated, published or "
        "declared."
        if findings
        else "",
        paragraphs=(_summary(findings),),
        entries=tuple(entry_of(finding) for finding in findings),
    )


def entry_of(finding: FindingReport) -> Entry:
    """Return a finding as a point of a list."""
    mark = "undecided" if finding.undecided else finding.severity
    return Entry(
        mark=mark,
        tone="info" if finding.undecided else finding.severity,
        title=f"{finding.rule} {finding.name}"
        + ("" if finding.state is None else f" ({finding.state})"),
        text=finding.message,
        details=tuple(_details(finding)),
    )


def _details(finding: FindingReport) -> Iterator[str]:
    place = finding.location
    if place.kind == "project":
        line = "" if place.line is None else f", line {place.line}"
        yield f"in {place.path}{line}"
    for item in finding.evidence:
        yield f"{item.label}: {item.text} ({item.origin})"
    if finding.files:
        yield _files(finding.files)
    if finding.fix is not None:
        safe = "safe" if finding.fix.safe else "look at its result"
        yield f"fix ({safe}): {finding.fix.description}"


def _files(names: Sequence[str]) -> str:
    """Return the first of a finding's files.

    Rules name some of the files where there are many, so how many are left isn't told.
    """
    shown = ", ".join(names[:_LISTED_FILES])
    return f"files: {shown}" + (", and others" if len(names) > _LISTED_FILES else "")


def _summary(findings: Sequence[FindingReport]) -> str:
    if not findings:
        return "Nothing found."
    decided = Counter(each.severity for each in findings if not each.undecided)
    undecided = sum(each.undecided for each in findings)
    parts = [
        counted(decided["error"], "error") if decided["error"] else "",
        counted(decided["warning"], "warning") if decided["warning"] else "",
        f"{decided['info']:,} info" if decided["info"] else "",
        f"{undecided:,} undecided" if undecided else "",
    ]
    return ", ".join(filter(None, parts)) + "."
