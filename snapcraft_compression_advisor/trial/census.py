"""The blocks that stand for a payload, each with a size that predicts others."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.payload.source import SnapPayload
from snapcraft_compression_advisor.squashfs.entry import SIZE_MASK
from snapcraft_compression_advisor.trial.look import fastest_look, look_at_blocks
from snapcraft_compression_advisor.trial.phase import (
    Phase,
    kind_columns,
    phase_of_names,
)
from snapcraft_compression_advisor.trial.sample import first_step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.payload.source import Payload

MOST_BLOCKS = 16_384
MOST_BYTES = 320 * MIB
"""Payloads of up to so many blocks and bytes are looked at whole."""

SPREAD_BLOCKS = 2_048
"""Blocks looked at of a larger payload, evenly spread. That they aren't all adds 0.2 to
0.3 % of the size to the error (one standard deviation; a browser, an office suite and a
Python application), about half of what the smaller phases do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What stands for a payload.

    :param phases: the blocks looked at, blocks of zeros among them; before it, where
        these aren't all, what the names of all files tell.
    :param codec: whose sizes they are, where they are those of a built snap.
    """

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

    @property
    def known_bytes(self) -> float:
        """Bytes of all blocks with the snap's own codec."""
        return float(self.known_sizes.sum())


def take_census(
    payload: Payload,
    layout: Layout,
    *,
    always: Callable[[], Collection[int]] = tuple,
    spread_blocks: int = SPREAD_BLOCKS,
    seed: int = 0,
) -> Census:
    """Get a predicting size for a payload's blocks.

    Of a built snap these are the sizes in it, which cost nothing; else blocks are read
    and compressed with a fast codec.

    :param always: numbers of blocks that are to be in it; asked for as late as can be,
        and where not all blocks are in it anyway.
    :param spread_blocks: how many blocks stand for a payload that is large.
    :param seed: another one takes others of these.
    :raises StorageError: where a file changes or vanishes meanwhile.
    """
    if isinstance(payload, SnapPayload) and _packed_alike(payload, layout):
        every = np.arange(layout.block_count)
        columns = _sizes_in_snap(payload, layout)
        blocks = _phase(layout, every, np.ones(len(every)), columns)
        return Census(phases=(blocks,), codec=payload.packed_with)
    members, weights = _frame(layout, spread_blocks, seed)
    columns = look_at_blocks(payload, layout, members, fastest_look())
    blocks = _phase(layout, members, weights, columns)
    if blocks.complete:
        return Census(phases=(blocks,))
    eligible = _no_holes(layout)
    sure = eligible[np.isin(eligible, np.array(list(always()), dtype=np.int64))]
    added = sure[~np.isin(sure, members)]
    more = look_at_blocks(payload, layout, added, fastest_look())
    members = np.concatenate((members, added))
    weights = np.concatenate((weights, np.ones(len(added))))
    ascending = np.argsort(members)
    blocks = _phase(
        layout,
        members[ascending],
        np.where(np.isin(members, sure), 1.0, weights)[ascending],
        np.concatenate((columns, more))[ascending],
    )
    return Census(phases=(phase_of_names(layout, eligible), blocks))


def _phase(
    layout: Layout,
    members: NDArray[np.int64],
    weights: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> Phase:
    raw_bytes = layout.raw_bytes()[members].astype(np.float64)
    return Phase(
        members=members,
        raw_bytes=raw_bytes,
        shares=1 / weights,
        weights=weights,
        ratios=columns / raw_bytes[:, None],
        kinds=kind_columns(layout, members),
        zeros=columns[:, 0] == 0,
        in_file_order=True,
    )


def _no_holes(layout: Layout) -> NDArray[np.int64]:
    return np.flatnonzero(~layout.holes)


def _frame(
    layout: Layout, spread_blocks: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of the census's blocks, ascending, and their weights."""
    raw_bytes = layout.raw_bytes()
    eligible = ~layout.holes
    count = int(np.count_nonzero(eligible))
    if count <= MOST_BLOCKS and raw_bytes[eligible].sum() <= MOST_BYTES:
        return np.flatnonzero(eligible), np.ones(count)
    return spread(raw_bytes, eligible, spread_blocks, start=first_step(seed))


def spread(
    sizes: NDArray[np.int64],
    eligible: NDArray[np.bool_],
    most: int,
    *,
    start: float = 0.5,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Choose elements evenly along the sum of their sizes, larger ones more often.

    :param sizes: of all elements.
    :param eligible: which may be chosen.
    :param most: how many to choose; all where there are no more.
    :param start: of the first step, how much is taken before the first element.
    :returns: indices, ascending, and how many elements each stands for.
    """
    indices = np.flatnonzero(eligible)
    if len(indices) <= most:
        return indices, np.ones(len(indices))
    ends = np.cumsum(sizes[indices], dtype=np.float64)
    points = (np.arange(most) + start) / most * ends[-1]
    chosen = np.searchsorted(ends, points)
    chosen = chosen[np.diff(chosen, prepend=-1) > 0]  # a long one is hit repeatedly
    expected = most * sizes[indices[chosen]] / ends[-1]
    return indices[chosen], 1 / np.minimum(1.0, expected)


def _packed_alike(payload: SnapPayload, layout: Layout) -> bool:
    """Tell whether a snap has the blocks that ``snap pack`` would make.

    One with other block sizes, with fragments or with options of its own doesn't.
    """
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
