"""What a recorded launch reads in a payload, which may be a newer one.

Recordings from a directory, and traces, name more than a mount reads; by how much was
measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..payload.inventory import block_count
from ..squashfs.entry import EntryKind
from .guess.block_classes import file_name_class
from .guess.priors import GuessedApp, Priors, built_in_priors
from .launch_set import WAITED_SHARE, LaunchFile, LaunchSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..payload.inventory import Inventory
    from ..payload.stack import Role
    from .profile import (
        BlockRange,
        LaunchPart,
        LaunchProfile,
        ProfileFile,
        RecordedLaunch,
    )


APPLICATIONS = 24
"""Applications that the figures below were measured on, recorded both ways:
``study/data/traced-launches.csv``, fitted by ``study/share_fit.py``."""

READ_SHARE = Interval(low=0.85, mid=0.99, high=1.15)
"""Bytes read, by residency, per byte that is expected of a trace's blocks: the 90 %
prediction interval, over applications left out of the counts that shares come from."""

FILE_READ_SHARE = Interval(low=0.12, mid=1.0, high=1.55)
"""Likewise of the only mapped blocks of one file of which nothing was counted:
the least and the most that was read of an application's largest. Such a program may
read much less than others of its size do."""

SEEK_SHARE = Interval(low=0.84, mid=0.98, high=1.13)
"""Likewise of runs of adjacent blocks."""

WHOLE_READ_SHARE = Interval(low=0.37, mid=0.6, high=0.96)
"""Bytes read per byte of all blocks that a trace names. Never more than these."""

WHOLE_SEEK_SHARE = Interval(low=0.96, mid=1.31, high=1.79)
"""Likewise of runs of adjacent blocks; gaps between blocks read make more of them."""

WHOLE_MEASURED = (0.17, 0.94)
"""The least and the most of these bytes that one of the applications read."""

DIRECTORY_READ_SHARE = Interval(low=0.9, mid=1.02, high=1.16)
"""Bytes that a mount reads per byte that a recording from the directory names: the 90 %
prediction interval over ``study/data/directory-launches.csv`` (``study/share_fit.py``).
"""

DIRECTORY_SEEK_SHARE = Interval(low=0.92, mid=0.99, high=1.07)
"""Likewise of runs of adjacent blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedProfile:
    """A profile as far as it fits a payload.

    :param fitting_share: of the profile's blocks, from 0 to 1.
    :param gone: files that the payload doesn't contain.
    :param changed: files of another size; their blocks are used as far as they reach.
    :param part_seconds: what each part of its cold launch took, in their order.
    """

    launch_set: LaunchSet
    fitting_share: float
    gone: tuple[str, ...]
    changed: tuple[str, ...]
    warm_s: float | None
    part_seconds: tuple[tuple[LaunchPart, float], ...] = ()


def fit_profile(profile: LaunchProfile, inventory: Inventory) -> FittedProfile:
    """Find a profile's blocks in the app's own payload, which may be a newer one."""
    metadata = profile.metadata_blocks
    if profile.payloads:
        metadata = profile.payloads[0].metadata_blocks
    return _fit(profile, profile.files, inventory, metadata)


def fit_layer(
    profile: LaunchProfile, role: Role, name: str, inventory: Inventory
) -> FittedProfile | None:
    """Find what a launch reads of one of the snaps under it, of any revision.

    :return: ``None`` if the profile doesn't say: it is of schema 1, or the launch
        had another snap there.
    """
    for each in profile.payloads or ():
        if (each.role, each.name) == (role, name):
            return _fit(profile, each.files, inventory, each.metadata_blocks)
    return None


def _fit(
    profile: LaunchProfile,
    recorded: Sequence[ProfileFile],
    inventory: Inventory,
    metadata_blocks: int | None,
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
            waited_share=waited_share(profile.recorded),
            metadata_blocks=metadata_blocks,
            window=profile.recorded.window if profile.recorded else None,
        ),
        fitting_share=fitting / blocks if blocks else 1.0,
        gone=gone,
        changed=changed,
        warm_s=profile.warm_s,
        part_seconds=profile.recorded.part_seconds if profile.recorded else (),
    )


