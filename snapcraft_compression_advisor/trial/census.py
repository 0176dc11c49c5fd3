"""The blocks that stand for a payload, each with a size that predicts others."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import MIB
from ..payload.layout import Layout
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import SIZE_MASK
from .estimate import block_models
from .look import QuickLook, closer_look, look_at_blocks
from .phase import Phase, Sample, closer_phase, draw, draw_lots, first_phase

MOST_BLOCKS = 16_384
MOST_BYTES = 320 * MIB
"""Payloads of up to so many blocks and bytes are looked at whole."""

SPREAD_BLOCKS = MOST_BYTES // DATA_BLOCK_BYTES
"""Blocks looked at of a larger payload. That they aren't all adds 0.2 to 0.3 % of the
size to the error (one standard deviation; a browser, an office suite and a Python
application), about half of what the smaller phases do."""
CLOSER_BLOCKS = 400
SNAP_CLOSER_BLOCKS = 320
"""Blocks looked at closely in the first round; of a snap, where to read a block takes
longer than to look at it, and all sizes of one codec are known."""

TRIED_BLOCKS = 24
"""Blocks tried in the first round. A model fitted beforehand predicts them from the
closer look; that they are tried shows how far the payload is unlike those that it was
fitted to. With 16, one of 42 sizes of a payload of programs was off by more than twice
its half width. 24 of 400 are off by 0.84 % of the size with xz and 0.70 % of that with
lzo, 48 of 640 by 0.57 and 0.48 % in twice the time (root of the mean square;
``study/data/block-sizes.csv``)."""

FAR_BYTES = 2_000_000
"""What the blocks looked at closely may take in an image in a store. Fewer blocks make
the interval wider, which says so itself."""
LEAST_FAR_BLOCKS = 16
"""But so many at least. If they are fewer than are tried, all of them are tried."""

TRIED_ALONE_BLOCKS = 56
"""Tried without a model, if a library is missing or a snap has a codec that can't be
shipped: these blocks alone tell how sizes follow from the closer look. A payload that
has no more is tried whole."""


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
                found[blocks.places_of(phase.members)] = each
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
    return np.minimum(blocks.places_of(numbers), len(blocks.members) - 1)


def take_census(
    payload: Payload,
    layout: Layout,
    *,
    spread_blocks: int = SPREAD_BLOCKS,
    seed: int = 0,
) -> Census:
    """Return predicting sizes for a payload's blocks.

    Of a built snap these are the sizes in it, which cost nothing; else blocks are read
    and compressed with a fast codec.

    :param spread_blocks: how many blocks stand for a payload that is large.
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
    whole = (
        spread_blocks >= SPREAD_BLOCKS
        and len(eligible) <= MOST_BLOCKS
        and names.raw_bytes.sum() <= MOST_BYTES
    )
    read = Sample(members=eligible, shares=names.shares)
    if not whole:
        read = draw(names, spread_blocks)
    columns = look_at_blocks(payload, layout, read.members, QuickLook())
    blocks = first_phase(layout, read.members, 1 / read.shares, columns, lots)
    return Census(layout=layout, phases=(blocks,) if whole else (names, blocks))


def most_blocks(payload: Payload, layout: Layout) -> float:
    """Return the limit of blocks to read of a payload; infinite unless it is far."""
    if not (isinstance(payload, SnapPayload) and payload.is_far):
        return math.inf
    raw_bytes = layout.raw_bytes().astype(np.float64)
    total = raw_bytes.sum()
    if not total:
        return math.inf
    # Blocks are drawn by their lengths, so one takes what a byte does in the image.
    stored_share = min(1.0, payload.image.image_bytes / total)
    drawn_bytes = stored_share * float((raw_bytes**2).sum() / total)
    return float(max(LEAST_FAR_BLOCKS, FAR_BYTES // drawn_bytes))


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


class Ladder:
    """The phases of a payload, and the blocks that the codecs try."""

    def __init__(self, payload: Payload, layout: Layout, *, seed: int = 0) -> None:
        self._payload = payload
        self._layout = layout
        self._most = most_blocks(payload, layout)
        most = round(min(SPREAD_BLOCKS, self._most))
        self.census = take_census(payload, layout, spread_blocks=most, seed=seed)
        self.phases: tuple[Phase, ...] = self.census.phases
        self.sample = Sample(members=np.zeros(0, np.int64), shares=np.zeros(0))
        known = self.census.codec
        self._look = closer_look(known=known)
        names = self._look.column_names
        self.models = block_models(known, names if known is None else (known, *names))
        self._seen: dict[int, NDArray[np.float64]] = {}

    def climb(self, *, scale: float) -> None:
        """Look closer at some blocks and choose those to try.

        :param scale: scale factor of the first round's number.
        """
        closer = CLOSER_BLOCKS if self.census.codec is None else SNAP_CLOSER_BLOCKS
        few = len(self.census.blocks.members) <= TRIED_ALONE_BLOCKS * scale
        tried = TRIED_BLOCKS if self.models and not few else TRIED_ALONE_BLOCKS
        count = round(closer * min(scale, self._most / closer))
        drawn = draw(self.census.blocks, count)
        new = np.array(
            [m for m in drawn.members.tolist() if m not in self._seen], dtype=np.int64
        )
        rows = look_at_blocks(self._payload, self._layout, new, self._look)
        self._seen.update(zip(new.tolist(), rows, strict=True))
        sizes = [self._seen[member] for member in drawn.members.tolist()]
        table = np.array(sizes).reshape(len(sizes), self._look.columns)
        phase = closer_phase(self.census.blocks, drawn, table)
        self.phases = (*self.census.phases, phase)
        self.sample = draw(phase, round(tried * scale))
