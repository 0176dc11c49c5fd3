"""Findings as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lint.finding import LintReport
from ..document import Lines, Part, document_text, part
from .phrases import all_findings, fingerprints, severities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...lint.finding import Finding, LintedPayload
    from . import Findings


def render(findings: Findings) -> str:
    """Return the findings as JSON text; against a baseline, each with its state."""
    report = findings.report
    unchecked = {each.rule for payload in report.payloads for each in payload.unchecked}
    counts = severities(all_findings(report))
    return document_text(
        {
            "advisor_version": report.version,
            "payloads": [*map(_payload, report.payloads, fingerprints(report))],
            "summary": {
                **{key: counts[key] for key in ("error", "warning", "info")},
                "undecided": counts["undecided"],
                "not_linted": sum(each.error is not None for each in report.payloads),
                "unchecked": len(unchecked),
            },
        }
    )


def finding_parts(payload: LintedPayload) -> list[Part]:
    """Return a payload's findings as JSON has them."""
    report = LintReport(version="", payloads=(payload,))
    return [*map(_finding, payload.findings, fingerprints(report)[0])]


def _payload(payload: LintedPayload, prints: Sequence[str]) -> Part:
    figures = payload.figures
    names = "image_bytes measured launches"
    delta = payload.baseline.delta if payload.baseline else None
    return part(
        payload,
        "path snap_name error unchecked",
        findings=[*map(_finding, payload.findings, prints)],
        figures=part(figures, names, compression=figures.codec) if figures else None,
        refresh={
            "compression": delta.codec,
            "format": delta.delta_format,
            "bytes": delta.size_bytes,
        }
        if delta
        else None,
        gone=[
            part(each, "rule name message", path=each.location.path)
            for each in payload.gone
        ],
    )


def _finding(finding: Finding, fingerprint: str) -> Part:
    names = (
        "rule name severity undecided message location subject evidence files gain "
        "state"
    )
    fix = finding.fix
    return part(
        finding,
        names,
        fix=part(
            fix,
            "description safe automatic",
            diff=None if fix.diff is None else Lines(fix.diff),
        )
        if fix
        else None,
        fingerprint=fingerprint,
    )
