"""What a payload's files, and those that a launch reads, come to."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..launch.launch_set import expected_blocks
from ..launch.model import cost_of_blocks, cost_of_files, data_of, sum_blocks
from ..payload.inventory import file_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..analysis import Analysis
    from ..core.units import Interval
    from ..launch.launch_set import LaunchFile, LaunchSet
    from ..payload.layout import Layout
    from ..trial.stored import StoredSizes

LISTED_FILES = 10
LARGEST = (1, 10)
_CANDIDATES = 60
"""Files whose costs are compared: those of which most blocks are read."""

SMALLER = "smaller groups"
"""Its parts are groups, not files."""

LISTED_GROUPS = 12
_LEAST_GROUP = 0.015
_LEAST_FILE = 0.002
"""Of all blocks: what is smaller isn't listed by itself."""

_FILES_PER_GROUP = 12


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPart:
    """A file that a launch reads, or several that are listed together.

    :param path: of the file, or of the directory that the files have in common; the
        name of a group that is too small to be listed.
    :param blocks: data blocks expected to be read of it.
    """

    path: str
    files: int
    blocks: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchGroup:
    """Files that belong together, by their paths alone.

    :param name: a toolkit, a package, a kind of data, or else a directory.
    :param parts: all of it: the files with the most blocks, then the others
        together.
    """

    name: str
    files: int
    blocks: float
    parts: tuple[GroupPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Files of a kind, by their paths.

    :param raw_bytes: without holes and blocks of zeros.
    :param stored_bytes: what their data blocks take in the image, by codec.
    """

    kind: str
    files: int
    raw_bytes: int
    stored_bytes: Mapping[str, Interval]


def heavy_files(analysis: Analysis, launch_set: LaunchSet) -> list[HeavyFile]:
    """Return the files that add most to a launch with xz, with their cost per codec."""
    codecs = {
        name: codec for name, codec in analysis.trial.codecs.items() if codec.available
    }
    if not codecs or not analysis.devices:
        return []
    probe = codecs.get("xz") or next(iter(codecs.values()))
    files = {file.path: file for file in _by_blocks(launch_set.files)[:_CANDIDATES]}
    costs = sorted(
        (-cost_of_files(launch_set, (file,), probe, analysis.devices[0]).mid, path)
        for path, file in files.items()
    )

    def added_s(file: LaunchFile) -> dict[str, dict[str, Interval]]:
        alone = data_of(launch_set, (file,))
        sums = {name: sum_blocks(alone, codec) for name, codec in codecs.items()}
        return {
            device.name: {
                name: cost_of_blocks(total, alone, name, device).added_s
                for name, total in sums.items()
            }
            for device in analysis.devices
        }

    return [
        HeavyFile(
            path=path,
            size_bytes=files[path].size_bytes,
            blocks=round(files[path].expected_blocks, 2),
            added_s=added_s(files[path]),
        )
        for _, path in costs[:LISTED_FILES]
    ]


def launch_groups(files: Sequence[LaunchFile]) -> list[LaunchGroup]:
    """Return the groups of files that a launch reads, the one with most blocks first.

    The small ones are the parts of a last group.
    """
    members: dict[str, list[LaunchFile]] = defaultdict(list)
    for file in files:
        members[file_group(file.path)].append(file)
    order = sorted(members, key=lambda name: (-expected_blocks(members[name]), name))
    whole = sum(map(expected_blocks, members.values()))
    large = [
        name
        for name in order[:LISTED_GROUPS]
        if expected_blocks(members[name]) >= _LEAST_GROUP * whole
    ]
    groups = {name: tuple(_parts(members[name], whole)) for name in large}
    small = [_part(name, members[name]) for name in order if name not in large]
    if small:
        groups[SMALLER] = tuple(small)
        members[SMALLER] = [file for each in small for file in members[each.path]]
    return [
        LaunchGroup(
            name=name,
            files=len(members[name]),
            blocks=round(expected_blocks(members[name]), 2),
            parts=parts,
        )
        for name, parts in groups.items()
    ]


def _part(path: str, files: Sequence[LaunchFile]) -> GroupPart:
    return GroupPart(
        path=path, files=len(files), blocks=round(expected_blocks(files), 2)
    )


def _parts(files: Iterable[LaunchFile], whole: float) -> Iterator[GroupPart]:
    """Yield a group's largest files, and the others together.

    :param whole: blocks of the launch.
    """
    ordered = _by_blocks(files)
    single = [
        file
        for file in ordered[:_FILES_PER_GROUP]
        if file.expected_blocks >= _LEAST_FILE * whole
    ]
    yield from (_part(file.path, [file]) for file in single)
    others = ordered[len(single) :]
    if len(others) == 1:
        yield _part(others[0].path, others)
    elif others:
        folder = posixpath.commonpath([posixpath.dirname(each.path) for each in others])
        yield _part(folder or ".", others)


def _by_blocks(files: Iterable[LaunchFile]) -> Sequence[LaunchFile]:
    """Return files in order, those of which most blocks are read first."""
    return sorted(files, key=lambda file: (-file.expected_blocks, file.path))


def largest_shares(layout: Layout) -> dict[int, float]:
    """Return the share of the largest files in the payload, 0 to 1, by their number.

    Files of equal contents count once, empty ones not at all.
    """
    running = np.cumsum(-np.sort(-layout.sizes))
    return {
        count: int(running[min(count, len(running)) - 1]) / int(running[-1])
        for count in LARGEST
        if len(running) and running[-1]
    }


def file_kinds(stored: StoredSizes) -> list[FileKind]:
    """Return the sizes of each kind of file by codec, the largest kind first."""
    layout = stored.layout
    kinds = np.array([file_group(path) for path in layout.paths], dtype=object)
    owners = layout.files_of_blocks()
    raw_bytes = np.where(layout.holes, 0, layout.raw_bytes())
    found = []
    for kind in sorted(set(kinds.tolist())):
        members = kinds == kind
        blocks = np.flatnonzero(members[owners])
        length = int(raw_bytes[blocks].sum())
        found.append(
            FileKind(
                kind=kind,
                files=int(members.sum()),
                raw_bytes=length,
                stored_bytes={  # a block that would grow is stored
                    codec: sizes.total(blocks).map(partial(min, length))
                    for codec, sizes in stored.codecs.items()
                },
            )
        )
    return sorted(found, key=lambda each: (-each.raw_bytes, each.kind))
