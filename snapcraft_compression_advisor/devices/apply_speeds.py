"""How fast a device applies a delta: measured, or derived from how it decompresses.

:data:`MEASURED` is fitted to ``study/data/refresh-apply.csv`` by
``study/refresh_apply.py report``. A device whose own speeds aren't known is taken to be
as much faster or slower as it decompresses xz: all of this is loops over bytes, which
wait for the processor alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.units import KIB, Interval
from .device import ApplySpeeds, ByteCost

OTHER_PROCESSOR = 1.5
"""By how much packing may be faster or slower on another processor than decompressing
says: an assumption, since nobody publishes both."""

MODEL_MISS = 0.15
"""How far processor times of payloads are from this model, at most, on the machine
that it was fitted on (``study/refresh_apply.py report``)."""

DERIVED_SOURCE = (
    "applying deltas: estimated; measured on a server (study/data/refresh-apply.csv), "
    "scaled in proportion to the decompression of xz"
)


def _per_kib(*microseconds: float) -> ByteCost:
    raw, stored = (Interval.exactly(each / 1e6 / KIB) for each in microseconds)
    return ByteCost(raw_s_per_byte=raw, stored_s_per_byte=stored)


_PACK: Mapping[str, tuple[float, float]] = {
    "xz": (180.0, 0.0),
    "lzo": (85.0, 0.0),
    "gzip": (60.0, 0.0),
    "zstd": (110.0, 0.0),
    "lz4": (6.0, 0.0),
    "none": (2.0, 0.0),
}
"""Of mksquashfs, by codec: µs per KiB of contents, and per KiB of image."""

_UNPACK: Mapping[str, tuple[float, float]] = {
    "xz": (14.0, 0.0),
    "lzo": (3.0, 0.0),
    "gzip": (5.0, 0.0),
    "zstd": (3.0, 0.0),
    "lz4": (2.0, 0.0),
    "none": (1.0, 0.0),
}
"""Of unsquashfs, likewise."""

MEASURED = ApplySpeeds(
    unpack={codec: _per_kib(*cost) for codec, cost in _UNPACK.items()},
    pack={codec: _per_kib(*cost) for codec, cost in _PACK.items()},
    rebuild_s_per_byte=Interval.exactly(2.0 / 1e6 / KIB),
    patch_s_per_byte=Interval.exactly(2.5 / 1e6 / KIB),
    digest_s_per_byte=Interval.exactly(3.0 / 1e6 / KIB),
)
"""On the machine of the table."""


def derived_speeds(low: float, mid: float, high: float) -> ApplySpeeds:
    """Return the speeds of a device of which only decompressing is known.

    :param low: how long it takes to decompress xz, at the low end, per what it takes on
        the machine of the table; likewise the others.
    """

    def scaled(part: Interval) -> Interval:
        return Interval.around(
            part.mid * low / OTHER_PROCESSOR,
            part.mid * mid,
            part.mid * high * OTHER_PROCESSOR,
        )

    return MEASURED.map(scaled)
