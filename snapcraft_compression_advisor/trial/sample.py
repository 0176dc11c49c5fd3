"""Which blocks a closer look, or the slow codecs, get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcraft_compression_advisor.trial.phase import Phase

_GOLDEN_RATIO = 0.6180339887498949


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
