"""Findings as GitLab's code quality report.

The fields are those of "Code Quality report format" in GitLab's documentation: all
that it requires, and nothing else.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ...core.terminal import printable
from .phrases import fingerprints, full_path, payload_fingerprint, title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...lint.finding import LintReport, Severity
    from . import Findings

_SEVERITIES: dict[Severity, str] = {
    "error": "major",
    "warning": "minor",
    "info": "info",
}
_NOT_LINTED = "blocker"
_NO_LINE = 1
"""GitLab requires a line; what has none is about its file's beginning."""


def render(findings: Findings) -> str:
    """Return the report as JSON text: an array, empty if nothing is found.

    GitLab compares branches' reports itself: what isn't in there counts as fixed.
    """
    return json.dumps([*_entries(findings.report)], indent=2, ensure_ascii=False) + "\n"


def _entries(report: LintReport) -> Iterator[dict[str, object]]:
    for payload, prints in zip(report.payloads, fingerprints(report), strict=True):
        if payload.error is not None:
            yield {
                "description": f"not linted: {printable(payload.error)}",
                "check_name": "not-linted",
                "fingerprint": payload_fingerprint(payload),
                "severity": _NOT_LINTED,
                "location": _location(printable(payload.path)),
            }
        for each in payload.unchecked:
            yield {
                "description": f"{each.rule} {each.name} not checked: "
                f"{printable(each.why)}",
                "check_name": each.rule,
                "fingerprint": payload_fingerprint(payload, each.rule),
                "severity": "info",
                "location": _location(printable(payload.path)),
            }
        for finding, fingerprint in zip(payload.findings, prints, strict=True):
            path = full_path(payload, finding.location)
            yield {
                "description": f"{title(finding)}: {printable(finding.message)}",
                "check_name": finding.rule,
                "fingerprint": fingerprint,
                "severity": _SEVERITIES[finding.severity],
                "location": _location(path, finding.location.line),
            }


def _location(path: str, line: int | None = None) -> dict[str, object]:
    return {"path": path.removeprefix("./"), "lines": {"begin": line or _NO_LINE}}
