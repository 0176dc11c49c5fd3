"""Findings as JSON, and a saved report read back as the baseline of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from ...core.documents import DocumentKind
from ...core.errors import BadDataError
from ...core.units import MIB
from ...diff.figures import BaselineBuild, LaunchFigure, PayloadFigures
from ...lint.baseline import subject_in_label
from ...lint.finding import Finding, LintedPayload, LintReport, Location
from ...refresh.delta import DeltaFormat
from ..contract import Count, Document, IntervalReport, Part, Text, filled
from .phrases import all_findings, fingerprints, severities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from . import Findings


class LocationReport(Part):
    """Where a finding is."""

    kind: Literal["project", "payload", "image"] = Field(
        description="a line of snapcraft.yaml, a file of the payload, the whole payload"
    )
    path: Text = Field(
        description="of the project file as it was given, relative to the payload, or "
        "of the payload itself; what isn't UTF-8 or printable is escaped"
    )
    line: Annotated[int, Field(ge=1)] | None = Field(
        description="of the project file; null if there is none"
    )


class EvidenceReport(Part):
    """A figure that a finding rests on."""

    label: Text
    text: Text = Field(description="the figure with its unit and interval")
    origin: Literal["measured", "estimated", "published", "declared"]


class FixReport(Part):
    """What fixes a finding."""

    description: Text
    safe: bool = Field(description="whether it can be applied without a review")
    automatic: bool = Field(description="whether --fix can apply it")
    diff: str | None = Field(
        description="its change to the project file, for 'patch -p1'; null if there "
        "is none"
    )


class GainReport(Part):
    """What fixing a finding saves, at most; estimated."""

    seconds: IntervalReport
    of: Literal["cold launch", "download"] = Field(
        description="what is that much faster"
    )
    where: Text = Field(description="app and device, or link")


class FindingReport(Part):
    """What a rule found."""

    rule: Annotated[str, Field(pattern=r"^SCA\d{3}$")]
    name: str
    severity: Literal["error", "warning", "info"]
    undecided: bool = Field(description="whether the evidence is inconclusive")
    message: Text
    location: LocationReport
    subject: dict[str, Text] | None = Field(
        default=None,
        description="the subject besides the location, by kind, such as app and "
        "device; null in reports of older versions",
    )
    evidence: list[EvidenceReport]
    files: list[Text] = Field(
        description="files of the payload that it concerns, the largest first"
    )
    fix: FixReport | None
    gain: GainReport | None = Field(
        default=None, description="of the fix; null if it isn't known"
    )
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] = Field(
        description="doesn't depend on figures, line numbers or the checkout's path"
    )
    state: Literal["new", "worse", "moved", "known"] | None = Field(
        default=None, description="compared with the baseline; null without one"
    )


class LaunchFigureReport(Part):
    """What a cold launch adds over a warm one; estimated."""

    app: Text
    device: Text
    source: Literal["static", "recorded"] = Field(
        description="whether what it reads was guessed from files or recorded"
    )
    added_s: IntervalReport


class FiguresReport(Part):
    """What of a build is compared with the next one's."""

    compression: str
    image_bytes: IntervalReport | None
    measured: bool = Field(description="whether the size is that of a file")
    launches: list[LaunchFigureReport]


class BaselineDeltaReport(Part):
    """What a refresh from the baseline downloads."""

    compression: str
    format: DeltaFormat
    bytes: IntervalReport = Field(description="estimated")


class GoneReport(Part):
    """A finding of the baseline that is no more."""

    rule: Annotated[str, Field(pattern=r"^SCA\d{3}$")]
    name: str
    path: Text
    message: Text


class UncheckedReport(Part):
    """A rule that couldn't look at the payload: that it finds nothing is no pass."""

    rule: Annotated[str, Field(pattern=r"^SCA\d{3}$")]
    name: str
    why: Text


class LintedPayloadReport(Part):
    """One payload's findings."""

    path: Text
    snap_name: Text = Field(description="empty if snap.yaml couldn't be read")
    error: Text | None = Field(description="why it couldn't be linted")
    findings: list[FindingReport]
    figures: FiguresReport | None = Field(
        default=None, description="to compare the next build with"
    )
    refresh: BaselineDeltaReport | None = Field(
        default=None,
        description="a refresh from the baseline, if that is a snap; null where no "
        "rule asks for it",
    )
    gone: list[GoneReport] = Field(
        default=[], description="findings that only the baseline has"
    )
    unchecked: list[UncheckedReport] = Field(
        default=[], description="rules that couldn't look at it"
    )


