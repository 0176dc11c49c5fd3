"""Cold reads of metadata blocks, timed on mounts with each codec.

A name is looked up that isn't there, in directories of which each has a metadata block
of its own for its first names, and one for its inode. As their listings are longer than
a block, they have an index, which stands with the inode; so a look-up reads both
(``squashfs_lookup`` in Linux's ``fs/squashfs/namei.c``).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import METADATA_BLOCK_BYTES
from ..core.units import Interval
from ..trial.result import Progress
from .block_timing import bring_into_memory, kernel_mount

BLOCKS_PER_LOOK_UP = 2

_DIRECTORIES = 72
_UNTIMED = 12
"""Look-ups that bring other blocks into the eight of squashfs's cache."""
_RECORD_BYTES = 8
"""Of a name in a listing (``struct squashfs_dir_entry``)."""
_ABSENT = "!"
"""Before all names that packages have; the look-up ends with the first of those."""
_TIMES_S = 2**32
_LEAST_MISS = 0.1
"""Blocks of inodes and of directories differ by more than that."""
_SEED = 1


def write_directories(names: Sequence[str], tree: Path) -> None:
    """Write directories of empty files.

    Their times are random: inodes of real files differ as much, in other fields.

    :param names: of real files, which the files are named after.
    """
    chance = random.Random(_SEED)  # noqa: S311 # contents, not secrets
    for number in range(_DIRECTORIES):
        directory = tree / _directory(number)
        directory.mkdir()
        for name in _long_listing(names, chance):
            path = directory / name
            path.touch()
            os.utime(path, (0, chance.randrange(_TIMES_S)))


def _directory(number: int) -> str:
    return f"directory-{number:03}"


def _long_listing(names: Sequence[str], chance: random.Random) -> set[str]:
    """Return names that a listing of more than a metadata block has."""
    listing: set[str] = set()
    left_bytes = METADATA_BLOCK_BYTES
    for number in count():
        name = chance.choice(names)
        if name in listing or name <= _ABSENT:
            name = f"{number}-{name}"[:200]
        listing.add(name)
        left_bytes -= _RECORD_BYTES + len(os.fsencode(name))
        if left_bytes < 0:
            break
    return listing


def time_metadata(
    images: Mapping[str, Path], *, rounds: int, progress: Progress
) -> dict[str, Interval]:
    """Time metadata blocks with each codec, several times.

    :param images: by codec, each with the directories of :func:`write_directories`;
        they should stay in memory throughout.
    :return: by codec, seconds of a block; the ends are those of the rounds.
    :raises ToolError: if the kernel doesn't mount an image.
    """
    looked_up = _DIRECTORIES - _UNTIMED
    seconds = {codec: np.empty((rounds, looked_up)) for codec in images}
    for number in range(rounds):
        progress(f"Reading metadata with each codec (round {number + 1} of {rounds})")
        for image in images.values():
            bring_into_memory(image)
        for codec, each in _time_round(images, seed=number).items():
            seconds[codec][number] = each
    return {codec: _block_s(each) for codec, each in seconds.items()}


def _time_round(
    images: Mapping[str, Path], *, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Mount images, and look up a name in each directory, in a random order."""
    order = [*range(_DIRECTORIES)]
    random.Random(seed).shuffle(order)  # noqa: S311 # an order, not a secret
    seconds: dict[str, list[float]] = {codec: [] for codec in images}
    with ExitStack() as stack:
        roots = [(codec, kernel_mount(stack, image)) for codec, image in images.items()]
        for _, root in roots:
            for number in order:
                (root / _directory(number)).stat()
        for number in order:
            for codec, root in roots:
                path = f"{root}/{_directory(number)}/{_ABSENT}"
                start_s = time.perf_counter()
                os.access(path, os.F_OK)
                seconds[codec].append(time.perf_counter() - start_s)
    return {codec: np.array(each[_UNTIMED:]) for codec, each in seconds.items()}


def _block_s(seconds: NDArray[np.float64]) -> Interval:
    """Return the seconds of a block from rounds x look-ups."""
    mid = float(np.median(seconds, axis=0).mean()) / BLOCKS_PER_LOOK_UP
    rounds_s = seconds.mean(axis=1) / BLOCKS_PER_LOOK_UP
    return Interval(
        low=min(mid * (1 - _LEAST_MISS), float(rounds_s.min())),
        mid=mid,
        high=max(mid * (1 + _LEAST_MISS), float(rounds_s.max())),
    )
