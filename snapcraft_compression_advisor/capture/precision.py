"""When there are enough rounds: once the interval of a difference is narrow.

Whoever looks again and again, and stops when the result pleases, finds an interval that
holds the truth less often than it says (Anscombe, *Fixed-Sample-Size Analysis of
Sequential Observations*, 1954). So there are few checks, after numbers of rounds that
are known beforehand, and each interval has its share of the error: see
:func:`.paired.difference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .paired import difference

if TYPE_CHECKING:
    from .samples import Sample

LEAST_ROUNDS = 5
"""Before the first check: a spread of fewer says little."""

MOST_ROUNDS = 100
"""Of an interval that is half as wide, the fourfold number of rounds is the price."""

_GROWTH = 1.5
"""From one check to the next: few enough checks, and a third of the rounds too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """How narrow the interval of a difference has to be.

    :param reach: how far it may go to each side: seconds, or a share of the mean
        cold launch of the slower of the two.
    :param is_share: which of these it is.
    :param least_rounds: before the first check.
    :param most_rounds: after which the measurement ends in any case.
    """

    reach: float
    is_share: bool
    least_rounds: int
    most_rounds: int = MOST_ROUNDS

    @property
    def check_rounds(self) -> tuple[int, ...]:
        """After how many rounds the interval is checked; the last ends all."""
        rounds = max(self.least_rounds, LEAST_ROUNDS)
        found = []
        while rounds < self.most_rounds:
            found.append(rounds)
            rounds = int(rounds * _GROWTH)
        return (*found, self.most_rounds)

    def wanted_s(self, slower: Sample, faster: Sample) -> float:
        """Return the reach in seconds."""
        return self.reach * (max(slower.mean, faster.mean) if self.is_share else 1)

    def is_reached(self, slower: Sample, faster: Sample) -> bool:
        """Tell whether the interval of these rounds is narrow enough."""
        found = difference(slower, faster, checks=len(self.check_rounds))
        return found is not None and found.reach_s <= self.wanted_s(slower, faster)

    def ends(self, slower: Sample, faster: Sample) -> bool:
        """Tell whether no round follows these."""
        if slower.n not in self.check_rounds:
            return False
        return slower.n == self.most_rounds or self.is_reached(slower, faster)
