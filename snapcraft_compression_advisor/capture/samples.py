"""Timed runs, and what they say of a thing and of the machine."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

FAR_OUT_IQR = 3.0
"""Interquartile ranges beyond the quartiles, from where on a run is an outlier.

Tukey's "far out" values (*Exploratory Data Analysis*, 1977, section 2D), which
criterion calls severe outliers. His 1.5 would name a run in most samples of ten.
"""

NOISY_SHARE = 0.1
"""Standard deviation by mean from which on runs are noisy: that of pyperf's check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """What one run took.

    :param user_s: processor time of its processes in user mode; ``None`` if it
        isn't known.
    :param system_s: in the kernel, which decompresses for who reads.
    """

    wall_s: float
    user_s: float | None = None
    system_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One thing, timed several times.

    :param runs_s: seconds of each run, in the order of the runs; at least one.
    :param user_s: processor time of each run in user mode; ``None`` if it isn't
        known.
    :param system_s: processor time of each run in the kernel.
    """

    runs_s: tuple[float, ...]
    user_s: tuple[float, ...] | None = None
    system_s: tuple[float, ...] | None = None

    @classmethod
    def of_runs(cls, runs: list[RunTime]) -> Sample:
        """Return the sample of runs; processor time only if it is known of all."""
        user_s = tuple(run.user_s for run in runs if run.user_s is not None)
        system_s = tuple(run.system_s for run in runs if run.system_s is not None)
        return cls(
            runs_s=tuple(run.wall_s for run in runs),
            user_s=user_s if len(user_s) == len(runs) else None,
            system_s=system_s if len(system_s) == len(runs) else None,
        )

    @property
    def n(self) -> int:
        """How many runs there are."""
        return len(self.runs_s)

    @property
    def mean(self) -> float:
        """The mean, seconds."""
        return statistics.fmean(self.runs_s)

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

    @property
    def outliers(self) -> tuple[int, ...]:
        """Which runs are far from the others, counted from 1, by Tukey's fences."""
        _, first, _, third, _ = self.five_numbers
        reach = FAR_OUT_IQR * (third - first)
        return tuple(
            number
            for number, seconds in enumerate(self.runs_s, start=1)
            if not first - reach <= seconds <= third + reach
        )

    @property
    def is_noisy(self) -> bool:
        """Whether the runs differ so much that few of them say little."""
        return (self.stdev or 0.0) > NOISY_SHARE * self.mean
