"""A saved report of lint, read as far as a baseline is compared by it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ...core.documents import DocumentKind
from ...core.terminal import printable
from ...core.units import MIB, Interval
from ...diff.figures import LaunchFigure, PayloadFigures
from ...lint.finding import Finding, LintedPayload, LintReport, Location, Severity


def _shown(value: object) -> object:
    return printable(value) if isinstance(value, str) else value


_Text = Annotated[str, BeforeValidator(_shown)]


class _Saved(BaseModel):
    """A part of a report; keys that aren't read are left alone."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, defer_build=True)


class _Ends(_Saved):
    low: float
    mid: float
    high: float

    def interval(self) -> Interval:
        """Return the interval; a saved one may have its ends swapped."""
        return Interval.around(self.low, self.mid, self.high)


class _Place(_Saved):
    kind: Literal["project", "payload", "image"]
    path: _Text
    line: Annotated[int, Field(ge=1)] | None


class SavedFinding(_Saved):
    """What a rule found."""

    rule: Annotated[str, Field(pattern=r"^SCA\d{3}$")]
    name: str
    severity: Severity
    undecided: bool
    message: _Text
    location: _Place
    subject: dict[str, _Text]

    def finding(self) -> Finding:
        """Return it as rules return theirs."""
        return Finding(
            rule=self.rule,
            name=self.name,
            severity=self.severity,
            undecided=self.undecided,
            message=self.message,
            location=Location(
                self.location.kind, self.location.path, self.location.line
            ),
            subject=self.subject,
        )


class _Launch(_Saved):
    app: _Text
    device: _Text
    source: Literal["static", "recorded"]
    added_s: _Ends


class _Figures(_Saved):
    compression: str
    image_bytes: _Ends | None
    measured: bool
    launches: list[_Launch]


class _Payload(_Saved):
    path: _Text
    snap_name: _Text
    error: _Text | None
    findings: list[SavedFinding]
    figures: _Figures | None = None


class _Report(_Saved):
    schema_version: Literal[1] = Field(alias="schema")
    advisor_version: str
    payloads: list[_Payload]
    summary: dict[str, int]


BASELINE = DocumentKind(
    model=_Report,
    name="baseline",
    max_bytes=64 * MIB,  # larger than a report on any snap
    broken="The baseline {where!r} is neither a report of lint nor a snap",
    resolution="Write a new one with 'lint --write-baseline'.",
)


def parse_baseline(content: bytes, *, where: str) -> LintReport:
    """Return the lint report that was saved.

    :param where: the file, for errors.
    :raises BadDataError: if it is no such report, or of another schema version.
    """
    saved = BASELINE.parse_json(content, where=where)
    return LintReport(
        version=saved.advisor_version, payloads=tuple(map(_linted, saved.payloads))
    )


def _linted(payload: _Payload) -> LintedPayload:
    figures = payload.figures
    return LintedPayload(
        path=payload.path,
        snap_name=payload.snap_name,
        error=payload.error,
        findings=tuple(each.finding() for each in payload.findings),
        figures=PayloadFigures(
            codec=figures.compression,
            image_bytes=figures.image_bytes.interval() if figures.image_bytes else None,
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
        if figures
        else None,
    )
