"""What files come to in an image, how far that is off, and which don't compress."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.frozen import frozen
from ..core.units import Interval
from ..payload.layout import Layout
from .phase import Phase

ALIKE = 0.8
"""Correlation of what predictions miss of two blocks of the same few files: blocks of a
kind compress better, or worse, than predicted together. With it, of 26 sizes of a
calculator's directories 25 lay within their intervals, and 21 of 24 of an office
suite's, which it wasn't chosen by."""
CONFIDENCE_Z = 2.17
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
"""Shorter blocks hardly ever compress, whatever is in them, and don't count."""
_LOGISTIC = 1.702
"""Steepness with which the logistic curve comes closest to the normal one (Camilli,
Origin of the scaling constant d = 1.7, 1994)."""
_LEAST_OF_FILE = 0.5
"""A file is named where so much of what it takes is such blocks."""


@frozen
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
        alike = np.where(runs > 0, LEAST_ERROR * stored, errors)
        by_chance = float((runs * errors**2).sum())
        return _around(float(stored.sum()), alike, by_chance=by_chance)


def _around(
    middle: float,
    alike: NDArray[np.float64],
    *,
    by_chance: float = 0.0,
    most: float = math.inf,
) -> Interval:
    """Return the interval of 95 % about a sum, from 0 to the most that it can be.

    :param alike: standard deviations of blocks that miss alike (:data:`ALIKE`).
    :param by_chance: variance of what is independent of them.
    """
    variance = by_chance + (1 - ALIKE) * (alike**2).sum() + ALIKE * alike.sum() ** 2
    error = CONFIDENCE_Z * float(np.sqrt(variance))
    return Interval(
        low=max(0.0, middle - error), mid=middle, high=min(most, middle + error)
    )


@frozen
class FileSize:
    """What a file comes to.

    :param raw_bytes: its length, without holes and blocks of zeros.
    :param stored_bytes: what its blocks take in the image.
    """

    path: str
    raw_bytes: int
    stored_bytes: Interval


@dataclass(frozen=True, kw_only=True)
class StoredSizes:
    """What files come to in each codec's image: their data blocks, without metadata."""

    layout: Layout
    codecs: Mapping[str, BlockSizes]

    def freed(self, paths: Collection[str], codec: str) -> Interval | None:
        """Return by how many bytes an image shrinks without some files.

        A content that other names keep takes as much as before.

        :param paths: of files; names that have no contents are ignored.
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


def errors_of_census(
    phases: Sequence[Phase],
    blocks: Phase,
    predicted_bytes: Sequence[NDArray[np.float64]],
    members: NDArray[np.int64],
    stored_bytes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how far the sizes of a census's blocks are off, one standard deviation.

    By how much the closest look at a block fails on the blocks that were tried.

    :param phases: from all blocks to those looked at most closely.
    :param predicted_bytes: for each phase, the predicted size of every block in it.
    :returns: per byte of the block's size; 0 for those tried.
    """
    errors = np.zeros(len(blocks.members))
    for phase, predicted in zip(phases, predicted_bytes, strict=True):
        if phase.ratios.shape[1]:
            places = phase.places_of(members)
            error = _scatter(stored_bytes, predicted[places], phase.raw_bytes[places])
            errors[blocks.places_of(phase.members)] = max(error, LEAST_ERROR)
    errors *= _pliable(blocks)
    errors[blocks.places_of(members)] = 0.0
    return np.where(blocks.zeros, 0.0, errors)


