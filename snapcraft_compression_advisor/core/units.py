"""Bytes, seconds, intervals, and how they print."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add, mul, sub
from typing import Literal

KIB = 1024
MIB = 1024 * KIB

_DECIMAL_STEP = 1000
_TEN = 10
_MILLISECONDS_BELOW_S = 0.1
_MICROSECONDS_BELOW_S = 1e-4
_HOURS_FROM_S = 3600
_LEAST_SHARE = 0.0005
_WHOLE_PERCENT_FROM = 0.0995
_LISTED_NAMES = 6
"""Names that a list for people shows; it counts the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure with its uncertainty: ``low <= mid <= high``.

    The ends are scenarios rather than independent errors: what makes one figure
    low (a fast device, a small launch set) makes its siblings low as well. Sums
    and differences are therefore taken end by end.
    """

    low: float
    mid: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Interval:
        """Return the interval of a figure that is known."""
        return cls(low=value, mid=value, high=value)

    @classmethod
    def around(cls, *values: float) -> Interval:
        """Return the interval spanned by three values, in whichever order."""
        low, mid, high = sorted(values)
        return cls(low=low, mid=mid, high=high)

    @property
    def ends(self) -> tuple[float, float, float]:
        """Its low end, middle and high end."""
        return self.low, self.mid, self.high

    @property
    def known(self) -> bool:
        """Whether the figure carries no uncertainty."""
        return self.low == self.high

    def __add__(self, other: Interval) -> Interval:
        low, mid, high = map(add, self.ends, other.ends)
        return Interval(low=low, mid=mid, high=high)

    def __sub__(self, other: Interval) -> Interval:
        """Return the difference of siblings, which are low or high together."""
        return Interval.around(*map(sub, self.ends, other.ends))

    def __mul__(self, factor: Interval | float) -> Interval:
        """Return so many times the figure; ends by ends if that is uncertain too."""
        factors = factor.ends if isinstance(factor, Interval) else (factor,) * 3
        return Interval.around(*map(mul, self.ends, factors))

    def __neg__(self) -> Interval:
        """Return the negative; added, it takes off what is no sibling's."""
        return self * -1

    def map(self, function: Callable[[float], float]) -> Interval:
        """Return the interval of a monotonic function of this figure."""
        return Interval.around(*map(function, self.ends))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """An interval with its unit: what a table's cell or a sentence shows.

    :param unit: seconds or bytes.
    :param is_change: whether it is a difference, which is shown with its sign.
    """

    value: Interval
    unit: Literal["s", "B"]
    is_change: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """The middle, and the ends of the interval; empty if it is known exactly."""
        if self.unit == "B" or self.is_change:
            shown = format_bytes if self.unit == "B" else format_seconds
            ends = self.value.ends
            texts = (signed(e, shown) if self.is_change else shown(e) for e in ends)
            low, mid, high = texts
            both = join_ends(low, high, between=" to " if self.is_change else "")
        else:
            mid, both = format_range(self.value)
        return mid, "" if self.value.known else both

    def __str__(self) -> str:
        middle, ends = self.parts
        return f"{middle} ({ends})" if ends else middle


def combined(
    total: Callable[[Sequence[float]], float],
    figures: Sequence[Interval],
    *,
    bounded: bool = True,
) -> Interval:
    """Return a total of independent figures, with the interval that theirs make.

    Each figure goes to either end while the others stay in the middle; the distances
    add up by their squares (ISO/IEC Guide 98-3, 5.1.2).

    :param bounded: whether no total is less than that of all low ends.
    """
    lows, middles = zip(*((figure.low, figure.mid) for figure in figures), strict=True)
    cases = (
        [*middles[:place], end, *middles[place + 1 :]]
        for place, figure in enumerate(figures)
        for end in (figure.low, figure.high)
    )
    mid, lowest, *totals = map(total, [middles, lows, *cases])
    below = above = 0.0
    for ends in zip(totals[::2], totals[1::2], strict=True):
        below += max(0.0, mid - min(ends)) ** 2
        above += max(0.0, max(ends) - mid) ** 2
    low, lowest = mid - math.sqrt(below), min(mid, lowest)
    if bounded and lowest >= 0:
        low = max(low, lowest)
    return Interval(low=low, mid=mid, high=mid + math.sqrt(above))


def seconds(value: Interval | float) -> Figure:
    """Return a duration as a figure."""
    return Figure(value=_interval(value), unit="s")


def size(value: Interval | float) -> Figure:
    """Return a number of bytes as a figure."""
    return Figure(value=_interval(value), unit="B")


def seconds_text(value: Interval | float) -> str:
    """Return a duration with its interval."""
    return str(seconds(value))


def bytes_text(value: Interval | float) -> str:
    """Return a number of bytes with its interval."""
    return str(size(value))


def _interval(value: Interval | float) -> Interval:
    return value if isinstance(value, Interval) else Interval.exactly(value)


def format_bytes(count: float) -> str:
    """Return a byte count in decimal units, as stores and downloads show it."""
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if abs(size) < _DECIMAL_STEP:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _DECIMAL_STEP
    return f"{size:.2f} GB"


def format_seconds(seconds: float) -> str:
    """Return a duration with two decimals below ten seconds, one above."""
    text = f"{seconds:.1f} s" if abs(seconds) >= _TEN else f"{seconds:.2f} s"
    return "0.00 s" if text == "-0.00 s" else text


def format_range(seconds: Interval) -> tuple[str, str]:
    """Return a duration and the ends of its interval, in one unit."""
    ends = seconds.ends
    furthest = max(map(abs, ends))
    if furthest >= _HOURS_FROM_S:  # of many users together
        unit, texts = "h", [f"{end / _HOURS_FROM_S:,.1f}" for end in ends]
    elif furthest >= _MILLISECONDS_BELOW_S or not furthest:
        unit, texts = "s", [format_seconds(end).removesuffix(" s") for end in ends]
    else:
        unit, factor = ("ms", 1e3) if furthest >= _MICROSECONDS_BELOW_S else ("µs", 1e6)
        # Adding zero takes the sign off what is rounded to nothing.
        texts = [f"{round(end * factor) + 0:.0f}" for end in ends]
    low, mid, high = texts
    return f"{mid} {unit}", join_ends(f"{low} {unit}", f"{high} {unit}")


def join_ends(low: str, high: str, *, between: str = "") -> str:
    """Return the ends of an interval, with their unit once."""
    number, _, unit = low.partition(" ")
    if unit and high.endswith(f" {unit}"):
        low = number
    # A dash beside a minus can't be read.
    between = between or (" to " if low.startswith("-") else "\N{EN DASH}")
    return f"{low}{between}{high}"


def signed(value: float, shown: Callable[[float], str]) -> str:
    """Return a difference with its sign; none if it shows as nothing."""
    text = shown(abs(value))
    if not any(digit in text for digit in "123456789"):
        return text
    return f"{'-' if value < 0 else '+'}{text}"


def percent(share: float) -> str:
    """Return a share of one in percent, with a decimal if it is small."""
    if 0 < share < _LEAST_SHARE:
        return "under 0.1%"
    whole = abs(share) >= _WHOLE_PERCENT_FROM or not share
    return f"{share:.0%}" if whole else f"{share:.1%}"


def counted(count: int, noun: str, *, plural: str = "") -> str:
    """Return a number with its noun."""
    nouns = plural or f"{noun}s"
    return f"{count:,} {noun if count == 1 else nouns}"


def first_of(names: Sequence[str], most: int = _LISTED_NAMES) -> str:
    """Return the first of some names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def joined(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}."
