"""What single files add to a launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.model import estimate_launch

if TYPE_CHECKING:
    from snapcraft_compression_advisor.core.units import Interval
    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
    from snapcraft_compression_advisor.trial.result import CodecTrial


def cost_of_files(
    launch_set: LaunchSet,
    files: tuple[LaunchFile, ...],
    trial: CodecTrial,
    device: DeviceProfile,
) -> Interval:
    """Return the seconds that some files of a launch add on a device.

    A launch may read more than its set names, but of a file no more than is there.
    """
    part = replace(
        launch_set,
        files=files,
        read_share=_at_most_all(launch_set.read_share),
        seek_share=_at_most_all(launch_set.seek_share),
    )
    return estimate_launch(part, trial, device).added_s


def _at_most_all(share: Interval) -> Interval:
    return share.map(lambda value: min(1.0, value))
