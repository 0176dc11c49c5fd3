"""What files come to in an image, how far that is off, and which don't compress."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import Interval, counted
from ..payload.layout import Layout
from .census import Census, Phase, Sample, nearest_known

ALIKE = 0.8
"""Correlation of what predictions miss of two blocks of the same few files: blocks of a
kind compress better, or worse, than predicted together. With it, of 26 sizes of a
calculator's directories 25 lay within their intervals, and 21 of 24 of an office
suite's, which it wasn't chosen by."""
FILES_CONFIDENCE_Z = 2.17
"""Two-sided 97 % of a normal distribution: what predictions miss of a few files is
skewed, and :data:`ALIKE` was found with it."""
LEAST_ERROR = 0.05
"""Of a block that wasn't tried: no prediction holds for all kinds of contents alike."""
PLIABLE_SHARE = 0.25
"""A block that a fast codec makes shorter by less can be off by less, in proportion."""
LEAST_PLIABLE = 0.1
LEAST_RATIO = 0.95
"""A block that keeps so much of its length doesn't compress."""
LEAST_BYTES = 4096
"""Shorter blocks hardly ever compress, with any content, and don't count."""
_LEAST_OF_FILE = 0.5
"""A file counts as a whole if so much of what it takes is such blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSizes:
    """What a codec makes of every block of a layout.

    :param stored_bytes: of each; 0 for zeros.
    :param errors: of each, one standard deviation in bytes; 0 if its size is known.
    :param runs: of each, how many are taken to compress like the same one that was
        read; 0 for those that were. Empty if all were.
    """

    stored_bytes: NDArray[np.float64]
    errors: NDArray[np.float64]
    runs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def total(self, blocks: NDArray[np.int64]) -> Interval:
        """Return the bytes of some blocks, with the interval of 95 %.

        What predictions miss is alike for blocks of a kind (:data:`ALIKE`). Blocks that
        weren't read differ from those that they are taken for by chance, but each run
        alike.
        """
        stored, errors = self.stored_bytes[blocks], self.errors[blocks]
        runs = self.runs[blocks] if len(self.runs) else np.zeros(len(blocks))
        alike = np.where(runs > 0, LEAST_ERROR * stored, errors)
        variance = (
            (runs * errors**2).sum()
            + (1 - ALIKE) * (alike**2).sum()
            + ALIKE * alike.sum() ** 2
        )
        middle, error = (
            float(stored.sum()),
            FILES_CONFIDENCE_Z * float(np.sqrt(variance)),
        )
        return Interval(low=max(0.0, middle - error), mid=middle, high=middle + error)


@dataclass(frozen=True, kw_only=True)
class StoredSizes:
    """What files come to in each codec's image: their data blocks, without metadata."""

    layout: Layout
    codecs: Mapping[str, BlockSizes]

    def freed(self, paths: Collection[str], codec: str) -> Interval | None:
        """Return by how many bytes an image shrinks without some files.

        A content that other names keep takes as much as before.

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
    """Return the share of each of a file's blocks that lies in its parts."""
    starts = np.arange(len(raw_bytes)) * DATA_BLOCK_BYTES
    ends = starts + raw_bytes
    covered = np.zeros(len(raw_bytes))
    for start, end in parts:
        covered += np.clip(np.minimum(ends, end) - np.maximum(starts, start), 0, None)
    shares: NDArray[np.float64] = covered / raw_bytes
    return shares