def errors_of_layout(
    layout: Layout, blocks: Phase, errors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far the sizes of all blocks are off, one standard deviation.

    A block that wasn't read is taken to compress like the next one that was. Blocks of
    one file are more alike than those of neighbours.

    :param errors: of the census's blocks, per byte.
    :returns: per byte of each block's size.
    """
    if blocks.complete or not len(blocks.members):
        every = np.zeros(layout.block_count)
        every[blocks.members] = errors
        return every
    files = layout.files_of_blocks()
    known = files[blocks.members]
    ratios = blocks.ratios[:, 0]
    same_file = known[1:] == known[:-1]
    nearest = _nearest(layout, blocks)
    every = np.where(
        known[nearest] == files,
        _difference(ratios, same_file) * _pliable(blocks)[nearest],
        _difference(ratios, ~same_file),
    )
    every[blocks.members] = errors
    return every


def runs_of_unread(layout: Layout, blocks: Phase) -> NDArray[np.int64]:
    """Return for every block how many are taken to compress like the same one.

    :returns: 0 for blocks that were read; empty where all were.
    """
    if blocks.complete or not len(blocks.members):
        return np.zeros(0, dtype=np.int64)
    nearest = _nearest(layout, blocks)
    runs = np.bincount(nearest)[nearest] - 1  # without the one that was read
    runs[blocks.members] = 0
    return runs


def _nearest(layout: Layout, blocks: Phase) -> NDArray[np.int64]:
    """Return for every block which one of the census it is taken for."""
    numbers = np.arange(layout.block_count)
    return np.minimum(blocks.places_of(numbers), len(blocks.members) - 1)


def _pliable(blocks: Phase) -> NDArray[np.float64]:
    left = (1 - blocks.ratios[:, 0]) / PLIABLE_SHARE
    shares: NDArray[np.float64] = np.clip(left, LEAST_PLIABLE, 1.0)
    return shares


def _difference(ratios: NDArray[np.float64], among: NDArray[np.bool_]) -> float:
    """Return how much the ratios of neighbours differ, relative to ratios."""
    squares = float(np.mean(ratios**2))
    if not among.any() or not squares:
        return 1.0
    return max(
        LEAST_ERROR, float(np.sqrt(np.mean(np.diff(ratios)[among] ** 2) / squares))
    )


def _scatter(
    stored_bytes: NDArray[np.float64],
    predicted_bytes: NDArray[np.float64],
    raw_bytes: NDArray[np.float64],
) -> float:
    ratios = predicted_bytes / raw_bytes
    missed = stored_bytes / raw_bytes - ratios
    squares = float(np.mean(ratios**2)) if len(ratios) else 0.0
    return float(np.sqrt(np.mean(missed**2) / squares)) if squares else 0.0


@frozen
class IncompressibleFile:
    """A file that doesn't compress.

    :param stored_bytes: what its blocks that don't compress take in the image.
    """

    path: str
    stored_bytes: float


@frozen
class Incompressible:
    """What doesn't compress in an image.

    :param stored_bytes: of blocks that don't.
    :param files: the largest first.
    """

    stored_bytes: Interval
    total_bytes: float
    files: tuple[IncompressibleFile, ...]


def find_incompressible(
    stored: StoredSizes, codec: str, *, among: Container[str]
) -> Incompressible | None:
    """Find what a codec doesn't make smaller by a twentieth.

    Where a block's size is estimated, it counts with the chance that it doesn't
    compress. What is wrong with these chances is taken to be alike for blocks of one
    payload to the same degree as what is wrong with the sizes (:data:`.stored.ALIKE`).

    :param among: paths of the files to look at; all count for the total.
    :returns: ``None`` for a codec that nothing is known of.
    """
    sizes = stored.codecs.get(codec)
    if sizes is None:
        return None
    layout = stored.layout
    looked_at = np.array([path in among for path in layout.paths], dtype=np.bool_)
    owners = layout.files_of_blocks()
    chances = np.where(looked_at[owners], _chances(sizes, layout.raw_bytes()), 0.0)
    return Incompressible(
        stored_bytes=_total(sizes.stored_bytes, chances),
        total_bytes=float(sizes.stored_bytes.sum()),
        files=_files(layout, sizes.stored_bytes, owners, chances),
    )


def _chances(sizes: BlockSizes, raw_bytes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how likely each block is not to compress; 0 for those that don't count."""
    above = sizes.stored_bytes - LEAST_RATIO * raw_bytes
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = above / sizes.errors
        # The logistic curve is within a hundredth of the normal distribution's.
        likely = 1 / (1 + np.exp(-_LOGISTIC * z))
    known = np.where(above >= 0, 1.0, 0.0)
    chances = np.where(sizes.errors > 0, likely, known)
    counts = (sizes.stored_bytes > 0) & (raw_bytes >= LEAST_BYTES)
    return np.where(counts, chances, 0.0)


def _total(stored_bytes: NDArray[np.float64], chances: NDArray[np.float64]) -> Interval:
    deviations = stored_bytes * np.sqrt(chances * (1 - chances))
    middle = float((stored_bytes * chances).sum())
    return _around(middle, deviations, most=float(stored_bytes.sum()))


def _files(
    layout: Layout,
    stored_bytes: NDArray[np.float64],
    owners: NDArray[np.int64],
    chances: NDArray[np.float64],
) -> tuple[IncompressibleFile, ...]:
    count = len(layout.paths)
    each = np.bincount(owners, stored_bytes, minlength=count)
    bad = np.bincount(owners, stored_bytes * chances, minlength=count)
    chosen = np.flatnonzero((bad > 0) & (bad >= _LEAST_OF_FILE * each))
    largest = chosen[np.argsort(-bad[chosen], kind="stable")]
    return tuple(
        IncompressibleFile(path=layout.paths[number], stored_bytes=float(bad[number]))
        for number in largest.tolist()
    )
