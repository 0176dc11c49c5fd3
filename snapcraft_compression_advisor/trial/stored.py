"""What files come to in an image, from their data blocks' sizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.trial.block_errors import LEAST_ERROR
from snapcraft_compression_advisor.trial.estimate import CONFIDENCE_Z

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout

ALIKE = 0.8
"""Correlation of what predictions miss of two blocks of the same few files: blocks of a
kind compress better, or worse, than predicted together. With it, of 26 sizes of a
calculator's directories 25 lay within their intervals, and 21 of 24 of an office
suite's, which it wasn't chosen by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSizes:
    """What a codec makes of every block of a layout.

    :param stored_bytes: of each; 0 for zeros.
    :param errors: of each, one standard deviation in bytes; 0 where its size is known.
    :param runs: of each, how many are taken to compress like the same one that was
        read; 0 for those that were. Empty where all were.
    """

    stored_bytes: NDArray[np.float64]
    errors: NDArray[np.float64]
    runs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def total(self, blocks: NDArray[np.int64]) -> Interval:
        """Return what some blocks come to, with the interval of 95 %.

        What predictions miss is alike for blocks of a kind. Blocks that weren't read
        differ from those that they are taken for by chance, but each run alike.
        """
        stored, errors = self.stored_bytes[blocks], self.errors[blocks]
        runs = self.runs[blocks] if len(self.runs) else np.zeros(len(blocks))
        middle = float(stored.sum())
        alike = np.where(runs > 0, LEAST_ERROR * stored, errors)
        by_chance = (runs * errors**2).sum()
        variance = by_chance + (1 - ALIKE) * (alike**2).sum() + ALIKE * alike.sum() ** 2
        error = CONFIDENCE_Z * float(np.sqrt(variance))
        return Interval(low=max(0.0, middle - error), mid=middle, high=middle + error)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSize:
    """What a file comes to.

    :param path: its first name.
    :param raw_bytes: its length, without holes and blocks of zeros.
    :param stored_bytes: what its blocks take in the image.
    """

    path: str
    raw_bytes: int
    stored_bytes: Interval


@dataclass(frozen=True, kw_only=True)
class StoredSizes:
    """What files come to in each codec's image: their data blocks, without metadata.

    :param layout: the blocks, each content once.
    :param codecs: their sizes by codec.
    """

    layout: Layout
    codecs: Mapping[str, BlockSizes]

    def freed(self, paths: Collection[str], codec: str) -> Interval | None:
        """Return by how many bytes an image shrinks without some files.

        A content that other names keep takes as much as before.

        :param paths: of files; names that have no contents are passed over.
        :returns: ``None`` for a codec that nothing is known of.
        """
        sizes = self.codecs.get(codec)
        return None if sizes is None else sizes.total(self._blocks_of_none_but(paths))

    def freed_by_parts(
        self, path: str, parts: Sequence[tuple[int, int]], codec: str
    ) -> Interval | None:
        """Return by how many bytes an image shrinks without parts of a file.

        A block that lies in a part goes. One that a part lies in becomes shorter, by
        anything from none to all of it: in the middle by the part's share of it.

        :param parts: start and end of each in bytes.
        """
        sizes = self.codecs.get(codec)
        if sizes is None:
            return None
        blocks = np.array(self.layout.blocks_of(path), dtype=np.int64)
        shares = _shares(self.layout.raw_bytes()[blocks], parts)
        whole = sizes.total(blocks[shares >= 1])
        partly = (shares > 0) & (shares < 1)
        cut = sizes.total(blocks[partly])
        taken = float((sizes.stored_bytes[blocks] * shares)[partly].sum())
        return whole + Interval(low=0.0, mid=taken, high=cut.high)

    def files(self, codec: str) -> Iterator[FileSize]:
        """Yield what each content comes to; contents of zeros alone are left out."""
        sizes = self.codecs.get(codec)
        if sizes is None:
            return
        raw_bytes = np.where(sizes.stored_bytes > 0, self.layout.raw_bytes(), 0)
        for number, path in enumerate(self.layout.paths):
            first, end = self.layout.first_block[number : number + 2]
            raw = int(raw_bytes[first:end].sum())
            if raw:
                blocks = np.arange(first, end)
                yield FileSize(
                    path=path, raw_bytes=raw, stored_bytes=sizes.total(blocks)
                )

    def _blocks_of_none_but(self, paths: Collection[str]) -> NDArray[np.int64]:
        """Return the blocks that no other files have."""
        wanted = frozenset(paths)
        contents = {self.layout.same_as.get(path, path) for path in wanted}
        gone = (
            self.layout.blocks_of(content)
            for content in contents
            if content in self.layout.file_numbers
            and self._names.get(content, frozenset((content,))) <= wanted
        )
        numbers = [number for blocks in gone for number in blocks]
        return np.array(sorted(numbers), dtype=np.int64)

    @cached_property
    def _names(self) -> Mapping[str, frozenset[str]]:
        """All names of each content that has several."""
        names: dict[str, set[str]] = {}
        for name, content in self.layout.same_as.items():
            names.setdefault(content, {content}).add(name)
        return {content: frozenset(each) for content, each in names.items()}


def _shares(
    raw_bytes: NDArray[np.int64], parts: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """Return what share of each of a file's blocks lies in its parts."""
    starts = np.arange(len(raw_bytes)) * DATA_BLOCK_BYTES
    ends = starts + raw_bytes
    covered = np.zeros(len(raw_bytes))
    for start, end in parts:
        covered += np.clip(np.minimum(ends, end) - np.maximum(starts, start), 0, None)
    shares: NDArray[np.float64] = covered / raw_bytes
    return shares
