"""Timed runs: what they say of a thing and of the machine, and two things compared."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from ..core.units import Interval

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
    def is_noisy(self) -> bool:
        """Whether the runs differ so much that few of them say little."""
        return (self.stdev or 0.0) > NOISY_SHARE * self.mean


def saved_seconds(slower: Sample, faster: Sample) -> Interval | None:
    """Return how many seconds less the second of two things takes than the first.

    The rounds' own differences are compared: what slows a whole round down, such as
    other work on the machine, is in both of its runs and goes away (the paired t test;
    Student, *The Probable Error of a Mean*, 1908). Propagating the errors of two
    separate means, as hyperfine does, would count it twice.

    :returns: the mean with its confidence interval; ``None`` if there are fewer than
        two rounds.
    """
    pairs = zip(slower.runs_s, faster.runs_s, strict=False)
    saved_s = [slow - fast for slow, fast in pairs]
    if len(saved_s) < 2:  # noqa: PLR2004 # a spread takes two
        return None
    mean, error = statistics.fmean(saved_s), statistics.stdev(saved_s)
    reach = student(len(saved_s) - 1) * error / math.sqrt(len(saved_s))
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
