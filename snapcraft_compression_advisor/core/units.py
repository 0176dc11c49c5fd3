"""Bytes, seconds, intervals, and how they print."""

from __future__ import annotations

from collections.abc import Callable

from .frozen import frozen

KIB = 1024
MIB = 1024 * KIB

_DECIMAL_STEP = 1000
_TEN = 10
_MILLISECONDS_BELOW_S = 0.1


@frozen
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
    def known(self) -> bool:
        """Whether the figure carries no uncertainty."""
        return self.low == self.high

    def __add__(self, other: Interval) -> Interval:
        return Interval(
            low=self.low + other.low,
            mid=self.mid + other.mid,
            high=self.high + other.high,
        )

    def map(self, function: Callable[[float], float]) -> Interval:
        """Return the interval of a monotonic function of this figure."""
        return Interval.around(
            function(self.low), function(self.mid), function(self.high)
        )


def format_bytes(count: float) -> str:
    """Return a byte count in decimal units, as stores and downloads show it.

    >>> format_bytes(912)
    '912 B'
    >>> format_bytes(134_852_608)
    '134.9 MB'
    """
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if abs(size) < _DECIMAL_STEP:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _DECIMAL_STEP
    return f"{size:.2f} GB"


def format_seconds(seconds: float) -> str:
    """Return a duration with two decimals below ten seconds, one above.

    >>> format_seconds(0.254)
    '0.25 s'
    >>> format_seconds(12.34)
    '12.3 s'
    >>> format_seconds(-0.001)
    '0.00 s'
    """
    text = f"{seconds:.1f} s" if abs(seconds) >= _TEN else f"{seconds:.2f} s"
    return "0.00 s" if text == "-0.00 s" else text


def format_range(seconds: Interval) -> tuple[str, str]:
    """Return a duration and the ends of its interval, in one unit.

    >>> format_range(Interval(0.33, 0.52, 0.72))
    ('0.52 s', '0.33\N{EN DASH}0.72 s')
    >>> format_range(Interval(0.008, 0.014, 0.021))
    ('14 ms', '8\N{EN DASH}21 ms')
    """
    ends = (seconds.low, seconds.mid, seconds.high)
    if max(abs(seconds.low), abs(seconds.high)) < _MILLISECONDS_BELOW_S:
        unit, texts = "ms", [f"{_DECIMAL_STEP * end:.0f}" for end in ends]
    else:
        unit, texts = "s", [format_seconds(end).removesuffix(" s") for end in ends]
    low, mid, high = texts
    return f"{mid} {unit}", join_ends(f"{low} {unit}", f"{high} {unit}")


def join_ends(low: str, high: str) -> str:
    """Return the ends of an interval, with their unit once.

    >>> join_ends("12.0 MB", "13.8 MB"), join_ends("980.0 kB", "1.1 MB")
    ('12.0\N{EN DASH}13.8 MB', '980.0 kB\N{EN DASH}1.1 MB')
    """
    number, _, unit = low.partition(" ")
    if unit and high.endswith(f" {unit}"):
        low = number
    # A dash beside a minus can't be read.
    between = " to " if low.startswith("-") else "\N{EN DASH}"
    return f"{low}{between}{high}"
