"""The JSON report's part on launches over several snaps: what each of them costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ..codecs import CodecName  # pydantic reads it at run time
from ..launch.launch_set import Source  # likewise
from ..launch.model import seconds_saved
from ..launch.stack_model import together
from ..payload.stack import Role  # pydantic reads it at run time
from .contract import Count, Interval, Part, Text, filled

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..launch.stack import StackPart
    from ..launches import LaunchAnalysis

_LEAST_STACK = 2
"""Snaps from which on there is something to add up."""


class StackCostReport(Part):
    """What a snap's blocks add to a cold launch with one codec on one device."""

    added_s: Interval


class StackSnapReport(Part):
    """What a launch reads of one snap."""

    snap: Text
    role: Role
    codec: str | None = Field(
        description="of its image, for a prime directory of snapcraft.yaml; null if it "
        "isn't known"
    )
    taken_as: CodecName = Field(
        description="codec that 'as packed' means: its own; xz if that isn't known"
    )
    judged: bool = Field(description="whether the recommendation is about this snap")
    source: Source
    files: Count
    data_blocks: Count
    expected_blocks: float = Field(
        description="data blocks expected to be read of those named"
    )
    raw_bytes: Count
    lzo_adds_bytes: Interval | None = Field(
        default=None, description="over xz to its image; null if it isn't available"
    )
    devices: dict[str, dict[CodecName, StackCostReport]] = Field(
        description="empty if the snap isn't available"
    )
    other_codec: Literal["xz", "lzo"] = Field(description="the one it could change to")
    change_saves_s: dict[str, Interval] = Field(
        description="by device; seconds that the other codec saves per cold launch, "
        "negative if the launch becomes slower"
    )


class StackWholeReport(Part):
    """What all snaps together add to a cold launch on one device."""

    added_s: Interval = Field(description="as they are packed")
    judged_share: float = Field(
        description="share that the snap adds which the recommendation is about"
    )
    all_lzo_saves_s: Interval = Field(description="all of them with lzo")


def stack_snap(analysis: Analysis, part: StackPart) -> StackSnapReport:
    """Return what a launch reads of one snap, and what that costs."""
    launch_set, codec = part.launch_set, _codec_of(analysis, part)
    packed = part.packed_as(codec)
    other = "xz" if packed == "lzo" else "lzo"
    return filled(
        StackSnapReport,
        launch_set,
        snap=part.name,
        role=part.role,
        codec=codec,
        taken_as=packed,
        judged=part.judged,
        files=len(launch_set.files),
        expected_blocks=round(launch_set.expected_blocks, 1),
        lzo_adds_bytes=part.lzo_less_xz_bytes,
        devices={
            device: {
                name: filled(StackCostReport, cost) for name, cost in estimates.items()
            }
            for device, estimates in part.estimates.items()
        },
        other_codec=other,
        change_saves_s={
            device: seconds_saved(estimates[packed], estimates[other])
            for device, estimates in part.estimates.items()
            if {packed, other} <= estimates.keys()
        },
    )


def _codec_of(analysis: Analysis, part: StackPart) -> str | None:
    return analysis.payload.declared_compression if part.judged else part.codec


def stack_whole(
    analysis: Analysis, launch: LaunchAnalysis
) -> dict[str, StackWholeReport]:
    """Return what the available snaps add by device, as far as that is estimated."""
    parts = [part for part in launch.stack if part.estimates]
    if len(parts) < _LEAST_STACK:
        return {}
    found = {}
    for device in launch.estimates:
        costs = [
            (part, part.estimates[device][part.packed_as(_codec_of(analysis, part))])
            for part in parts
        ]
        whole = together([cost for _, cost in costs])
        judged = sum(cost.added_s.mid for part, cost in costs if part.judged)
        every = sum(cost.added_s.mid for _, cost in costs)
        found[device] = StackWholeReport(
            added_s=Interval.model_validate(whole.added_s),
            judged_share=judged / every if every > 0 else 0.0,
            all_lzo_saves_s=Interval.model_validate(
                seconds_saved(
                    whole, together([part.estimates[device]["lzo"] for part in parts])
                )
            ),
        )
    return found
