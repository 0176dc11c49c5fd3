"""What a recorded launch reads in a payload, which may be a newer one.

Recordings from a directory name other blocks than a mount reads; how many was measured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..payload.inventory import block_count
from ..squashfs.entry import EntryKind
from .guess.priors import GuessedApp, built_in_priors
from .launch_set import WAITED_SHARE, LaunchFile, LaunchSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..payload.inventory import Inventory
    from ..payload.stack import Role
    from .profile import BlockRange, LaunchProfile, ProfileFile

DIRECTORY_READ_SHARE = Interval(low=0.9, mid=1.02, high=1.16)
"""Bytes that a mount reads per byte that a recording from the directory names: the 90 %
prediction interval over ``study/data/directory-launches.csv`` (``study/share_fit.py``).
"""

DIRECTORY_SEEK_SHARE = Interval(low=0.92, mid=0.99, high=1.07)
"""The same of runs of adjacent blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedProfile:
    """A profile as far as it fits a payload.

    :param fitting_share: of the profile's blocks, from 0 to 1.
    :param gone: files that the payload doesn't contain.
    :param changed: files of another size; their blocks are used as far as they reach.
    """

    launch_set: LaunchSet
    fitting_share: float
    gone: tuple[str, ...]
    changed: tuple[str, ...]
    warm_s: float | None


def fit_profile(profile: LaunchProfile, inventory: Inventory) -> FittedProfile:
    """Find a profile's blocks in the app's own payload, which may be a newer one."""
    return _fit(profile, profile.files, inventory)


def fit_layer(
    profile: LaunchProfile, role: Role, name: str, inventory: Inventory
) -> FittedProfile | None:
    """Find what a launch reads of one of the snaps under it, of any revision.

    :return: ``None`` if the profile doesn't say: it is of schema 1, or the launch
        had another snap there.
    """
    for each in profile.payloads or ():
        if (each.role, each.name) == (role, name):
            return _fit(profile, each.files, inventory)
    return None


def _fit(
    profile: LaunchProfile, recorded: Sequence[ProfileFile], inventory: Inventory
) -> FittedProfile:
    known = sorted(recorded, key=lambda file: file.path)
    there = [file for file in known if _is_there(inventory, file.path)]
    gone = tuple(file.path for file in known if not _is_there(inventory, file.path))
    entries = inventory.entries
    changed = tuple(e.path for e in there if entries[e.path].size_bytes != e.size)
    files = tuple(_fitting_files(there, inventory))
    blocks = sum(last - first + 1 for file in known for first, last in file.blocks)
    fitting = sum(file.block_count for file in files)
    read_share, seek_share = _shares(profile, files, inventory)
    return FittedProfile(
        launch_set=LaunchSet(
            app=profile.app,
            source="static" if profile.source == "static" else "recorded",
            method=None if profile.source == "static" else profile.source,
            files=files,
            read_share=read_share,
            seek_share=seek_share,
            waited_share=waited_share(profile),
            window=profile.recorded.window if profile.recorded else None,
        ),
        fitting_share=fitting / blocks if blocks else 1.0,
        gone=gone,
        changed=changed,
        warm_s=profile.warm_s,
    )


def reach_to(guess: LaunchSet, fitted: FittedProfile) -> FittedProfile:
    """Return a profile whose interval reaches to what is guessed of the launch.

    :param fitted: ended by a window that may not be the app's own.
    """
    known = fitted.launch_set
    read = sum(file.expected_bytes for file in known.files)
    guessed = sum(file.expected_bytes for file in guess.files) * guess.read_share.high
    high = max(known.read_share.high, guessed / read if read else 1.0)
    share, seeks = (
        replace(each, high=max(each.high, high))
        for each in (known.read_share, known.seek_share)
    )
    return replace(
        fitted, launch_set=replace(known, read_share=share, seek_share=seeks)
    )


def _shares(
    profile: LaunchProfile, files: tuple[LaunchFile, ...], inventory: Inventory
) -> tuple[Interval, Interval]:
    """Return the shares of named blocks that are read, and of seeks that are done."""
    if profile.source == "directory":
        return DIRECTORY_READ_SHARE, DIRECTORY_SEEK_SHARE
    if profile.source != "static":
        return Interval.exactly(1.0), Interval.exactly(1.0)
    return built_in_priors().shares(
        files,
        GuessedApp(
            kind="",  # a profile doesn't say, nor what the guess was blind to
            payload_blocks=inventory.data_blocks,
            payload_files=inventory.file_count,
            modules_missed=True,
        ),
    )


def waited_share(profile: LaunchProfile) -> Interval:
    """Return the share of the work on its blocks that a recorded launch waits for.

    A launch from an uncompressed image that keeps more than one processor busy goes on
    with that much of its work while a block is decompressed for one of its threads. The
    cold launch of an installed snap is from compressed images, so its warm launch
    tells. If that wasn't recorded, it is as for a launch that is guessed.
    """
    recorded = profile.recorded
    if recorded is None:
        return WAITED_SHARE
    cpu_time, wall_s = recorded.cold_cpu_s, recorded.cold_s
    if profile.payloads is not None:
        cpu_time, wall_s = recorded.warm_cpu_s, recorded.warm_s
    if cpu_time is None or not wall_s:
        return WAITED_SHARE
    busy_s = cpu_time.user + cpu_time.system
    return Interval.exactly(1 / max(1.0, busy_s / wall_s))


def _fitting_files(
    files: list[ProfileFile], inventory: Inventory
) -> Iterator[LaunchFile]:
    """Yield what is left of each file; hard links to one file count once."""
    seen: set[int] = set()
    for file in files:
        entry = inventory.entries[file.path]
        blocks = tuple(_within(file.blocks, block_count(entry.size_bytes)))
        if blocks and entry.identity not in seen:
            seen.add(entry.identity)
            yield LaunchFile(
                path=file.path,
                size_bytes=entry.size_bytes,
                blocks=blocks,
                shares=(file.shares or ())[: len(blocks)],
            )


def _within(blocks: tuple[BlockRange, ...], count: int) -> Iterator[tuple[int, int]]:
    for first, last in blocks:
        if first < count:
            yield first, min(last, count - 1)


def _is_there(inventory: Inventory, path: str) -> bool:
    entry = inventory.entries.get(path)
    return entry is not None and entry.kind is EntryKind.FILE
