"""The blocks that stand for a payload, each with a size that predicts others.

Phases: each looks at fewer blocks than the one before it, and more closely.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..payload.layout import Layout
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import SIZE_MASK
from .look import QuickLook, look_at_blocks

RIDGE = 3e-4
"""Penalty on the coefficients of standardised predictors, in units of the sample's
weight: keeps a regression on few blocks from following their noise."""

MANY_BLOCKS = 100
"""As many also tell how sizes follow from lengths and curves."""

_GOLDEN_RATIO = 0.6180339887498949


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Blocks that a phase looks at; arrays have one element, or row, for each.

    :param members: numbers of the blocks in the layout, ascending.
    :param shares: the chance that each had, of those in the phase before; 1 if all are
        in.
    :param weights: how many blocks of the payload each stands for.
    :param ratios: sizes with fast codecs per byte, a column each.
    :param latest: how many of the last columns the closest look found.
    :param zeros: whether a block holds nothing but zeros, and takes no room.
    :param lots: of each from 0 to 1, evenly distributed; the lowest are drawn first.
    """

    members: NDArray[np.int64]
    raw_bytes: NDArray[np.float64]
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    ratios: NDArray[np.float64]
    zeros: NDArray[np.bool_]
    lots: NDArray[np.float64]
    latest: int = 1
    # Arrays have no one answer to whether they are equal.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def complete(self) -> bool:
        """Whether every block of the payload is in it."""
        return bool((self.weights == 1).all())

    def predictors(self, *, known: int) -> NDArray[np.float64]:
        """Return standardised columns that sizes are predicted from.

        :param known: how many blocks' sizes tell how they follow.
        """
        length = np.log2(self.raw_bytes)[:, None]  # short blocks compress worse
        curves = (length**2, self.ratios**2, self.ratios * length)
        more = (self.ratios, length, *curves)
        closest = self.ratios[:, self.ratios.shape[1] - self.latest :]
        table = np.column_stack(more) if known >= MANY_BLOCKS else closest
        if not len(table):
            return table
        spread = table.std(axis=0)
        rows = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        return np.asarray(rows, dtype=np.float64)


def first_phase(
    layout: Layout,
    members: NDArray[np.int64],
    weights: NDArray[np.float64],
    sizes: NDArray[np.float64],
    lots: NDArray[np.float64],
) -> Phase:
    """Return the looks' ratios of blocks, and their lengths.

    :param members: blocks of the payload that aren't in holes, drawn in their order.
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
        zeros=(sizes == 0).any(axis=1),
        lots=np.minimum(1.0, lots[members] * weights),
    )


def closer_phase(phase: Phase, drawn: Sample, sizes: NDArray[np.float64]) -> Phase:
    """Return the next phase: the blocks drawn, with the closer look's sizes."""
    places = np.searchsorted(phase.members, drawn.members)
    raw_bytes = phase.raw_bytes[places]
    return Phase(
        members=drawn.members,
        raw_bytes=raw_bytes,
        shares=drawn.shares,
        weights=phase.weights[places] / drawn.shares,
        ratios=np.column_stack((phase.ratios[places], sizes / raw_bytes[:, None])),
        latest=sizes.shape[1],
        zeros=phase.zeros[places],
        lots=np.minimum(1.0, phase.lots[places] / drawn.shares),
    )


def draw_lots(layout: Layout, seed: int = 0) -> NDArray[np.float64]:
    """Return a number from 0 to 1 for every block of a layout, its lot.

    It follows from the file's path and the block's place in the file, so two builds
    have nearly the same sample. Lots of a file's blocks are a Kronecker sequence: those
    below any limit are evenly spread over the file.
    """
    starts = np.array([_lot(f"{seed} {path}") for path in layout.paths])
    files = layout.files_of_blocks()
    places = np.arange(layout.block_count) - layout.first_block[files]
    lots: NDArray[np.float64] = (starts[files] + places * _GOLDEN_RATIO) % 1.0
    return lots