def block_errors(
    census: Census,
    phases: Sequence[Phase],
    predicted_bytes: Sequence[NDArray[np.float64]],
    sample: Sample,
    stored_bytes: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the errors of all blocks' sizes, and their runs.

    A block that was looked at is off by as much as the closest look at it fails on the
    blocks that were tried. One that wasn't read is taken to compress like the next one
    that was, and is off by as much as neighbours differ.

    :param predicted_bytes: for each phase, the predicted size of every block in it.
    :returns: one standard deviation per byte of each block's size, 0 for those tried;
        and see :attr:`BlockSizes.runs`.
    """
    scatters = []
    for phase, predicted in zip(phases, predicted_bytes, strict=True):
        places = np.searchsorted(phase.members, sample.members)
        missed = stored_bytes - predicted[places]
        scatter = _relative(missed, predicted[places], phase.raw_bytes[places])
        scatters.append(np.full(len(phase.members), scatter))
    blocks, layout = census.blocks, census.layout
    pliable = np.clip((1 - blocks.ratios[:, 0]) / PLIABLE_SHARE, LEAST_PLIABLE, 1.0)
    errors = np.where(blocks.zeros, 0.0, census.closest(phases, scatters) * pliable)
    errors[np.searchsorted(blocks.members, sample.members)] = 0.0
    every = np.zeros(layout.block_count)
    runs = np.zeros(0, dtype=np.int64)
    if len(errors) and not blocks.complete:
        nearest = nearest_known(layout, blocks)
        ratios = blocks.ratios[:, 0]
        differ = _relative(np.diff(ratios), ratios[1:], np.ones(len(ratios) - 1))
        every = differ * pliable[nearest]
        runs = np.bincount(nearest)[nearest] - 1  # without the one that was read
        runs[blocks.members] = 0
    every[blocks.members] = errors
    return every, runs


def _relative(
    missed: NDArray[np.float64],
    predicted: NDArray[np.float64],
    lengths: NDArray[np.float64],
) -> float:
    """Return the root of the mean square of residuals, relative to that of sizes."""
    squares = float(((predicted / lengths) ** 2).sum())
    if not squares:
        return 1.0
    return max(LEAST_ERROR, float(np.sqrt(((missed / lengths) ** 2).sum() / squares)))


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompressibleFile:
    """A file that doesn't compress, with the bytes of its incompressible blocks."""

    path: str
    stored_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Incompressible:
    """What doesn't compress in an image.

    :param stored_bytes: of blocks that don't.
    :param files: those that are mostly such blocks, the largest first.
    :param partly: others with such blocks, those with most of them first.
    """

    stored_bytes: Interval
    total_bytes: float
    files: tuple[IncompressibleFile, ...]
    partly: tuple[IncompressibleFile, ...] = ()

    @property
    def where(self) -> str:
        """How many files that is: ``2 files and parts of 1 file``."""
        whole, parts = (counted(len(x), "file") for x in (self.files, self.partly))
        if not self.partly:
            return whole
        return f"{whole} and parts of {parts}" if self.files else f"parts of {parts}"


def find_incompressible(
    stored: StoredSizes, codec: str, *, among: Container[str]
) -> Incompressible | None:
    """Find what a codec doesn't make smaller by a twentieth.

    The low end has blocks that surely don't shrink, the high end those that may not.

    :param among: paths of the files to look at; all count for the total.
    :returns: None for a codec that nothing is known of.
    """
    sizes = stored.codecs.get(codec)
    if sizes is None:
        return None
    paths, owners = stored.layout.paths, stored.layout.files_of_blocks()
    looked_at = np.array([path in among for path in paths], dtype=np.bool_)[owners]
    bytes_each, raw_bytes = sizes.stored_bytes, stored.layout.raw_bytes()
    counts = looked_at & (bytes_each > 0) & (raw_bytes >= LEAST_BYTES)
    least, middle, most = (
        np.where(
            counts & (bytes_each + z * sizes.errors >= LEAST_RATIO * raw_bytes),
            *(bytes_each, 0.0),
        )
        for z in (-FILES_CONFIDENCE_Z, 0, FILES_CONFIDENCE_Z)
    )
    of_files = np.bincount(owners, bytes_each, minlength=len(paths))
    bad = np.bincount(owners, middle, minlength=len(paths))
    mostly = bad >= _LEAST_OF_FILE * of_files
    files, partly = (
        tuple(
            IncompressibleFile(path=paths[number], stored_bytes=float(bad[number]))
            for number in np.argsort(-bad, kind="stable").tolist()
            if bad[number] and mostly[number] == whole
        )
        for whole in (True, False)
    )
    return Incompressible(
        stored_bytes=Interval(
            low=float(least.sum()), mid=float(middle.sum()), high=float(most.sum())
        ),
        total_bytes=float(bytes_each.sum()),
        files=files,
        partly=partly,
    )