def _shares(
    profile: LaunchProfile, files: tuple[LaunchFile, ...], inventory: Inventory
) -> tuple[Interval, Interval]:
    """Return what of the named blocks is read, and what of the seeks is done."""
    if profile.source == "trace":
        return traced_shares(files)
    if profile.source == "directory":
        return directory_shares(files)
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


def waited_share(recorded: RecordedLaunch | None) -> Interval:
    """Return what of the work on its blocks a recorded launch waits for.

    A launch from an uncompressed image that keeps more than one processor busy goes on
    with that much of its work while a block is decompressed for one of its threads. The
    cold launch of an installed snap is from compressed images, so its warm launch
    tells. If that wasn't recorded, it is as for a launch that is guessed.
    """
    if recorded is None:
        return WAITED_SHARE
    cpu_time, wall_s = recorded.cold_cpu_s, recorded.cold_s
    if recorded.parts:
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


def directory_shares(files: Sequence[LaunchFile]) -> tuple[Interval, Interval]:
    """Return what a mount reads per byte, and seeks per run, of a directory's launch.

    Its files that were mapped, but never seen so, have shares as in a trace; the more
    of the launch they are, the more its interval is that of a trace.
    """
    traced = [file for file in files if file.shares]
    if not traced:
        return DIRECTORY_READ_SHARE, DIRECTORY_SEEK_SHARE
    part = sum(file.expected_blocks for file in traced) / sum(
        file.expected_blocks for file in files
    )
    read, seek = traced_shares(traced)
    return (
        read * part + DIRECTORY_READ_SHARE * (1 - part),
        seek * part + DIRECTORY_SEEK_SHARE * (1 - part),
    )


def traced_shares(files: Sequence[LaunchFile]) -> tuple[Interval, Interval]:
    """Return what is read per byte, and sought per run, that a traced launch names.

    What was seen read is read: bytes and runs of a launch that maps no file are known.

    :param files: of the launch. Those of a profile without shares may have been mapped,
        all of them: earlier versions didn't tell.
    """
    if not any(file.shares for file in files):
        return WHOLE_READ_SHARE, WHOLE_SEEK_SHARE
    expected = sum(file.expected_blocks for file in files)
    named = sum(file.block_count for file in files)
    seen = {file.path: _blocks_seen(file) for file in files}
    if sum(seen.values()) == named:
        return Interval.exactly(1.0), Interval.exactly(1.0)
    priors = built_in_priors()
    largest = max(
        (
            file.expected_blocks - seen[file.path]
            for file in files
            if not is_counted(file.path, priors)
        ),
        default=0.0,
    )
    share = read_interval(
        largest=largest / expected,
        least=sum(seen.values()) / expected,
        most=named / expected,
    )
    return share, SEEK_SHARE


def is_counted(path: str, priors: Priors) -> bool:
    """Return whether shares of a program or library come from recordings."""
    # Every one of them has a block of its linking tables.
    return priors.blocks.counted[f"linking {file_name_class(path)}"] > 0


def read_interval(*, largest: float, least: float, most: float) -> Interval:
    """Return what is read per byte expected.

    Errors of many files even out, those of one large program don't. Both are
    independent, so the distances add up by their squares (ISO/IEC Guide 98-3, 5.1.2).

    All are bytes per byte expected.

    :param largest: expected of the largest mapping of one file that wasn't counted.
    :param least: seen read.
    :param most: seen read or mapped.
    """
    below = math.hypot(
        READ_SHARE.mid - READ_SHARE.low, largest * (1 - FILE_READ_SHARE.low)
    )
    above = math.hypot(
        READ_SHARE.high - READ_SHARE.mid, largest * (FILE_READ_SHARE.high - 1)
    )
    mid = READ_SHARE.mid
    found = Interval(low=mid - below, mid=mid, high=mid + above)
    return found.map(lambda end: min(max(end, least), most))


def _blocks_seen(file: LaunchFile) -> int:
    return sum(last - first + 1 for first, last, share in file.ranges() if share == 1)
