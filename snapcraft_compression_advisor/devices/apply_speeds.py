"""How fast a device applies a delta: measured, or derived from how it decompresses.

:data:`MEASURED` is fitted to ``study/data/refresh-apply.csv`` by
``study/refresh_apply.py report``. A device whose own speeds aren't known is taken to be
as much faster or slower as it decompresses xz: all of this is loops over bytes, which
wait for the processor alone.
"""

from __future__ import annotations

from ..codecs import CODECS
from ..core.units import KIB, Interval
from .device import ApplySpeeds, ByteCost

OTHER_PROCESSOR = 1.5
"""By how much packing may be faster or slower on another processor than decompressing
says: an assumption, since nobody publishes both."""

DERIVED_SOURCE = (
    "applying deltas: estimated; measured on a server (study/data/refresh-apply.csv), "
    "scaled in proportion to the decompression of xz"
)


def _s_per_byte(low: float, mid: float, high: float) -> Interval:
    low, mid, high = (each / 1e6 / KIB for each in (low, mid, high))
    return Interval(low=low, mid=mid, high=high)


def _per_raw_kib(low: float, mid: float, high: float) -> ByteCost:
    return ByteCost(
        raw_s_per_byte=_s_per_byte(low, mid, high),
        stored_s_per_byte=Interval.exactly(0.0),
    )


MEASURED = ApplySpeeds(
    unpack={
        name: _per_raw_kib(*each.tool_time.unpack) for name, each in CODECS.items()
    },
    pack={name: _per_raw_kib(*each.tool_time.pack) for name, each in CODECS.items()},
    rebuild_s_per_byte=_s_per_byte(2.58, 7.39, 12.63),
    patch_s_per_byte=_s_per_byte(2.22, 7.70, 27.20),
    digest_s_per_byte=Interval.exactly(3.0 / 1e6 / KIB),
)
"""On the machine of the table; the digest is an assumption."""

WRITTEN_S_PER_BYTE = 2.64e-9
CODED_S_PER_BYTE = 64.9e-9
DECODE_SPREAD = Interval(low=0.88, mid=1.0, high=1.29)
"""``xdelta3 -d`` on the machine of the table: per byte that it writes, per byte of a
delta that LZMA has to decode, and the least and the greatest per that."""


def derived_speeds(low: float, mid: float, high: float) -> ApplySpeeds:
    """Return the speeds of a device of which only decompressing is known.

    :param low: how long it takes to decompress xz, at the low end, per what it takes on
        the machine of the table; likewise the others.
    """

    def scaled(part: Interval) -> Interval:
        return Interval.around(
            part.low * low / OTHER_PROCESSOR,
            part.mid * mid,
            part.high * high * OTHER_PROCESSOR,
        )

    return MEASURED.map(scaled)
