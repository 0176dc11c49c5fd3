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


def _per_kib(ends: tuple[float, float, float], *, by_stored: bool = False) -> ByteCost:
    cost, nothing = _s_per_byte(*ends), Interval.exactly(0.0)
    if by_stored:
        return ByteCost(raw_s_per_byte=nothing, stored_s_per_byte=cost)
    return ByteCost(raw_s_per_byte=cost, stored_s_per_byte=nothing)


MEASURED = ApplySpeeds(
    unpack={
        name: _per_kib(each.tool_time.unpack, by_stored=each.tool_time.by_stored)
        for name, each in CODECS.items()
    },
    pack={name: _per_kib(each.tool_time.pack) for name, each in CODECS.items()},
    rebuild_s_per_byte=_s_per_byte(2.15, 6.18, 11.17),
    patch_s_per_byte=_s_per_byte(1.93, 6.43, 24.16),
    digest_s_per_byte=_s_per_byte(3.37, 4.25, 4.99),
)
"""On the machine of the table; the digest as snapd's library makes it
(``study/digest``, ``study/data/refresh-digest.csv``)."""

DECODE_START_S = 2.2e-3
WRITTEN_S_PER_BYTE = 2.29e-9
READ_S_PER_BYTE = 0.87e-9
CODED_S_PER_BYTE = 54.9e-9
DECODE_SPREAD = Interval(low=0.87, mid=1.0, high=1.41)
"""``xdelta3 -d`` on the machine of the table: to start, per byte that it writes, per
byte of the delta, per byte of it that LZMA has to decode; the least and the greatest
per that. Fitted to the pairs of the fit on both machines of the table."""

SIDE_BY_SIDE = 1.034
WAIT_S = 0.0177
"""How long programs take on two processors, per what the same processor time alone
would, since they share caches and memory, and how long they wait for one another at
their start and end. Fitted to 25 pairs, ``study/data/refresh-apply-other.csv``."""


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
