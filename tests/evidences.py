"""Evidence on an image that takes 100 MB with xz, for tests of the advice."""

from __future__ import annotations

from snapcraft_compression_advisor.advice.evidence import Evidence, Saving
from snapcraft_compression_advisor.core.units import Interval

MB = 1_000_000


def interval(low: float, mid: float, high: float) -> Interval:
    return Interval(low=low, mid=mid, high=high)


def make_evidence(
    *savings: Saving, declared: str | None = None, added_mb: float | Interval = 10.0
) -> Evidence:
    """Return evidence on what lzo saves, and on what it adds to the image."""
    added = added_mb if isinstance(added_mb, Interval) else Interval.exactly(added_mb)
    return Evidence(
        declared=declared,
        xz_bytes=Interval.exactly(100 * MB),
        lzo_bytes=added.map(lambda size: (100 + size) * MB),
        bytes_added=added.map(lambda size: size * MB),
        savings=savings,
    )
