"""The ladder of looks: many blocks quickly, some closely, few with all codecs.

How many blocks each step gets follows from what a look costs and what it explains: the
best numbers go with the square root of one over the other (Särndal, Swensson and
Wretman, Model Assisted Survey Sampling, 1992, section 9.8 on two phases).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.trial.census import take_census
from snapcraft_compression_advisor.trial.look import closer_look, look_at_blocks
from snapcraft_compression_advisor.trial.phase import (
    Phase,
    closer_phase,
    similar_side_by_side,
)
from snapcraft_compression_advisor.trial.sample import Sample, draw, first_step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.payload.source import Payload

CLOSER_BLOCKS = 640
TRIED_BLOCKS = 56
"""Blocks of each step at first. With them, on a browser, an office suite, a game and a
Python application, sizes with xz are off by 0.3 to 0.7 % (one standard deviation of 100
draws), those with lzo by 0.2 to 0.5 %."""

SNAP_CLOSER_BLOCKS = 320
SNAP_TRIED_BLOCKS = 48
"""Likewise for a snap: to read a block of it takes longer than to look at it, and all
sizes of one codec are known. On the same four, packed with xz, sizes with lzo are off
by 0.3 to 0.8 %; packed with lzo, those with xz likewise (80 draws)."""


class Ladder:
    """The phases of a payload, and the blocks that the codecs try.

    :param certain: numbers of blocks that are tried in any case; asked for as late as
        can be, since they may be long in coming.
    """

    def __init__(
        self,
        payload: Payload,
        layout: Layout,
        *,
        certain: Callable[[], Collection[int]],
        seed: int = 0,
    ) -> None:
        self._payload = payload
        self._layout = layout
        self._certain = certain
        self._seed = seed
        self._places = similar_side_by_side(layout)
        self.census = take_census(payload, layout, always=certain, seed=seed)
        self.phases: tuple[Phase, ...] = self.census.phases
        nothing = np.zeros(0)
        self.sample = Sample(members=nothing.astype(np.int64), shares=nothing)
        self._look = closer_look(known=self.census.codec)
        self._seen: dict[int, NDArray[np.float64]] = {}

    def climb(self, *, scale: float) -> None:
        """Look closer at some blocks and choose those to try.

        :param scale: scale factor of the first round's number. Where a step has as many
            blocks as the one before, all of them are in it.
        """
        known = self.census.codec
        closer = CLOSER_BLOCKS if known is None else SNAP_CLOSER_BLOCKS
        tried = TRIED_BLOCKS if known is None else SNAP_TRIED_BLOCKS
        start = first_step(self._seed, scale=scale)
        phase = self._closer(self.census.blocks, round(closer * scale), start)
        self.phases = (*self.census.phases, phase)
        self.sample = self._draw(
            phase, round(tried * scale), start, certain=self._is_certain(phase)
        )

    def _closer(self, phase: Phase, count: int, start: float) -> Phase:
        nothing = np.zeros(len(phase.members), dtype=np.bool_)
        drawn = self._draw(phase, count, start, certain=nothing)
        self._look_at(drawn.members)
        sure = phase.members[self._is_certain(phase)]
        self._look_at(sure)
        both = np.isin(phase.members, drawn.members) | np.isin(phase.members, sure)
        members = phase.members[both]
        shares = np.ones(len(members))
        shares[np.searchsorted(members, drawn.members)] = drawn.shares
        shares[np.searchsorted(members, sure)] = 1.0
        sizes = [self._seen[member] for member in members.tolist()]
        table = np.array(sizes).reshape(len(members), self._look.columns)
        return closer_phase(phase, members, shares, table)

    def _look_at(self, members: NDArray[np.int64]) -> None:
        """Look closer at those blocks that weren't looked at so far."""
        new = np.array(
            [m for m in members.tolist() if m not in self._seen], dtype=np.int64
        )
        rows = look_at_blocks(
            self._payload, self._layout, new, self._look, fastest=self._fastest(new)
        )
        self._seen.update(zip(new.tolist(), rows, strict=True))

    def _fastest(self, members: NDArray[np.int64]) -> dict[int, float] | None:
        """Return what the fastest look, if any, found of blocks."""
        if self.census.codec is not None:
            return None
        blocks = self.census.blocks
        sizes = self.census.known_sizes[blocks.places_of(members)]
        return dict(zip(members.tolist(), sizes.tolist(), strict=True))

    def _is_certain(self, phase: Phase) -> NDArray[np.bool_]:
        """Return for each block of a phase whether it is tried in any case."""
        numbers = np.array(list(self._certain()), dtype=np.int64)
        return np.isin(phase.members, numbers) & ~phase.zeros

    def _draw(
        self, phase: Phase, count: int, start: float, *, certain: NDArray[np.bool_]
    ) -> Sample:
        return draw(phase, self._places, count=count, certain=certain, start=start)

    def closest(
        self,
        phases: Sequence[Phase],
        predicted_bytes: Sequence[NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return the predicted size of every block of the census.

        :param phases: of this round, or of one before.
        :param predicted_bytes: of every phase's blocks; the closest look counts.
        """
        blocks = self.census.blocks
        sizes = np.zeros(len(blocks.members))
        for phase, predicted in zip(phases, predicted_bytes, strict=True):
            if phase.ratios.shape[1]:
                sizes[blocks.places_of(phase.members)] = predicted
        stored = blocks.ratios[:, 0] >= 1
        sizes = np.where(stored, blocks.raw_bytes, np.maximum(1.0, sizes.round()))
        return np.where(blocks.zeros, 0.0, sizes)

    def spread_out(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a size for every block of the layout from those of the census.

        Blocks that aren't in it get the ratio of the next one that is.
        """
        blocks = self.census.blocks
        sizes = np.where(blocks.zeros, 0.0, sizes)
        numbers = np.arange(self._layout.block_count)
        every = np.zeros(len(numbers))
        if not blocks.complete:
            nearest = np.minimum(blocks.places_of(numbers), len(blocks.members) - 1)
            ratio = (sizes / blocks.raw_bytes)[nearest]
            guessed = np.ceil(self._layout.raw_bytes() * ratio)
            every = np.where(self._layout.holes, 0.0, guessed)
        every[blocks.members] = sizes
        return every
