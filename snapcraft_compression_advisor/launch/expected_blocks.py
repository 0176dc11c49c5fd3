"""The data blocks that a launch is expected to read, and what they come to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcraft_compression_advisor.launch.launch_set import LaunchSet
    from snapcraft_compression_advisor.trial.result import (
        BlockPlaces,
        StoredBlocks,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSums:
    """What the blocks of a launch come to in an image; none of zeros among them.

    All figures are expectations where the launch was guessed.

    :param runs: of adjacent blocks of a file.
    :param blocks: that are read.
    :param raw_bytes: their contents.
    :param stored_bytes: what storage delivers.
    :param compressed_blocks: those that have to be decompressed.
    :param compressed_raw_bytes: their contents.
    :param compressed_stored_bytes: what the decompressor reads of them.
    """

    runs: float = 0
    blocks: float = 0
    raw_bytes: float = 0
    stored_bytes: float = 0
    compressed_blocks: float = 0
    compressed_raw_bytes: float = 0
    compressed_stored_bytes: float = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedBlocks:
    """The blocks of a launch's files, in the order of the files.

    Arrays have an element for each block.

    :param places: that tell which blocks these are.
    :param file_count: how many files the launch reads.
    :param numbers: of the blocks.
    :param shares: in which they are expected to be read.
    :param files: which of the launch's files they are of.
    :param stretches: numbers of the stretches without a gap that they are in.
    """

    places: BlockPlaces
    file_count: int
    numbers: NDArray[np.int64]
    shares: NDArray[np.float64]
    files: NDArray[np.int64]
    stretches: NDArray[np.int64]

    def sums(self, blocks: StoredBlocks) -> BlockSums:
        """Sum up the blocks as one codec stores them.

        Each counts by the share in which it is expected to be read.

        :param blocks: of the same places.
        """
        stored = blocks.stored_bytes[self.numbers]
        filled = stored > 0
        numbers, stored = self.numbers[filled], stored[filled]
        shares, raw = self.shares[filled], blocks.raw_bytes[numbers]
        compressed = blocks.compressed[numbers]
        unpacked = np.where(compressed, shares, 0.0)
        return BlockSums(
            runs=expected_runs(shares, self._before(filled)),
            blocks=float(shares.sum()),
            raw_bytes=float((shares * raw).sum()),
            stored_bytes=float((shares * stored).sum()),
            compressed_blocks=float(unpacked.sum()),
            compressed_raw_bytes=float((unpacked * raw).sum()),
            compressed_stored_bytes=float((unpacked * stored).sum()),
        )

    def stored_bytes_by_file(self, blocks: StoredBlocks) -> list[float]:
        """Return what is expected to be read of each of the launch's files."""
        stored = self.shares * blocks.stored_bytes[self.numbers]
        by_file: list[float] = np.bincount(
            self.files, weights=stored, minlength=self.file_count
        ).tolist()
        return by_file

    def _before(self, filled: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return for each of some blocks the share of the one before it.

        That is 0 for the first of a stretch. What isn't among them ends no stretch.
        """
        shares, stretches = self.shares[filled], self.stretches[filled]
        before = np.zeros(len(shares))
        goes_on = stretches[1:] == stretches[:-1]
        before[1:][goes_on] = shares[:-1][goes_on]
        return before


def expect_blocks(launch_set: LaunchSet, places: BlockPlaces) -> ExpectedBlocks:
    """Return the blocks that a launch is expected to read.

    :param places: of the files' blocks; a file that isn't there has none.
    """
    ranges: list[tuple[int, int, float, int, int]] = []
    stretch = 0
    for number, file in enumerate(launch_set.files):
        blocks, end = places.blocks_of(file.path), None
        for first, last, share in file.ranges():
            stretch += first != end
            end = last + 1
            part = blocks[first:end]
            ranges.append((part.start, len(part), share, number, stretch))
    table = np.array(ranges, dtype=np.float64).reshape(len(ranges), 5)
    counts = table[:, 1].astype(np.int64)
    starts, shares, files, stretches = (
        np.repeat(table[:, column], counts) for column in (0, 2, 3, 4)
    )
    steps = np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ExpectedBlocks(
        places=places,
        file_count=len(launch_set.files),
        numbers=starts.astype(np.int64) + steps,
        shares=shares,
        files=files.astype(np.int64),
        stretches=stretches.astype(np.int64),
    )


def expected_runs(
    shares: NDArray[np.float64], shares_before: NDArray[np.float64]
) -> float:
    """Return how many runs of adjacent blocks are expected.

    Fewest where neighbours are read together whenever they can be, most where each is
    read by its own chance. Recorded launches lie between: about the geometric mean of
    both (``study/static_fit.py`` prints how far off). Where all shares are 1, it
    is the number of runs.

    :param shares: in which each block is read.
    :param shares_before: those of the block before it in the file, 0 where there is
        none.
    """
    fewest = float(np.maximum(0.0, shares - shares_before).sum())
    most = float((shares * (1 - shares_before)).sum())
    return math.sqrt(fewest * most)
