"""Figures with their intervals, as findings print them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core.units import Interval, format_bytes, format_range, join_ends
from .finding import Origin

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..diff.figures import BaselineDelta
    from ..refresh.delta import DeltaFormat

_MANY_LAUNCHES = 1_000
DELTA_NAMES: Mapping[DeltaFormat, str] = {
    "xdelta3": "plain delta",
    "snap-1-1-xdelta3": "snap-aware delta",
}


def interval_text(figure: Interval, shown: Callable[[float], str]) -> str:
    """Return a figure with its interval, unless it is known exactly."""
    if figure.known:
        return shown(figure.mid)
    return f"{shown(figure.mid)} ({join_ends(shown(figure.low), shown(figure.high))})"


def seconds_text(seconds: Interval) -> str:
    """Return a duration with its interval, as the advice prints it.

    >>> from snapcraft_compression_advisor.core.units import Interval
    >>> seconds_text(Interval(low=0.45, mid=1.07, high=3.13))
    '1.07 s (0.45\N{EN DASH}3.13 s)'
    """
    mid, ends = format_range(seconds)
    return mid if seconds.known else f"{mid} ({ends})"


def bytes_text(size: Interval) -> str:
    """Return a size with its interval.

    >>> from snapcraft_compression_advisor.core.units import Interval
    >>> bytes_text(Interval.exactly(134_852_608))
    '134.9 MB'
    """
    return interval_text(size, format_bytes)


def launches_text(count: float) -> str:
    """Return a number of launches as one would say it.

    >>> launches_text(10769.3), launches_text(5.8), launches_text(0.2)
    ('more than 1,000', '6', 'the first')
    """
    if count > _MANY_LAUNCHES:
        return f"more than {_MANY_LAUNCHES:,}"
    return "the first" if count <= 1 else f"{math.ceil(round(count, 1))}"


def size_origin(size: Interval, analysis: Analysis) -> Origin:
    """Return where an image's size comes from: packed, built already, or estimated."""
    built = analysis.payload.image_bytes
    packed = analysis.trial.mode == "exact"
    if packed or (built is not None and size == Interval.exactly(built)):
        return "measured"
    return "estimated"


def share_text(part: float, whole: float) -> str:
    """Return what share of the whole a part is.

    >>> share_text(1, 3)
    '33%'
    """
    share = part / whole if whole else 0.0
    return f"{share:.0%}" if abs(share) >= 0.01 else f"{share:.1%}"  # noqa: PLR2004 # 1 %


def delta_name(delta: BaselineDelta) -> str:
    """Return what a delta from the baseline is called."""
    return f"{DELTA_NAMES[delta.delta_format]} with {delta.codec}"
