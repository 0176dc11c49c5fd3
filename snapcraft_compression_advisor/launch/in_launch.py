"""What reading blocks takes within a launch, beside what it takes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

IN_LAUNCH: Mapping[str, Interval] = {
    "xz": Interval(low=0.97, mid=1.09, high=1.36),
    "lzo": Interval(low=0.86, mid=1.14, high=2.15),
    "gzip": Interval(low=1.03, mid=1.22, high=1.63),
    "zstd": Interval(low=0.72, mid=1.1, high=3.34),
    "lz4": Interval(low=0.99, mid=1.34, high=2.53),
    "none": Interval.exactly(1.0),
}
"""Seconds that a launch waits for decompression, per second that the same blocks take
one after the other.

More than 1: between two blocks the application runs, and decompression finds neither
its code nor its tables in the processor's caches. Fitted to measured launches by
``study/accuracy.py``: the middle is the median of the applications of
docs/accuracy.md, the ends are the lowest and the highest where the codec adds enough to
tell.
"""