def _lot(name: str) -> float:
    digest = hashlib.blake2b(name.encode("utf-8", "surrogateescape"), digest_size=6)
    return int.from_bytes(digest.digest(), "little") / 2**48


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Blocks drawn from a phase.

    :param members: their numbers in the layout, ascending.
    :param shares: the chance that each had of being drawn; 1 for a certain one.
    """

    members: NDArray[np.int64]
    shares: NDArray[np.float64]


def draw(phase: Phase, count: int) -> Sample:
    """Draw the blocks with the lowest lots, in proportion to what they stand for.

    A block's chance is proportional to the raw bytes that it stands for, so what is
    estimated is a mean ratio (sequential Poisson sampling with permanent random
    numbers; Ohlsson, Sequential Poisson sampling, Journal of Official Statistics 14,
    1998). More blocks include fewer ones. Drawing blocks that don't compress less often
    was tried, and widened the intervals.

    :param count: how many to draw; blocks of zeros never are.
    """
    sizes = np.where(phase.zeros, 0.0, phase.raw_bytes * phase.weights)
    sure = _larger_than_a_step(sizes, count)
    listed = np.flatnonzero((sizes > 0) & ~sure)
    left = max(0, count - int(np.count_nonzero(sure)))
    shares = np.ones(len(sizes))
    shares[listed] = np.minimum(1.0, left * sizes[listed] / max(1, sizes[listed].sum()))
    lowest = np.argsort(phase.lots[listed] / sizes[listed], kind="stable")
    sure[listed[lowest[:left]]] = True
    return Sample(members=phase.members[sure], shares=shares[sure])


def _larger_than_a_step(sizes: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return the blocks that any step hits; without them, steps become shorter."""
    sure = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        left = count - int(np.count_nonzero(sure))
        total = float(sizes[~sure].sum())
        more = ~sure & (sizes > 0) & (sizes * left >= total)
        if left <= 0 or not more.any():
            return sure
        sure |= more


CENSUS_BLOCKS = 2560
"""Blocks looked at; a payload that has no more is looked at whole. That they aren't all
adds 0.2 to 0.3 % of the size to the error (one standard deviation; a browser, an office
suite and a Python application), about half of what the smaller phases do."""

