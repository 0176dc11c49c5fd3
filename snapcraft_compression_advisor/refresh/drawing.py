"""Which changed chunks are looked at, and how sure the sum over all of them is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import frozen
from ..core.units import Interval

CONFIDENCE_Z = 1.96


@frozen
class Draw:
    """Some of many chunks.

    :param sizes: of all: what each takes, or likely takes.
    :param chosen: the numbers of those drawn, in ascending order.
    :param weights: how many chunks each of them stands for.
    """

    sizes: NDArray[np.float64]
    chosen: NDArray[np.int64]
    weights: NDArray[np.float64]

    def total(self, costs: NDArray[np.float64], seen: NDArray[np.float64]) -> Interval:
        """Return the sum of the costs of all, with the interval of 95 % of draws.

        :param costs: of those drawn.
        :param seen: how much of each was looked at to tell, as a share.
        """
        mid = float((self.weights * costs).sum())
        drawn = self.sizes[self.chosen]
        covered = self.weights * drawn
        left = np.maximum(
            0, covered - seen * drawn
        )  # what these stand for beside themselves
        rates = costs / drawn
        mean = float((covered * rates).sum() / covered.sum())
        variance = float((left * covered * (rates - mean) ** 2).sum())
        error = CONFIDENCE_Z * math.sqrt(variance)
        return Interval(low=max(0.0, mid - error), mid=mid, high=mid + error)


def draw(packed_bytes: Sequence[int], most: int) -> Draw:
    """Choose chunks evenly along the sum of their sizes.

    Thrice as many have those among them that a smaller draw has.
    """
    sizes = np.array(packed_bytes, dtype=np.float64)
    if len(sizes) <= most:
        everything = np.arange(len(sizes))
        return Draw(sizes=sizes, chosen=everything, weights=np.ones(len(sizes)))
    ends = np.cumsum(sizes)
    points = (np.arange(most) + 0.5) / most * ends[-1]
    chosen, hits = np.unique(np.searchsorted(ends, points), return_counts=True)
    weights = hits * ends[-1] / most / sizes[chosen]
    return Draw(sizes=sizes, chosen=chosen, weights=weights)
