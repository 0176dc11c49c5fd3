"""The files that add most to a launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..launch.model import cost_of_blocks, cost_of_files, data_of, sum_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..analysis import Analysis
    from ..core.units import Interval
    from ..devices.device import DeviceProfile
    from ..launch.launch_set import LaunchFile, LaunchSet
    from ..trial.result import CodecTrial

LISTED_FILES = 10
_CANDIDATES = 60
"""Files whose costs are compared: those of which most blocks are read."""

_PROBE_DEVICE = 0
"""Of the devices, the one that puts the files in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyFile:
    """A file with what it adds to a cold launch; estimated.

    :param blocks: data blocks expected to be read of it.
    :param added_s: by device and codec.
    """

    path: str
    size_bytes: int
    blocks: float
    added_s: Mapping[str, Mapping[str, Interval]]


def heavy_files(analysis: Analysis, launch_set: LaunchSet) -> list[HeavyFile]:
    """Return the files that add most to a launch with xz, with their cost per codec."""
    codecs = {
        name: codec for name, codec in analysis.trial.codecs.items() if codec.available
    }
    if not codecs or not analysis.devices:
        return []
    probe = codecs.get("xz") or next(iter(codecs.values()))
    device = analysis.devices[_PROBE_DEVICE]
    costs = sorted(
        (
            (-cost_of_files(launch_set, (file,), probe, device).mid, file.path, file)
            for file in _largest(launch_set.files, _CANDIDATES)
        ),
        key=lambda each: each[:2],
    )
    return [
        HeavyFile(
            path=file.path,
            size_bytes=file.size_bytes,
            blocks=round(file.expected_blocks, 2),
            added_s=_added_s(data_of(launch_set, (file,)), codecs, analysis.devices),
        )
        for _, _, file in costs[:LISTED_FILES]
    ]


def _added_s(
    part: LaunchSet,
    codecs: Mapping[str, CodecTrial],
    devices: Iterable[DeviceProfile],
) -> dict[str, dict[str, Interval]]:
    """Return what a part of a launch adds, by device and codec."""
    sums = {name: sum_blocks(part, codec) for name, codec in codecs.items()}
    return {
        device.name: {
            name: cost_of_blocks(total, part, name, device).added_s
            for name, total in sums.items()
        }
        for device in devices
    }


def _largest(files: Iterable[LaunchFile], count: int) -> Sequence[LaunchFile]:
    """Return the files of which most blocks are read."""
    return sorted(files, key=lambda file: (-file.expected_blocks, file.path))[:count]
