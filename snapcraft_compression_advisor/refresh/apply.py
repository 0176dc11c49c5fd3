"""What a device takes to apply a delta: seconds, memory, temporary disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.frozen import frozen
from ..core.units import Interval
from ..devices.apply import (
    ApplySizes,
    apply_disk_bytes,
    apply_memory_bytes,
    apply_seconds,
)

if TYPE_CHECKING:
    from ..devices.device import DeviceProfile
    from .delta import DeltaFormat, RefreshSizes


@frozen
class ApplyCost:
    """What it takes to make the new image of the old one and a delta.

    :param seconds: estimated.
    :param memory_bytes: of all programs at once, at most, on a device with 4 GiB.
    :param disk_bytes: beside the old image: the delta and the new image.
    """

    seconds: Interval
    memory_bytes: int
    disk_bytes: int


def apply_cost(
    sizes: RefreshSizes,
    delta_format: DeltaFormat,
    codec: str,
    device: DeviceProfile,
) -> ApplyCost:
    """Return what a device takes to apply a delta, as snapd calls the tools.

    :param codec: of both images.
    """
    bytes_ = ApplySizes(
        old_image=sizes.old_image_bytes,
        new_image=sizes.new_image_bytes,
        old_raw=sizes.old_raw_bytes,
        new_raw=sizes.new_raw_bytes,
        delta=sizes.delta_bytes.mid,
        coded=None
        if sizes.coded_share is None
        else sizes.coded_share * sizes.delta_bytes.mid,
        search=sizes.search,
    )
    return ApplyCost(
        seconds=apply_seconds(bytes_, delta_format, codec, device),
        memory_bytes=apply_memory_bytes(bytes_, delta_format),
        disk_bytes=apply_disk_bytes(bytes_),
    )