class SummaryReport(Part):
    """How many findings there are; one that is undecided counts only as such."""

    error: Count
    warning: Count
    info: Count
    undecided: Count
    not_linted: Count = Field(description="payloads that couldn't be linted")
    unchecked: Count = Field(
        default=0, description="rules that couldn't look at a payload"
    )


class LintDocument(Document):
    """The report of ``compression-advisor lint --format json``."""

    model_config = ConfigDict(title="compression-advisor lint")

    payloads: list[LintedPayloadReport]
    summary: SummaryReport


def render(findings: Findings) -> str:
    """Return the findings as JSON text; against a baseline, each with its state."""
    return build_lint_document(findings.report).text()


def build_lint_document(report: LintReport) -> LintDocument:
    """Return findings in the shape of the contract."""
    counts = severities(all_findings(report))
    failed = sum(payload.error is not None for payload in report.payloads)
    keys = ("error", "warning", "info", "undecided")
    return LintDocument(
        advisor_version=report.version,
        payloads=[*map(_payload, report.payloads, fingerprints(report))],
        summary=SummaryReport(
            not_linted=failed,
            unchecked=len(
                {each.rule for payload in report.payloads for each in payload.unchecked}
            ),
            **{key: counts[key] for key in keys},
        ),
    )


def _payload(payload: LintedPayload, prints: Sequence[str]) -> LintedPayloadReport:
    figures = payload.figures
    return filled(
        LintedPayloadReport,
        payload,
        findings=[
            filled(FindingReport, finding, fingerprint=fingerprint)
            for finding, fingerprint in zip(payload.findings, prints, strict=True)
        ],
        figures=None
        if figures is None
        else filled(FiguresReport, figures, compression=figures.codec),
        refresh=_refresh(payload.baseline),
        gone=[
            filled(GoneReport, each, path=each.location.path) for each in payload.gone
        ],
        unchecked=[filled(UncheckedReport, each) for each in payload.unchecked],
    )


def _refresh(baseline: BaselineBuild | None) -> BaselineDeltaReport | None:
    delta = baseline.delta if baseline else None
    if delta is None:
        return None
    return BaselineDeltaReport(
        compression=delta.codec,
        format=delta.delta_format,
        bytes=filled(IntervalReport, delta.size_bytes),
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


def parse_baseline(content: bytes, *, where: str) -> LintReport:
    """Return what a saved report of lint knows.

    :param where: the file, for errors.
    :raises BadDataError: where it is no such report, or of another schema version.
    """
    document = BASELINE.load_json(content, where=where)
    if isinstance(document, dict):
        _check_version(document, where)
    return report_of(BASELINE.check(document, where=where))


def _check_version(document: Mapping[str, object], where: str) -> None:
    """Refuse other versions, and a report that doesn't say its own."""
    if "schema" not in document:
        raise BASELINE.error(where, "it has no schema version")
    version = document["schema"]
    if version != SCHEMA:
        message = f"The baseline {where!r} is of schema version {version!r}, not 1"
        raise BadDataError(message, resolution=_WRITE_ANEW)


def report_of(document: LintDocument) -> LintReport:
    """Return what a saved report knows, as far as a baseline is compared by it."""
    return LintReport(
        version=document.advisor_version,
        payloads=tuple(
            LintedPayload(
                path=payload.path,
                snap_name=payload.snap_name,
                error=payload.error,
                findings=tuple(map(_known, payload.findings)),
                figures=None if payload.figures is None else _figures(payload.figures),
            )
            for payload in document.payloads
        ),
    )


def _known(finding: FindingReport) -> Finding:
    location = finding.location
    subject: Mapping[str, str] | None = finding.subject
    if subject is None:
        label = finding.evidence[0].label if finding.evidence else ""
        subject = subject_in_label(finding.rule, label)
    return Finding(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        undecided=finding.undecided,
        message=finding.message,
        location=Location(location.kind, location.path, location.line),
        subject=subject,
    )


def _figures(figures: FiguresReport) -> PayloadFigures:
    size = figures.image_bytes
    return PayloadFigures(
        codec=figures.compression,
        image_bytes=None if size is None else size.interval(),
        measured=figures.measured,
        launches=tuple(
            LaunchFigure(
                app=each.app,
                device=each.device,
                source=each.source,
                added_s=each.added_s.interval(),
            )
            for each in figures.launches
        ),
    )
