"""Cold reads of single data blocks, timed on mounts with each codec.

Each block is a file of its own. One page of it is read, which brings in the whole
block, as a page fault of a launch does.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import NoInputError, StorageError
from ..squashfs.image import Image
from ..trial.result import Progress
from .mount import mounted

PAGE_BYTES = 4096
_PREPARE_READ_BYTES = 1024 * 1024
_BOOTSTRAP_DRAWS = 100
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """A data block of a file.

    :param group: what it is part of: an application, or a directory.
    :param index: of the block within the file, from 0.
    """

    group: str
    path: Path
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedBlock:
    """What reading one block took; ``stored_bytes`` are those in the image."""

    group: str
    codec: str
    raw_bytes: int
    stored_bytes: int
    median_s: float

    @property
    def compressed(self) -> bool:
        """Whether it had to be decompressed."""
        return self.stored_bytes < self.raw_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """All blocks with all codecs.

    :param blocks: codec by codec.
    :param error: by codec, how uncertain rounds that differ leave the sum of the
        blocks' medians: its standard error, relative. Medians forgive a round that was
        disturbed.
    """

    blocks: tuple[TimedBlock, ...]
    error: Mapping[str, float]


def choose_blocks(
    files: Sequence[Path], *, group: str, count: int, chance: random.Random
) -> Iterator[BlockPlace]:
    """Choose blocks of files: most by size, some by number, as launches read both.

    :param files: regular files that aren't empty, in a fixed order.
    :param count: how many to try; the same block may come twice.
    """
    if not files:
        return
    sizes = [file.stat().st_size for file in files]
    by_size = chance.choices(range(len(files)), weights=sizes, k=count * 2 // 3)
    by_number = chance.choices(range(len(files)), k=count - len(by_size))
    for number in (*by_size, *by_number):
        blocks = -(-sizes[number] // DATA_BLOCK_BYTES)
        yield BlockPlace(
            group=group, path=files[number], index=chance.randrange(blocks)
        )


def write_blocks(places: Sequence[BlockPlace], directory: Path) -> dict[str, str]:
    """Write each block to a file of its own, in order.

    Blocks of zeros, which take no room in an image, and repeated ones, which share
    theirs, are left out.

    :param directory: an empty one.
    :return: the group of each, by its file's name there.
    :raises NoInputError: if none can be read.
    """
    seen: set[bytes] = set()
    groups: dict[str, str] = {}
    for place in places:
        try:
            with place.path.open("rb") as file:
                file.seek(place.index * DATA_BLOCK_BYTES)
                contents = file.read(DATA_BLOCK_BYTES)
        except OSError:  # not for us to read, or gone: others will do
            continue
        if not contents.strip(b"\0") or contents in seen:
            continue
        seen.add(contents)
        name = f"block-{len(groups):05}"
        (directory / name).write_bytes(contents)
        groups[name] = place.group
    if not groups:
        message = "None of the sample files can be read"
        raise NoInputError(
            message, resolution="Choose another directory with --sample DIR."
        )
    return groups


def time_blocks(
    images: Mapping[str, Path],
    groups: Mapping[str, str],
    *,
    rounds: int,
    progress: Progress,
) -> Timings:
    """Time each block with each codec, several times.

    The images should stay in memory throughout, so that storage has no part in it.

    :param images: by codec, each of the files of :func:`write_blocks`.
    :param groups: that this returned.
    :raises AdvisorError: if an image can't be mounted by the kernel or read.
    """
    seconds = {codec: np.empty((rounds, len(groups))) for codec in images}
    for number in range(rounds):
        progress(f"Reading blocks with each codec (round {number + 1} of {rounds})")
        for image in images.values():
            with image.open("rb") as file:  # from then on it is in the page cache
                while file.read(_PREPARE_READ_BYTES):
                    pass
        timed = time_round(images, dict.fromkeys(groups, 1), seed=number)
        for codec, each in timed.items():
            seconds[codec][number] = each
    return Timings(
        blocks=tuple(
            block
            for codec, image in images.items()
            for block in _timed(codec, image, groups, seconds[codec])
        ),
        error={codec: standard_error(each) for codec, each in seconds.items()},
    )


def time_round(
    images: Mapping[str, Path], block_counts: Mapping[str, int], *, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Mount images and read blocks of their files, in a random order.

    Mounts of one's own make the reads cold: pages belong to a mount's files. Each file
    is read from one image after the other, so that a machine that is slower for some
    milliseconds is so for all codecs. Inodes are read before, and untimed.

    :param block_counts: by file name, how many blocks to read, from the first on.
    :return: by codec, seconds of each file, in the order of the names.
    :raises AdvisorError: if an image can't be mounted or read.
    """
    order = list(enumerate(block_counts.items()))
    random.Random(seed).shuffle(order)  # noqa: S311 # an order, not a secret
    seconds = {codec: np.empty(len(order)) for codec in images}
    with ExitStack() as stack:
        roots = [
            (codec, stack.enter_context(mounted(image)).root)
            for codec, image in images.items()
        ]
        try:
            for _, root in roots:
                for name in block_counts:
                    (root / name).stat()
            for number, (name, count) in order:
                for codec, root in roots:
                    seconds[codec][number] = _read_pages(root / name, count)
        except OSError as error:
            message = f"Cannot read from the mounted image: {error.strerror}"
            raise StorageError(
                message, resolution="Check the kernel log (dmesg)."
            ) from error
    return seconds


def _read_pages(path: Path, count: int) -> float:
    """Read a page of each of the first blocks of a file; return the seconds."""
    buffer = bytearray(PAGE_BYTES)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # A read then brings in its block, without reading on.
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        start = time.perf_counter()
        for block in range(count):
            os.preadv(descriptor, [buffer], block * DATA_BLOCK_BYTES)
        return time.perf_counter() - start
    finally:
        os.close(descriptor)


def _timed(
    codec: str, image: Path, groups: Mapping[str, str], seconds: NDArray[np.float64]
) -> Iterator[TimedBlock]:
    with Image.open(image) as opened:
        blocks = {
            entry.path: block
            for entry in opened.walk()
            if entry.blocks is not None
            for block in entry.blocks
        }
    medians = np.median(seconds, axis=0)
    for (name, group), median_s in zip(groups.items(), medians, strict=True):
        yield TimedBlock(
            group=group,
            codec=codec,
            raw_bytes=blocks[name].raw_bytes,
            stored_bytes=blocks[name].stored_bytes,
            median_s=float(median_s),
        )


def standard_error(seconds: NDArray[np.float64]) -> float:
    """Return the relative standard error of the sum of medians, by the bootstrap.

    :param seconds: rounds x blocks.
    """
    rounds = len(seconds)
    chance = np.random.default_rng(_SEED)
    sums = [
        float(np.median(seconds[draw], axis=0).sum())
        for draw in chance.integers(rounds, size=(_BOOTSTRAP_DRAWS, rounds))
    ]
    return float(np.std(sums) / np.median(sums))
