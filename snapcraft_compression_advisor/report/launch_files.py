"""Where a launch's blocks lie: its directories, and the files that cost most."""

from __future__ import annotations

import heapq
import posixpath
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..launch.model import cost_of_blocks, cost_of_files, data_of, sum_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..analysis import Analysis
    from ..core.units import Interval
    from ..devices.device import DeviceProfile
    from ..launch.launch_set import LaunchFile, LaunchSet
    from ..trial.result import CodecTrial

LISTED_FILES = 10
LISTED_DIRECTORIES = 14
FILES_PER_DIRECTORY = 8
_CANDIDATES = 60
"""Files whose costs are compared: those of which most blocks are read."""

_ROOT = "."
_PROBE_DEVICE = 0
"""Of the devices, the one that puts the files in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that a launch reads.

    :param blocks: data blocks expected to be read of it.
    """

    path: str
    blocks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDirectory:
    """A directory that a launch reads from.

    :param path: '.' for the payload's root; directories below it that aren't listed
        themselves count with it.
    :param blocks: data blocks expected to be read in it.
    :param largest: files of which most blocks are read.
    """

    path: str
    files: int
    blocks: float
    largest: tuple[ReadFile, ...]


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


def launch_directories(launch_set: LaunchSet) -> list[ReadDirectory]:
    """Return where a launch's blocks lie, the directory with most of them first.

    Where directories would be too many, those with the fewest blocks count as part of
    the directory that they lie in.
    """
    members: dict[str, list[LaunchFile]] = defaultdict(list)
    for file in launch_set.files:
        members[posixpath.dirname(file.path) or _ROOT].append(file)
    _merge_smallest(members)
    found = sorted(
        ((_blocks(files), path, files) for path, files in members.items()),
        key=lambda each: (-each[0], each[1]),
    )
    return [
        ReadDirectory(
            path=path,
            files=len(files),
            blocks=round(blocks, 2),
            largest=tuple(
                ReadFile(path=file.path, blocks=round(file.expected_blocks, 2))
                for file in _largest(files, FILES_PER_DIRECTORY)
            ),
        )
        for blocks, path, files in found
    ]


def _merge_smallest(members: dict[str, list[LaunchFile]]) -> None:
    """Merge directories into the ones that they lie in, until few enough are left.

    The one with the fewest blocks first, of those that have none below them.
    """
    below = Counter(above for path in members for above in _ancestors(path))
    ends = [
        (_blocks(files), path) for path, files in members.items() if not below[path]
    ]
    heapq.heapify(ends)
    while len(members) > LISTED_DIRECTORIES and ends:
        _, path = heapq.heappop(ends)
        if path == _ROOT:
            continue
        parent = posixpath.dirname(path) or _ROOT
        if parent not in members:
            below.update(_ancestors(parent))
        members[parent] += members.pop(path)
        below.subtract(_ancestors(path))
        if not below[parent]:
            heapq.heappush(ends, (_blocks(members[parent]), parent))


def _ancestors(path: str) -> Iterator[str]:
    while path != _ROOT:
        path = posixpath.dirname(path) or _ROOT
        yield path


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


def _blocks(files: Iterable[LaunchFile]) -> float:
    return sum(file.expected_blocks for file in files)
