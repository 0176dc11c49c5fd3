"""Findings as JSON: a contract, versioned by its ``schema`` key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from snapcraft_compression_advisor.report.fingerprint import fingerprints
from snapcraft_compression_advisor.report.lint_formats.phrases import (
    all_findings,
    is_automatic,
)
from snapcraft_compression_advisor.report.names import printable

if TYPE_CHECKING:
    from snapcraft_compression_advisor.core.units import Interval
    from snapcraft_compression_advisor.diff.figures import PayloadFigures
    from snapcraft_compression_advisor.lint import finding as found
    from snapcraft_compression_advisor.lint.baseline import JudgedPayload
    from snapcraft_compression_advisor.report.lint_formats import Findings

_DIGITS = 6
"""Of seconds: microseconds; further ones are noise of the arithmetic."""
Count = Annotated[int, Field(ge=0)]
Figure = Annotated[float, Field(allow_inf_nan=False)]
"""JSON as RFC 8259 has it knows neither NaN nor infinity; Python reads both."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LocationReport(_Model):
    """Where a finding is."""

    kind: Literal["project", "payload", "image"] = Field(
        description="a line of snapcraft.yaml, a file of the payload, the whole payload"
    )
    path: str = Field(
        description="of the project file as it was given, relative to the payload, or "
        "of the payload itself; what isn't UTF-8 or printable is escaped"
    )
    line: Annotated[int, Field(ge=1)] | None = Field(
        description="of the project file; null where there is none"
    )


class EvidenceReport(_Model):
    """A figure that a finding rests on."""

    label: str
    text: str = Field(description="the figure with its unit and interval")
    origin: Literal["measured", "estimated", "published", "declared"]


class FixReport(_Model):
    """What fixes a finding."""

    description: str
    safe: bool = Field(description="whether it can be made without a look at it")
    automatic: bool = Field(description="whether --fix can make it")
    diff: str | None = Field(
        description="its change to the project file, for 'patch -p1'; null where there "
        "is none"
    )


class FindingReport(_Model):
    """What a rule found."""

    rule: Annotated[str, Field(pattern=r"^SCA\d{3}$")]
    name: str
    severity: Literal["error", "warning", "info"]
    undecided: bool = Field(
        description="whether the evidence leaves open if the rule is broken"
    )
    message: str
    location: LocationReport
    evidence: list[EvidenceReport]
    files: list[str] = Field(
        description="of the payload that it is about, the largest first"
    )
    fix: FixReport | None
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] = Field(
        description="stays the same while figures, lines and the checkout's path change"
    )
    state: Literal["new", "worse", "moved", "known"] | None = Field(
        default=None, description="against the baseline; null without one"
    )


class IntervalReport(_Model):
    """A figure with its uncertainty; the ends are equal where it is known."""

    low: Figure
    mid: Figure
    high: Figure


class LaunchFigureReport(_Model):
    """What a cold launch adds over a warm one; estimated."""

    app: str
    device: str
    source: Literal["static", "recorded"] = Field(
        description="whether what it reads was guessed from files or recorded"
    )
    added_s: IntervalReport


class FiguresReport(_Model):
    """What of a build is compared with the next one's."""

    compression: str
    image_bytes: IntervalReport | None
    measured: bool = Field(description="whether the size is that of a file")
    launches: list[LaunchFigureReport]


class GoneReport(_Model):
    """A finding of the baseline that is no more."""

    rule: Annotated[str, Field(pattern=r"^SCA\d{3}$")]
    name: str
    path: str
    message: str


class LintedPayloadReport(_Model):
    """One payload's findings."""

    path: str
    snap_name: str = Field(description="empty where snap.yaml couldn't be read")
    error: str | None = Field(description="why it couldn't be linted")
    findings: list[FindingReport]
    figures: FiguresReport | None = Field(
        default=None, description="to compare the next build with"
    )
    gone: list[GoneReport] = Field(
        default=[], description="findings that only the baseline has"
    )


class SummaryReport(_Model):
    """How many findings there are; one that is undecided counts only as such."""

    error: Count
    warning: Count
    info: Count
    undecided: Count
    not_linted: Count = Field(description="payloads that couldn't be linted")


