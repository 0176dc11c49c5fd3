"""The JSON report's part on a launch's files: where it goes, what each one costs."""

from __future__ import annotations

import heapq
import posixpath
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from pydantic import Field

from snapcraft_compression_advisor.codecs import (
    CodecName,  # noqa: TC001 # pydantic reads it at run time
)
from snapcraft_compression_advisor.launch.file_cost import cost_of_files
from snapcraft_compression_advisor.report.names import printable
from snapcraft_compression_advisor.report.report_model import (
    Count,
    Interval,
    ReportPart,
    interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet

LISTED_FILES = 10
LISTED_DIRECTORIES = 14
FILES_PER_DIRECTORY = 8
_CANDIDATES = 60
"""Files whose costs are compared: those of which most blocks are read."""

_ROOT = "."
_PROBE_DEVICE = 0
"""Of the devices, the one that puts the files in order."""


class LaunchFileReport(ReportPart):
    """A file that a launch reads."""

    path: str
    blocks: float = Field(description="data blocks expected to be read of it")


class LaunchDirectoryReport(ReportPart):
    """A directory that a launch reads from."""

    path: str = Field(
        description="'.' is the payload's root; directories below it that aren't "
        "listed themselves count with it"
    )
    files: Count
    blocks: float = Field(description="data blocks expected to be read in it")
    largest: list[LaunchFileReport]


class HeavyFileReport(ReportPart):
    """A file with what it adds to a cold launch; estimated."""

    path: str
    size_bytes: Count
    blocks: float = Field(description="data blocks expected to be read of it")
    added_s: dict[str, dict[CodecName, Interval]] = Field(
        description="seconds by device and codec"
    )


def launch_directories(launch_set: LaunchSet) -> list[LaunchDirectoryReport]:
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
        LaunchDirectoryReport(
            path=printable(path),
            files=len(files),
            blocks=round(blocks, 2),
            largest=[
                LaunchFileReport(
                    path=printable(file.path), blocks=round(file.expected_blocks, 2)
                )
                for file in _largest(files, FILES_PER_DIRECTORY)
            ],
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


def heavy_files(analysis: Analysis, launch_set: LaunchSet) -> list[HeavyFileReport]:
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
        HeavyFileReport.model_validate(
            {
                "path": printable(file.path),
                "size_bytes": file.size_bytes,
                "blocks": round(file.expected_blocks, 2),
                "added_s": {
                    each.name: {
                        name: interval(cost_of_files(launch_set, (file,), codec, each))
                        for name, codec in codecs.items()
                    }
                    for each in analysis.devices
                },
            }
        )
        for _, _, file in costs[:LISTED_FILES]
    ]


def _largest(files: Iterable[LaunchFile], count: int) -> Sequence[LaunchFile]:
    """Return the files of which most blocks are read."""
    return sorted(files, key=lambda file: (-file.expected_blocks, file.path))[:count]


def _blocks(files: Iterable[LaunchFile]) -> float:
    return sum(file.expected_blocks for file in files)
