"""What reading blocks takes within a launch, beside what it takes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping

IN_LAUNCH: Mapping[str, Interval] = {
    "xz": Interval(low=1.0, mid=1.1, high=1.25),
    "lzo": Interval(low=0.8, mid=1.3, high=2.0),
    "gzip": Interval(low=1.0, mid=1.25, high=1.5),
    "zstd": Interval(low=0.8, mid=1.4, high=2.0),
    "lz4": Interval(low=0.5, mid=1.3, high=2.5),
    "none": Interval.exactly(1.0),
}
"""Seconds that a launch waits for decompression, per second that the same blocks take
one after the other.

More than 1: between two blocks the application runs, and decompression finds neither
its code nor its tables in the processor's caches. Fitted to measured launches by
``benchmarks/accuracy.py``: the middle is the median of the applications of
docs/accuracy.md, the ends are the lowest and the highest where the codec adds enough to
tell.
"""