class LintDocument(_Model):
    """The report of ``compression-advisor lint --format json``."""

    model_config = ConfigDict(title="compression-advisor lint")

    schema_version: Literal[1] = Field(alias="schema", default=1)
    advisor_version: str
    payloads: list[LintedPayloadReport]
    summary: SummaryReport


def build_lint_document(report: found.LintReport) -> LintDocument:
    """Return findings in the shape of the contract."""
    return LintDocument(
        advisor_version=report.version,
        payloads=[
            LintedPayloadReport(
                path=printable(payload.path),
                snap_name=printable(payload.snap_name),
                error=None if payload.error is None else printable(payload.error),
                figures=None if payload.figures is None else _figures(payload.figures),
                findings=[
                    _finding(finding, fingerprint)
                    for finding, fingerprint in zip(
                        payload.findings, prints, strict=True
                    )
                ],
            )
            for payload, prints in zip(
                report.payloads, fingerprints(report), strict=True
            )
        ],
        summary=_summary(report),
    )


def render(findings: Findings) -> str:
    """Return the findings as JSON text; against a baseline, each with its state."""
    document = build_lint_document(findings.report)
    if findings.judged is not None:
        payloads = map(_judged_payload, document.payloads, findings.judged.payloads)
        document = document.model_copy(update={"payloads": [*payloads]})
    return document.model_dump_json(by_alias=True, indent=2) + "\n"


def lint_schema_text() -> str:
    """Return the JSON Schema of the report, as ``docs`` keeps it."""
    schema = LintDocument.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _finding(finding: found.Finding, fingerprint: str) -> FindingReport:
    return FindingReport(
        rule=finding.rule,
        name=finding.name,
        severity=finding.severity,
        undecided=finding.undecided,
        message=printable(finding.message),
        location=LocationReport(
            kind=finding.location.kind,
            path=printable(finding.location.path),
            line=finding.location.line,
        ),
        evidence=[
            EvidenceReport(
                label=printable(item.label),
                text=printable(item.text),
                origin=item.origin,
            )
            for item in finding.evidence
        ],
        files=[printable(name) for name in finding.files],
        fix=None if finding.fix is None else _fix(finding.fix),
        fingerprint=fingerprint,
    )


def _figures(figures: PayloadFigures) -> FiguresReport:
    size = figures.image_bytes
    return FiguresReport(
        compression=figures.codec,
        image_bytes=None if size is None else interval_report(size),
        measured=figures.measured,
        launches=[
            LaunchFigureReport(
                app=printable(each.app),
                device=printable(each.device),
                source=each.source,
                added_s=interval_report(each.added_s),
            )
            for each in figures.launches
        ],
    )


def interval_report(figure: Interval) -> IntervalReport:
    """Return a figure in the shape of the contract."""
    return IntervalReport(
        low=round(figure.low, _DIGITS),
        mid=round(figure.mid, _DIGITS),
        high=round(figure.high, _DIGITS),
    )


def _fix(fix: found.Fix) -> FixReport:
    return FixReport(
        description=printable(fix.description),
        safe=fix.safe,
        automatic=is_automatic(fix),
        diff=None if fix.edit is None else fix.edit.diff(),
    )


def _summary(report: found.LintReport) -> SummaryReport:
    findings = [*all_findings(report)]

    def decided(severity: found.Severity) -> int:
        return sum(f.severity == severity and not f.undecided for f in findings)

    return SummaryReport(
        error=decided("error"),
        warning=decided("warning"),
        info=decided("info"),
        undecided=sum(finding.undecided for finding in findings),
        not_linted=sum(payload.error is not None for payload in report.payloads),
    )


def _judged_payload(
    report: LintedPayloadReport, judged: JudgedPayload
) -> LintedPayloadReport:
    findings = [
        finding.model_copy(update={"state": each.state})
        for finding, each in zip(report.findings, judged.findings, strict=True)
    ]
    gone = [
        GoneReport(rule=each.rule, name=each.name, path=each.path, message=each.message)
        for each in judged.gone
    ]
    return report.model_copy(update={"findings": findings, "gone": gone})
