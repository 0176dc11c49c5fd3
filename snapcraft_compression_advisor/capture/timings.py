"""Seconds measured several times, and what they come to."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One thing, timed several times.

    :param runs_s: seconds of each run, in the order of the runs; at least one.
    """

    runs_s: tuple[float, ...]

    @property
    def n(self) -> int:
        """How many runs there are."""
        return len(self.runs_s)

    @property
    def median(self) -> float:
        """The median, seconds."""
        return statistics.median(self.runs_s)

    @property
    def stdev(self) -> float | None:
        """The sample standard deviation, seconds; not known of a single run."""
        return statistics.stdev(self.runs_s) if self.n > 1 else None

    @property
    def five_numbers(self) -> tuple[float, float, float, float, float]:
        """Shortest, first quartile, median, third quartile, longest; seconds.

        Quartiles are interpolated between runs, the extremes included (method 7 of
        Hyndman and Fan, *Sample Quantiles in Statistical Packages*, 1996).
        """
        least, most = min(self.runs_s), max(self.runs_s)
        if self.n == 1:
            return (least, least, least, most, most)
        quartiles = statistics.quantiles(self.runs_s, n=4, method="inclusive")
        return (least, quartiles[0], quartiles[1], quartiles[2], most)
