"""A saved report of lint, read back as the baseline of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.documents import DocumentKind
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.core.units import MIB, Interval
from snapcraft_compression_advisor.diff.figures import (
    LaunchFigure,
    PayloadFigures,
)
from snapcraft_compression_advisor.lint.baseline import (
    Baseline,
    BaselinePayload,
    KnownFinding,
)
from snapcraft_compression_advisor.report.lint_formats.json import LintDocument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snapcraft_compression_advisor.report.lint_formats.json import (
        FiguresReport,
        FindingReport,
        IntervalReport,
    )

SCHEMA = 1
_WRITE_ANEW = "Write a new one with 'lint --write-baseline'."

BASELINE = DocumentKind(
    model=LintDocument,
    name="baseline",
    max_bytes=64 * MIB,  # larger than a report on any snap
    broken="The baseline {where!r} is neither a report of lint nor a snap",
    resolution=_WRITE_ANEW,
    if_unreadable="Check its path, or write one with --write-baseline.",
)


def parse_baseline(content: bytes, *, where: str) -> Baseline:
    """Return what a saved report of lint knows.

    :param where: the file, for errors.
    :raises BadDataError: where it is no such report, or of another schema version.
    """
    document = BASELINE.load_json(content, where=where)
    if isinstance(document, dict):
        _check_version(document, where)
    return baseline_of(BASELINE.check(document, where=where), where=where)


def _check_version(document: Mapping[str, object], where: str) -> None:
    """Refuse other versions, and a report that doesn't say its own."""
    if "schema" not in document:
        raise BASELINE.error(where, "it doesn't say its schema version")
    version = document["schema"]
    if version != SCHEMA:
        message = f"The baseline {where!r} is of schema version {version!r}, not 1"
        raise BadDataError(message, resolution=_WRITE_ANEW)


def baseline_of(document: LintDocument, *, where: str) -> Baseline:
    """Return what a report knows; payloads that couldn't be linted aren't in it."""
    return Baseline(
        where=where,
        payloads=tuple(
            BaselinePayload(
                path=payload.path,
                snap_name=payload.snap_name,
                findings=tuple(map(_known, payload.findings)),
                figures=None if payload.figures is None else _figures(payload.figures),
            )
            for payload in document.payloads
            if payload.error is None
        ),
    )


def _known(finding: FindingReport) -> KnownFinding:
    evidence = finding.evidence
    return KnownFinding(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        undecided=finding.undecided,
        message=finding.message,
        kind=finding.location.kind,
        path=finding.location.path,
        subject=evidence[0].label if evidence else "",
        fingerprint=finding.fingerprint,
    )


def _figures(figures: FiguresReport) -> PayloadFigures:
    size = figures.image_bytes
    return PayloadFigures(
        codec=figures.compression,
        image_bytes=None if size is None else _interval(size),
        measured=figures.measured,
        launches=tuple(
            LaunchFigure(
                app=each.app,
                device=each.device,
                source=each.source,
                added_s=_interval(each.added_s),
            )
            for each in figures.launches
        ),
    )


def _interval(figure: IntervalReport) -> Interval:
    return Interval.around(figure.low, figure.mid, figure.high)
