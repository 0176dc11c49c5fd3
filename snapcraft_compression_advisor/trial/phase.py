"""Phases: each looks at fewer blocks than the one before it, and more closely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..payload.layout import Layout

RIDGE = 3e-4
LENGTH_RIDGE = 0.05
"""Penalties on the coefficients of standardised predictors, in units of the sample's
weight: keep a regression on few blocks from following their noise. Few blocks may all
be of about the same length; what they seem to tell about others then put one draw in a
hundred off by 5 %, with the smaller penalty."""

FEW_BLOCKS = 30
MANY_BLOCKS = 100

MOST_KINDS = 12
"""Kinds of files that are told apart, those with the most bytes first."""
_GOLDEN_RATIO = 0.6180339887498949


Predictors = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Blocks x standardised columns that sizes are predicted from, and the penalty on each
column's coefficient, in units of the sample's weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Blocks that a phase looks at, and what it knows of them.

    Arrays have one element, or row, for each block.

    :param members: numbers of the blocks in the layout, ascending.
    :param shares: the chance that each had, of those in the phase before; 1 where all
        are in.
    :param weights: how many blocks of the payload each stands for.
    :param ratios: sizes with fast codecs per byte, a column each.
    :param latest: how many of the last columns the closest look found.
    :param kinds: a column for each kind of file: 1 for blocks of it.
    :param zeros: whether a block holds nothing but zeros, and takes no room.
    :param in_file_order: whether it was drawn by equal steps from file to file.
    """

    members: NDArray[np.int64]
    raw_bytes: NDArray[np.float64]
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    ratios: NDArray[np.float64]
    kinds: NDArray[np.float64]
    zeros: NDArray[np.bool_]
    latest: int = 1
    in_file_order: bool = False

    @property
    def complete(self) -> bool:
        """Whether every block of the payload is in it."""
        return bool((self.weights == 1).all())

    def places_of(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return at which indices these members stand."""
        places: NDArray[np.int64] = np.searchsorted(self.members, members)
        return places

    def predictors(self, *, known: int) -> Predictors:
        """Return what sizes are predicted from.

        The ratios, the length (short blocks compress worse) and the kinds. Many blocks
        also tell how these work together; some, how the closest look's ratios bend; the
        fewest neither, nor about the length.

        :param known: how many blocks' sizes tell how they follow.
        """
        length = np.log2(self.raw_bytes)[:, None]
        closest = self.ratios[:, self.ratios.shape[1] - self.latest :]
        if known < FEW_BLOCKS:
            return _standardised(closest)
        if known < MANY_BLOCKS:
            rows, penalties = _standardised(self.ratios, closest**2, self.kinds, length)
            penalties[-1] = LENGTH_RIDGE
            return rows, penalties
        curves = (self.ratios**2, self.ratios * length)
        return _standardised(self.ratios, length, length**2, self.kinds, *curves)


def _standardised(*columns: NDArray[np.float64]) -> Predictors:
    table = np.column_stack(columns)
    spread = table.std(axis=0) if len(table) else np.ones(table.shape[1])
    middle = table.mean(axis=0) if len(table) else 0.0
    rows = (table - middle) / np.where(spread > 0, spread, 1.0)
    return rows, np.full(table.shape[1], RIDGE)


def first_phase(
    layout: Layout,
    members: NDArray[np.int64],
    weights: NDArray[np.float64],
    sizes: NDArray[np.float64],
) -> Phase:
    """Return what is known of blocks by a look, their lengths and kinds of files.

    :param members: blocks of the payload that aren't in holes, drawn in their order.
    :param weights: how many blocks each stands for.
    :param sizes: what the look found, a row each; with no column before any is read.
    """
    raw_bytes = layout.raw_bytes()[members].astype(np.float64)
    return Phase(
        members=members,
        raw_bytes=raw_bytes,
        shares=1 / weights,
        weights=weights,
        ratios=sizes / raw_bytes[:, None],
        latest=sizes.shape[1],
        kinds=kind_columns(layout, members),
        zeros=(sizes == 0).any(axis=1),
        in_file_order=True,
    )


def kind_columns(layout: Layout, members: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for blocks a column for each of the kinds with the most bytes in all.

    :returns: 1 where a block is of the kind, else 0.
    """
    kinds = layout.kinds_of_blocks
    bytes_each = np.bincount(kinds, weights=layout.raw_bytes())
    most = np.argsort(-bytes_each, kind="stable")[:MOST_KINDS]
    columns = kinds[members][:, None] == most
    return np.asarray(columns, dtype=np.float64)


def closer_phase(
    phase: Phase,
    members: NDArray[np.int64],
    shares: NDArray[np.float64],
    sizes: NDArray[np.float64],
) -> Phase:
    """Return blocks of a phase with what a closer look adds to what is known of them.

    :param members: numbers of the blocks, ascending.
    :param shares: the chance that each had of being drawn from the phase.
    """
    places = phase.places_of(members)
    raw_bytes = phase.raw_bytes[places]
    return Phase(
        members=members,
        raw_bytes=raw_bytes,
        shares=shares,
        weights=phase.weights[places] / shares,
        ratios=np.column_stack((phase.ratios[places], sizes / raw_bytes[:, None])),
        latest=sizes.shape[1],
        kinds=phase.kinds[places],
        zeros=phase.zeros[places],
    )


def similar_side_by_side(layout: Layout) -> NDArray[np.int64]:
    """Return every block's place in an order by kind of file, then by file."""
    order = np.argsort(layout.kinds_of_blocks, kind="stable")
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Blocks drawn from a phase.

    :param members: their numbers in the layout, in the order of the draw's list, so
        that neighbours are alike.
    :param shares: the chance that each had of being drawn; 1 for a certain one.
    """

    members: NDArray[np.int64]
    shares: NDArray[np.float64]


def draw(
    phase: Phase,
    places: NDArray[np.int64],
    *,
    count: int,
    certain: NDArray[np.bool_],
    start: float = 0.5,
) -> Sample:
    """Draw blocks at equal steps along the sum of their raw bytes.

    A block's chance is proportional to the raw bytes that it stands for, so what is
    estimated is a mean ratio; and since the list has similar blocks side by side, equal
    steps give every kind of content its due (systematic sampling; Särndal, Swensson and
    Wretman, Model Assisted Survey Sampling, 1992, section 3.4). Drawing blocks that
    don't compress less often was tried, and widened the intervals.

    :param places: of all blocks of the layout in the list, similar ones side by side.
    :param count: how many to draw; certain ones come on top.
    :param certain: for each block of the phase, whether it is to be drawn anyway.
        Blocks of zeros never are.
    :param start: of the first step, how much is taken before the first block.
    """
    sizes = phase.raw_bytes * phase.weights
    possible, certain = ~phase.zeros, certain & ~phase.zeros
    sure = certain | _larger_than_a_step(sizes, certain | phase.zeros, count)
    order = np.argsort(places[phase.members])
    listed = order[(possible & ~sure)[order]]
    left = count - int(np.count_nonzero(sure & ~certain))
    ends = np.cumsum(sizes[listed])
    if left <= 0 or not len(listed):
        drawn = listed[:0]
    else:
        points = (np.arange(left) + start) / left * ends[-1]
        drawn = listed[np.minimum(np.searchsorted(ends, points), len(listed) - 1)]
    member = sure.copy()
    member[drawn] = True
    shares = np.ones(len(sizes))
    if len(listed):
        shares[listed] = np.minimum(1.0, left * sizes[listed] / ends[-1])
    chosen = order[member[order]]
    return Sample(members=phase.members[chosen], shares=shares[chosen])


def first_step(seed: int, *, scale: float = 1.0) -> float:
    """Return where in the first step a draw starts, from 0 to 1.

    :param seed: another one draws other blocks.
    :param scale: of a draw with so many times the blocks, where steps are shorter and
        hit most of the same blocks again.
    """
    return (0.5 + seed * _GOLDEN_RATIO) * scale % 1.0


def every_other(sample: Sample) -> Sample:
    """Return half of a sample: its certain blocks, and every other one of the rest."""
    uncertain = sample.shares < 1
    kept = ~uncertain | (np.cumsum(uncertain) % 2 == 1)
    shares = np.where(uncertain, sample.shares / 2, 1.0)
    return Sample(members=sample.members[kept], shares=shares[kept])


def _larger_than_a_step(
    sizes: NDArray[np.float64], apart: NDArray[np.bool_], count: int
) -> NDArray[np.bool_]:
    """Return the blocks that any step hits; without them, steps become shorter."""
    sure = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        rest = ~(sure | apart)
        left = count - int(np.count_nonzero(sure))
        total = float(sizes[rest].sum())
        if left <= 0 or not total:
            return sure
        more = rest & (sizes * left >= total)
        if not more.any():
            return sure
        sure |= more
