"""A data set's findings, as a report of lint over the whole fleet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..lint.finding import LintedPayload, LintReport, Severity
from ..lint.run import at_least
from ..report.lint_formats.json import (
    FindingReport,
    LintDocument,
    LintedPayloadReport,
    SummaryReport,
    report_of,
)
from .dataset import PARTITION, current_rows, part_files

_FINDINGS: TypeAdapter[list[FindingReport] | None] = TypeAdapter(
    list[FindingReport] | None
)
_NO_COUNTS = SummaryReport(error=0, warning=0, info=0, undecided=0, not_linted=0)
"""They are counted where the report is rendered."""


def lint_report(root: Path) -> LintReport:
    """Return the findings of all snaps of a data set, by name and path.

    :raises AdvisorError: where it isn't a data set of this schema.
    """
    files = part_files(root)
    document = LintDocument(
        advisor_version=files[0].parent.name.removeprefix(PARTITION),
        payloads=sorted(
            _payloads(root),
            key=lambda each: (each.snap_name, each.path),
        ),
        summary=_NO_COUNTS,
    )
    return report_of(document)


def _payloads(root: Path) -> Iterator[LintedPayloadReport]:
    for row in current_rows(root, ["path", "name", "error", "report"]):
        yield LintedPayloadReport(
            path=row["path"],
            snap_name=row["name"] or "",
            error=row["error"],
            findings=_findings(row),
        )


def _findings(row: dict[str, Any]) -> list[FindingReport]:
    if row["report"] is None:
        return []
    # The rest of a report is large, and isn't needed.
    return _FINDINGS.validate_python(json.loads(row["report"])["findings"]) or []


def failing(report: LintReport, fail_on: Severity) -> list[LintedPayload]:
    """Return the snaps with a finding that counts and is that severe at least."""
    return [
        payload
        for payload in report.counting().payloads
        if any(at_least(each.severity, fail_on) for each in payload.findings)
    ]