REMOTE_BYTES = 2_000_000
"""What the blocks looked at closely may take in an image in a store. Fewer blocks make
the interval wider, which says so itself."""
LEAST_REMOTE_BLOCKS = 16
"""But so many at least. If they are fewer than are tried, all of them are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What stands for a payload.

    :param phases: the blocks looked at, blocks of zeros among them; before it, if these
        aren't all, what the names of all files tell.
    :param codec: whose sizes they are, if they are those of a built snap.
    """

    layout: Layout
    phases: tuple[Phase, ...]
    codec: str | None = None

    @property
    def blocks(self) -> Phase:
        """The blocks looked at."""
        return self.phases[-1]

    @property
    def raw_bytes(self) -> float:
        """Bytes of all blocks that the image holds; an estimate if part is unread."""
        blocks = self.blocks
        zeros = (blocks.weights * blocks.raw_bytes)[blocks.zeros].sum()
        return float(self.phases[0].raw_bytes.sum() - zeros)

    @property
    def known_sizes(self) -> NDArray[np.float64]:
        """The blocks' sizes as looked at: of a snap, those with its own codec."""
        sizes = self.blocks.ratios[:, 0] * self.blocks.raw_bytes
        return np.asarray(sizes.round(), dtype=np.float64)

    def closest(
        self, phases: Sequence[Phase], values: Sequence[NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return a value for every block: that of the closest look at it."""
        blocks = self.blocks
        found = np.zeros(len(blocks.members))
        for phase, each in zip(phases, values, strict=True):
            if phase.ratios.shape[1]:
                found[np.searchsorted(blocks.members, phase.members)] = each
        return found

    def spread_out(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a size for every block of the layout from those of the census.

        Blocks that aren't in it get the ratio of the next one that is.
        """
        blocks = self.blocks
        sizes = np.where(blocks.zeros, 0.0, sizes)
        every = np.zeros(self.layout.block_count)
        if not blocks.complete:
            ratio = (sizes / blocks.raw_bytes)[nearest_known(self.layout, blocks)]
            guessed = np.ceil(self.layout.raw_bytes() * ratio)
            every = np.where(self.layout.holes, 0.0, guessed)
        every[blocks.members] = sizes
        return every


def nearest_known(layout: Layout, blocks: Phase) -> NDArray[np.int64]:
    """Return for every block of a layout which one of a census it is taken for."""
    numbers = np.arange(layout.block_count)
    return np.minimum(np.searchsorted(blocks.members, numbers), len(blocks.members) - 1)


def take_census(
    payload: Payload,
    layout: Layout,
    *,
    most_blocks: int = CENSUS_BLOCKS,
    seed: int = 0,
) -> Census:
    """Return predicting sizes for a payload's blocks.

    Of a built snap these are the sizes in it, which cost nothing; else blocks are read
    and compressed with a fast codec.

    :param most_blocks: how many blocks stand for a payload that has more.
    """
    lots = draw_lots(layout, seed)
    if isinstance(payload, SnapPayload) and _packed_alike(payload, layout):
        every = np.arange(layout.block_count)
        columns = _sizes_in_snap(payload, layout)
        blocks = first_phase(layout, every, np.ones(len(every)), columns, lots)
        return Census(layout=layout, phases=(blocks,), codec=payload.packed_with)
    eligible = np.flatnonzero(~layout.holes)
    nothing = np.zeros((len(eligible), 0))
    names = first_phase(layout, eligible, np.ones(len(eligible)), nothing, lots)
    whole = len(eligible) <= most_blocks
    read = Sample(members=eligible, shares=names.shares)
    if not whole:
        read = draw(names, most_blocks)
    columns = look_at_blocks(payload, layout, read.members, QuickLook())
    blocks = first_phase(layout, read.members, 1 / read.shares, columns, lots)
    return Census(layout=layout, phases=(blocks,) if whole else (names, blocks))


def readable_blocks(payload: Payload, layout: Layout) -> float:
    """Return the limit of blocks to read of a payload; infinite unless it is far."""
    if not (isinstance(payload, SnapPayload) and payload.is_remote):
        return math.inf
    raw_bytes = layout.raw_bytes().astype(np.float64)
    total = raw_bytes.sum()
    if not total:
        return math.inf
    # Blocks are drawn by their lengths, so one takes what a byte does in the image.
    stored_share = min(1.0, payload.image.image_bytes / total)
    drawn_bytes = stored_share * float((raw_bytes**2).sum() / total)
    return float(max(LEAST_REMOTE_BLOCKS, REMOTE_BYTES // drawn_bytes))


def _packed_alike(payload: SnapPayload, layout: Layout) -> bool:
    """Return whether a snap has the blocks that ``snap pack`` would make."""
    superblock = payload.image.superblock
    if superblock.uncompressed_data or payload.image.compressor_options is not None:
        return False
    blocks = map(payload.stored_blocks, layout.paths)
    counts = (0 if each is None or each.fragment else len(each) for each in blocks)
    same_size = superblock.block_bytes == DATA_BLOCK_BYTES
    return same_size and list(counts) == np.diff(layout.first_block).tolist()


def _sizes_in_snap(payload: SnapPayload, layout: Layout) -> NDArray[np.float64]:
    words = array("I")
    for blocks in map(payload.stored_blocks, layout.paths):
        if blocks is not None:
            words.extend(blocks.size_words)
    sizes = np.array(words, dtype=np.int64) & SIZE_MASK
    return sizes.astype(np.float64)[:, None]
