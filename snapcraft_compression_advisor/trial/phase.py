"""Phases: each looks at fewer blocks than the one before it, and more closely."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import frozen
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

LONG_FILE_BLOCKS = 8
"""Files of so many blocks have lots of their own; see :func:`draw_lots`."""
_GOLDEN_RATIO = 0.6180339887498949


Predictors = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Blocks x standardised columns that sizes are predicted from, and the penalty on each
column's coefficient, in units of the sample's weight."""


@frozen
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
    :param lots: of each from 0 to 1, evenly distributed; the lowest are drawn first.
    :param in_file_order: whether it was drawn evenly from file to file.
    """

    members: NDArray[np.int64]
    raw_bytes: NDArray[np.float64]
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    ratios: NDArray[np.float64]
    kinds: NDArray[np.float64]
    zeros: NDArray[np.bool_]
    lots: NDArray[np.float64]
    latest: int = 1
    in_file_order: bool = False
    # Arrays have no one answer to whether they are equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

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
    lots: NDArray[np.float64],
) -> Phase:
    """Return what is known of blocks by a look, their lengths and kinds of files.

    :param members: blocks of the payload that aren't in holes, drawn in their order.
    :param weights: how many blocks each stands for.
    :param sizes: what the look found, a row each; with no column before any is read.
    :param lots: of all blocks of the layout.
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
        lots=np.minimum(1.0, lots[members] * weights),
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
        lots=np.minimum(1.0, phase.lots[places] / shares),
        in_file_order=phase.in_file_order,  # low lots are evenly spread over files
    )


def draw_lots(layout: Layout, seed: int = 0) -> NDArray[np.float64]:
    """Return a number from 0 to 1 for every block of a layout, its lot.

    It is the same whatever else changes in a payload: it follows from the block's place
    in its file, and the file's path. Lots of a file's blocks are a Kronecker sequence:
    those below any limit are evenly spread over the file (with the golden ratio, three
    different distances at most; Sos, On the distribution mod 1 of the sequence n alpha,
    1958). Small files of a directory are counted through instead, in their order.

    :param seed: another one gives other lots.
    """
    files = layout.files_of_blocks()
    counts = np.diff(layout.first_block)
    rows: dict[str, int] = {}
    row_of_file = np.array(
        [
            rows.setdefault(
                path if count >= LONG_FILE_BLOCKS else path.rpartition("/")[0] + "/",
                len(rows),
            )
            for path, count in zip(layout.paths, counts.tolist(), strict=True)
        ],
        dtype=np.int64,
    )
    starts = np.array([_start(name, seed) for name in rows])
    row = row_of_file[files]
    order = np.argsort(row, kind="stable")
    blocks_of_row = np.bincount(row, minlength=len(rows))
    before = np.cumsum(blocks_of_row) - blocks_of_row
    places = np.empty(len(row), dtype=np.int64)
    places[order] = np.arange(len(row)) - before[row[order]]
    lots: NDArray[np.float64] = (starts[row] + places * _GOLDEN_RATIO) % 1.0
    return lots


def _start(name: str, seed: int) -> float:
    """Return a number from 0 to 1 that depends on a name, and on a seed."""
    text = f"{seed} {name}".encode("utf-8", "surrogateescape")
    digest = hashlib.blake2b(text, digest_size=6).digest()
    return int.from_bytes(digest, "little") / 2**48


@frozen
class Sample:
    """Blocks drawn from a phase.

    :param members: their numbers in the layout, ascending.
    :param shares: the chance that each had of being drawn; 1 for a certain one.
    :param lots: see :class:`Phase`, of the blocks that were drawn.
    """

    members: NDArray[np.int64]
    shares: NDArray[np.float64]
    lots: NDArray[np.float64]


def draw(phase: Phase, *, count: int, certain: NDArray[np.bool_]) -> Sample:
    """Draw the blocks with the lowest lots, in proportion to what they stand for.

    A block's chance is proportional to the raw bytes that it stands for, so what is
    estimated is a mean ratio (sequential Poisson sampling with permanent random
    numbers; Ohlsson, Sequential Poisson sampling, Journal of Official Statistics 14,
    1998). So the blocks of a payload of which little changed are nearly the same ones.
    More blocks include fewer ones. Drawing blocks that don't compress less often was
    tried, and widened the intervals.

    :param count: how many to draw; certain ones come on top.
    :param certain: for each block of the phase, whether it is to be drawn anyway.
        Blocks of zeros never are.
    """
    sizes = phase.raw_bytes * phase.weights
    certain = certain & ~phase.zeros
    sure = certain | _larger_than_a_step(sizes, certain | phase.zeros, count)
    listed = np.flatnonzero(~phase.zeros & ~sure)
    left = max(0, count - int(np.count_nonzero(sure & ~certain)))
    shares = np.ones(len(sizes))
    if len(listed):
        chances = left * sizes[listed] / sizes[listed].sum()
        shares[listed] = np.minimum(1.0, chances)
    lowest = np.argsort(phase.lots[listed] / sizes[listed], kind="stable")
    member = sure.copy()
    member[listed[lowest[:left]]] = True
    chosen = np.flatnonzero(member)
    return Sample(
        members=phase.members[chosen],
        shares=shares[chosen],
        lots=np.minimum(1.0, phase.lots[chosen] / shares[chosen]),
    )


def lower_half(sample: Sample) -> Sample:
    """Return half of a sample: its certain blocks, and the lower lots of the rest."""
    uncertain = np.flatnonzero(sample.shares < 1)
    lowest = np.argsort(sample.lots[uncertain], kind="stable")
    kept = sample.shares >= 1
    kept[uncertain[lowest[: -(-len(uncertain) // 2)]]] = True
    shares = np.where(sample.shares < 1, sample.shares / 2, 1.0)
    return Sample(
        members=sample.members[kept],
        shares=shares[kept],
        lots=np.minimum(1.0, 2 * sample.lots[kept]),
    )


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
