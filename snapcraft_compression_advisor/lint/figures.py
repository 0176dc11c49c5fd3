"""Figures with their intervals, as findings print them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.units import Interval
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
