"""The JSON report's part on how it is known what a launch reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from snapcraft_compression_advisor.report.names import printable
from snapcraft_compression_advisor.report.report_model import (
    Interval,
    ReportPart,
    interval,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.launch.launch_set import LaunchSet
    from snapcraft_compression_advisor.launch.profile import FittedProfile


class GuessReport(ReportPart):
    """What a guess of a launch rests on."""

    kind: str = Field(description="of application, by its toolkit or run time")
    expected_blocks: float = Field(
        description="data blocks expected to be read of those named"
    )
    read_share: Interval = Field(
        description="bytes really read per byte expected, in nine launches of ten"
    )
    recorded: dict[str, float] = Field(
        description="applications of this kind whose launches were recorded, and what "
        "each read per byte that was expected without it; measured"
    )


class TraceReport(ReportPart):
    """What a launch that was recorded by trace leaves open."""

    expected_blocks: float = Field(
        description="data blocks expected to be read of those named, which a process "
        "read or mapped"
    )
    read_share: Interval = Field(
        description="bytes really read per byte expected, in nine launches of ten; "
        "measured by residency"
    )


class FitReport(ReportPart):
    """How far a recorded launch fits a payload that has changed since."""

    blocks_share: float = Field(description="of the launch profile's blocks, 0 to 1")
    gone: list[str] = Field(description="files that the payload doesn't hold")
    changed: list[str] = Field(description="files of another size")


def guess_report(launch_set: LaunchSet) -> GuessReport | None:
    """Return what a guess rests on; ``None`` for a recorded launch."""
    basis = launch_set.basis
    if basis is None:
        return None
    return GuessReport(
        kind=basis.kind,
        expected_blocks=round(launch_set.expected_blocks, 1),
        read_share=interval(launch_set.read_share),
        recorded=dict(basis.recorded),
    )


def trace_report(launch_set: LaunchSet) -> TraceReport | None:
    """Return what a trace leaves open; ``None`` for any other launch."""
    if launch_set.method != "trace":
        return None
    return TraceReport(
        expected_blocks=round(launch_set.expected_blocks, 1),
        read_share=interval(launch_set.read_share),
    )


def fit_report(profile: FittedProfile | None) -> FitReport | None:
    """Return how far a launch profile fits; ``None`` where it fits whole."""
    if profile is None or not (profile.gone or profile.changed):
        return None
    return FitReport(
        blocks_share=profile.fitting_share,
        gone=[printable(name) for name in profile.gone],
        changed=[printable(name) for name in profile.changed],
    )
