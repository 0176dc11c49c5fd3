"""Files' data blocks as one codec stores them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


class StoredBlock(NamedTuple):
    """A data block as an image holds it.

    :param raw_bytes: its length in the file.
    :param stored_bytes: its length in the image; 0 for a block of zeros.
    :param compressed: whether the kernel has to decompress it.
    """

    raw_bytes: int
    stored_bytes: int
    compressed: bool


class BlockPlaces(Protocol):
    """Knows which blocks a file has."""

    def blocks_of(self, path: str) -> range:
        """Return the numbers of a file's blocks; none for a file without contents."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredBlocks:
    """The data blocks of files, all in one row: a launch may read 100,000.

    Arrays have an element for each block.

    :param places: which of them a file has.
    :param raw_bytes: their lengths in the files.
    :param stored_bytes: their lengths in the image; 0 for blocks of zeros.
    :param compressed: whether the kernel has to decompress them.
    """

    places: BlockPlaces
    raw_bytes: NDArray[np.int64]
    stored_bytes: NDArray[np.float64]
    compressed: NDArray[np.bool_]

    def __getitem__(self, path: str) -> tuple[StoredBlock, ...]:
        """Return the blocks of one file."""
        blocks = self.places.blocks_of(path)
        part = slice(blocks.start, blocks.stop)
        columns = (self.raw_bytes, self.stored_bytes, self.compressed)
        rows = zip(*(column[part].tolist() for column in columns), strict=True)
        return tuple(
            StoredBlock(raw_bytes=raw, stored_bytes=int(stored), compressed=compressed)
            for raw, stored, compressed in rows
        )

    def with_files_of(self, other: StoredBlocks, paths: Iterable[str]) -> StoredBlocks:
        """Return these blocks, those of some files as another image holds them.

        :param paths: of files that are the same in both; one that either of them
            doesn't have stays as it is.
        """
        stored_bytes, compressed = self.stored_bytes.copy(), self.compressed.copy()
        for path in paths:
            own, its = self.places.blocks_of(path), other.places.blocks_of(path)
            if len(own) == len(its):
                here, there = slice(own.start, own.stop), slice(its.start, its.stop)
                stored_bytes[here] = other.stored_bytes[there]
                compressed[here] = other.compressed[there]
        return replace(self, stored_bytes=stored_bytes, compressed=compressed)

    def __eq__(self, other: object) -> bool:
        """Tell whether these are the same sizes; files aren't compared."""
        if not isinstance(other, StoredBlocks):
            return NotImplemented
        return (
            np.array_equal(self.raw_bytes, other.raw_bytes)
            and np.array_equal(self.stored_bytes, other.stored_bytes)
            and np.array_equal(self.compressed, other.compressed)
        )

    __hash__ = None  # type: ignore[assignment] # arrays have none either


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranges:
    """Places of files whose blocks stand one behind the other."""

    ranges: Mapping[str, range]

    def blocks_of(self, path: str) -> range:
        return self.ranges.get(path, range(0))


def blocks_of_files(files: Mapping[str, Sequence[StoredBlock]]) -> StoredBlocks:
    """Return the data blocks of files, given by path."""
    ranges: dict[str, range] = {}
    rows: list[StoredBlock] = []
    for path, blocks in files.items():
        ranges[path] = range(len(rows), len(rows) + len(blocks))
        rows += blocks
    return StoredBlocks(
        places=_Ranges(ranges=ranges),
        raw_bytes=np.array([row.raw_bytes for row in rows], dtype=np.int64),
        stored_bytes=np.array([row.stored_bytes for row in rows], dtype=np.float64),
        compressed=np.array([row.compressed for row in rows], dtype=np.bool_),
    )


def no_blocks() -> StoredBlocks:
    """Return those of no file."""
    return blocks_of_files({})
