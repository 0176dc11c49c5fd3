"""How much faster one thing is than another, both timed in the same rounds.

The rounds' own differences are compared: what slows a whole round down, such as other
work on the machine, is in both of its runs and goes away (the paired t test; Student,
*The Probable Error of a Mean*, 1908). Propagating the errors of two separate means, as
hyperfine does, would count it twice.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.units import Interval
from .samples import Sample

CONFIDENCE = 0.95
_BISECTIONS = 60
"""Each halves an angle below a quarter turn; then its 53 bits are used up."""


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
    """Return how much less time the second of two things takes than the first.

    :returns: ``None`` if there are fewer than two rounds.
    """
    pairs = list(zip(slower.runs_s, faster.runs_s, strict=False))
    if len(pairs) < 2:  # noqa: PLR2004 # a spread takes two
        return None
    times_faster = None
    if all(slow > 0 and fast > 0 for slow, fast in pairs):
        logs = [math.log(slow) - math.log(fast) for slow, fast in pairs]
        times_faster = _mean(logs).map(_exp)
    return Difference(
        rounds=len(pairs),
        saved_s=_mean([slow - fast for slow, fast in pairs]),
        times_faster=times_faster,
    )


def _mean(values: Sequence[float]) -> Interval:
    mean, error = statistics.fmean(values), statistics.stdev(values)
    reach = student(CONFIDENCE, len(values) - 1) * error / math.sqrt(len(values))
    return Interval(low=mean - reach, mid=mean, high=mean + reach)


def _exp(value: float) -> float:
    """Return the exponential, the largest number for what exceeds it."""
    return math.exp(min(value, 700.0))


def student(confidence: float, degrees: int) -> float:
    """Return within how many standard errors Student's t lies with a probability.

    The sums of Abramowitz and Stegun, 26.7.3 and 26.7.4, inverted by bisection.

    :param confidence: two-sided, below 1.
    :param degrees: of freedom, at least 1.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _within(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(degrees)


def _within(angle: float, degrees: int) -> float:
    """Return the probability of ``|t| < tan(angle) * sqrt(degrees)``."""
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = degrees % 2
    term, total = (cosine if is_odd else 1.0), 0.0
    for number in range(2 if is_odd else 1, degrees, 2):
        total += term
        term *= cosine**2 * number / (number + 1)
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total
