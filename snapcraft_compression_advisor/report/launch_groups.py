"""Where a launch goes: its blocks by toolkit and package."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..payload.families import file_family

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..launch.launch_set import LaunchFile

SMALLER = "smaller groups"
"""Its parts are groups, not files."""

LISTED_GROUPS = 12
_LEAST_GROUP = 0.015
_LEAST_FILE = 0.002
"""Of all blocks: what is smaller isn't listed by itself."""

_FILES_PER_GROUP = 12
_ROOT = "."


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


def launch_groups(files: Sequence[LaunchFile]) -> list[LaunchGroup]:
    """Return what a launch reads by groups, the one with the most blocks first.

    The small ones are the parts of a last group.
    """
    members: dict[str, list[LaunchFile]] = defaultdict(list)
    for file in files:
        members[file_family(file.path)].append(file)
    order = sorted(members, key=lambda name: (-_blocks(members[name]), name))
    whole = sum(map(_blocks, members.values()))
    large = [
        name
        for name in order[:LISTED_GROUPS]
        if _blocks(members[name]) >= _LEAST_GROUP * whole
    ]
    groups = [
        _group(name, members[name], _parts(members[name], whole)) for name in large
    ]
    small = {name: members[name] for name in order if name not in large}
    if small:
        parts = [_part(name, found) for name, found in small.items()]
        groups.append(
            _group(SMALLER, [f for each in small.values() for f in each], parts)
        )
    return groups


def _group(
    name: str, files: Sequence[LaunchFile], parts: Iterable[GroupPart]
) -> LaunchGroup:
    return LaunchGroup(
        name=name, files=len(files), blocks=round(_blocks(files), 2), parts=tuple(parts)
    )


def _part(path: str, files: Sequence[LaunchFile]) -> GroupPart:
    return GroupPart(path=path, files=len(files), blocks=round(_blocks(files), 2))


def _parts(files: Iterable[LaunchFile], whole: float) -> Iterator[GroupPart]:
    """Yield a group's largest files, and the others together.

    :param whole: blocks of the launch.
    """
    ordered = sorted(files, key=lambda file: (-file.expected_blocks, file.path))
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
        yield _part(folder or _ROOT, others)


def _blocks(files: Iterable[LaunchFile]) -> float:
    return sum(file.expected_blocks for file in files)
