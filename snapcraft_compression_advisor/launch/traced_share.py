"""What a launch reads of what its trace names, measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..core.units import Interval
from .guess.block_classes import file_name_class
from .guess.priors import built_in_priors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .guess.priors import Priors
    from .launch_set import LaunchFile

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
    """Return whether shares of a program or library come from recordings of its like.

    Every one of them has a block of its linking tables.
    """
    return priors.blocks.counted[f"linking {file_name_class(path)}"] > 0


def read_interval(*, largest: float, least: float, most: float) -> Interval:
    """Return what is read per byte expected.

    Errors of many files even out, those of one large program don't. Both are
    independent, so the distances add up by their squares (ISO/IEC Guide 98-3, 5.1.2).

    :param largest: bytes expected of the mapping of one file, the largest of which
        nothing was counted, per byte expected.
    :param least: bytes seen read, per byte expected.
    :param most: bytes seen read or mapped, likewise.
    """
    below = math.hypot(
        READ_SHARE.mid - READ_SHARE.low, largest * (1 - FILE_READ_SHARE.low)
    )
    above = math.hypot(
        READ_SHARE.high - READ_SHARE.mid, largest * (FILE_READ_SHARE.high - 1)
    )
    low, mid, high = READ_SHARE.mid - below, READ_SHARE.mid, READ_SHARE.mid + above
    return Interval(low=low, mid=mid, high=high).map(
        lambda end: min(max(end, least), most)
    )


def _blocks_seen(file: LaunchFile) -> int:
    return sum(last - first + 1 for first, last, share in file.ranges() if share == 1)
