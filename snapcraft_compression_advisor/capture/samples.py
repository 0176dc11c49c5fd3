"""Timed runs: what they say of a thing and of the machine, and two things compared."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.units import Interval

FAR_OUT_IQR = 3.0
"""Interquartile ranges beyond the quartiles, from where on a run is an outlier.

Tukey's "far out" values (*Exploratory Data Analysis*, 1977, section 2D), which
criterion calls severe outliers. His 1.5 would name a run in most samples of ten.
"""

NOISY_SHARE = 0.1
"""Standard deviation by mean from which on runs are noisy: that of pyperf's check."""

CONFIDENCE = 0.95
_STUDENT = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
"""Quantiles of Student's t for two-sided 95 %, from one degree of freedom on
(Abramowitz and Stegun, table 26.10)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """What one run took.

    :param user_s: processor time of its processes in user mode.
    :param system_s: in the kernel, which decompresses for who reads.
    """

    wall_s: float
    user_s: float
    system_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One thing, timed several times.

    :param runs_s: seconds of each run, in the order of the runs; at least one.
    :param user_s: processor time of each run in user mode; None if it isn't known.
    :param system_s: the same in the kernel.
    """

    runs_s: tuple[float, ...]
    user_s: tuple[float, ...] | None = None
    system_s: tuple[float, ...] | None = None

    @classmethod
    def of_runs(cls, runs: list[RunTime]) -> Sample:
        """Return the sample of runs."""
        return cls(
            runs_s=tuple(run.wall_s for run in runs),
            user_s=tuple(run.user_s for run in runs),
            system_s=tuple(run.system_s for run in runs),
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
    def outliers(self) -> tuple[int, ...]:
        """Which runs are far from the others, counted from 1, by Tukey's fences.

        Quartiles are interpolated between runs, the extremes included (method 7 of
        Hyndman and Fan, *Sample Quantiles in Statistical Packages*, 1996).
        """
        if self.n == 1:
            return ()
        first, _, third = statistics.quantiles(self.runs_s, n=4, method="inclusive")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much less time one thing takes than another.

    :param rounds: pairs of runs.
    :param saved_s: mean of the rounds' differences, with its confidence interval.
    :param times_faster: geometric mean of the rounds' ratios, which has the same
        meaning whichever is divided by which (Fleming and Wallace, *How Not to Lie
        with Statistics*, 1986), with its confidence interval; ``None`` if a run
        took no time.
    """

    rounds: int
    saved_s: Interval
    times_faster: Interval | None


def difference(slower: Sample, faster: Sample) -> Difference | None:
    """Return the seconds that the second of two things takes less than the first.

    The rounds' own differences are compared: what slows a whole round down, such as
    other work on the machine, is in both of its runs and goes away (the paired t test;
    Student, *The Probable Error of a Mean*, 1908). Propagating the errors of two
    separate means, as hyperfine does, would count it twice.

    :returns: ``None`` if there are fewer than two rounds.
    """
    pairs = list(zip(slower.runs_s, faster.runs_s, strict=False))
    if len(pairs) < 2:  # noqa: PLR2004 # a spread takes two
        return None
    times_faster = None
    if all(slow > 0 and fast > 0 for slow, fast in pairs):
        logs = [math.log(slow) - math.log(fast) for slow, fast in pairs]
        times_faster = _mean(logs).map(math.exp)
    return Difference(
        rounds=len(pairs),
        saved_s=_mean([slow - fast for slow, fast in pairs]),
        times_faster=times_faster,
    )


def _mean(values: Sequence[float]) -> Interval:
    mean, error = statistics.fmean(values), statistics.stdev(values)
    reach = student(len(values) - 1) * error / math.sqrt(len(values))
    return Interval(low=mean - reach, mid=mean, high=mean + reach)


def student(degrees: int) -> float:
    """Return within how many standard errors Student's t lies with the confidence.

    Beyond the table the first terms of the series for many degrees are exact to 0.0001
    (Abramowitz and Stegun, 26.7.5).

    :param degrees: of freedom, at least 1.
    """
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    return 1.95996 + 2.37227 / degrees + 2.8225 / degrees**2
