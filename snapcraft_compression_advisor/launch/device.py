"""Device profiles: what reading and decompressing cost on a machine."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.errors import UsageError
from snapcraft_compression_advisor.units import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProfile:
    """A machine that a snap starts on.

    The low ends of all intervals together are a fast device of its kind, the high
    ends a slow one.

    :param name: as ``--device`` takes it.
    :param description: for people.
    :param seek_s: from asking for a block that doesn't follow the last one until
        its first byte, seconds.
    :param read_s_per_byte: storage time per byte of a continuous read.
    :param decompress_s_per_byte: by codec, processor time per byte of
        decompressed data; nothing for ``none``.
    :param sources: where the figures come from.
    """

    name: str
    description: str
    seek_s: Interval
    read_s_per_byte: Interval
    decompress_s_per_byte: Mapping[str, Interval]
    sources: tuple[str, ...]


def _published_cost(*, slow_rate: float, fast_rate: float) -> Interval:
    """Return the cost of one from two published rates per second.

    Their geometric mean is the middle: rates of devices differ by factors.
    """
    middle = math.sqrt(slow_rate * fast_rate)
    return Interval.around(1 / slow_rate, 1 / middle, 1 / fast_rate)


# Slow: commit 87bf54bb43dd of Linux (2017; squashfs read through tar in a virtual
# machine on a 3.1 GHz Core i7, so with the cost of reading in it). Fast:
# squashfs-tools-ng doc/benchmark.txt (2021; serial unpacking from memory on a
# Ryzen 7 3700X). Both for 128 KiB blocks of a desktop's file tree.
DECOMPRESS_S_PER_BYTE: dict[str, Interval] = {
    "xz": _published_cost(slow_rate=35 * _MB, fast_rate=58 * _MB),
    "lzo": _published_cost(slow_rate=217 * _MB, fast_rate=657 * _MB),
    "gzip": _published_cost(slow_rate=128 * _MB, fast_rate=340 * _MB),
    "zstd": _published_cost(slow_rate=224 * _MB, fast_rate=904 * _MB),
    "lz4": _published_cost(slow_rate=218 * _MB, fast_rate=2703 * _MB),
    "none": Interval.exactly(0.0),
}

_CODEC_SOURCES = (
    (
        "decompression: published; Linux commit 87bf54bb43dd (slow end), "
        "squashfs-tools-ng doc/benchmark.txt (fast end)"
    ),
)

NVME_LAPTOP = DeviceProfile(
    name="nvme-laptop",
    description="laptop with an NVMe drive",
    # Fast: 15,000 reads of 4 KiB a second at queue depth 1, and 3,400 MB/s in
    # sequence (data sheet of the Samsung 970 EVO). Slow: 10,000 reads a second and
    # 540 MB/s (data sheet of the Samsung 850 EVO, a SATA drive).
    seek_s=_published_cost(slow_rate=10_000, fast_rate=15_000),
    read_s_per_byte=_published_cost(slow_rate=540 * _MB, fast_rate=3400 * _MB),
    decompress_s_per_byte=DECOMPRESS_S_PER_BYTE,
    sources=(
        (
            "storage: published; data sheets of Samsung 970 EVO (fast end) and "
            "850 EVO (slow end)"
        ),
        *_CODEC_SOURCES,
    ),
)

HDD_LAPTOP = DeviceProfile(
    name="hdd-laptop",
    description="laptop with a hard disk of 5,400 rpm",
    # Half a turn at 5,400 rpm is 5.5 ms. To it comes a track-to-track seek of 1 ms
    # (an image lies in one piece) up to the average seek of 12 ms: specification of
    # the Hitachi Travelstar 5K320, section 4.4.2. Throughput: sustained and highest
    # media rate of the Seagate Momentus 5400.4.
    seek_s=_published_cost(slow_rate=1 / 0.0175, fast_rate=1 / 0.0065),
    read_s_per_byte=_published_cost(slow_rate=58 * _MB, fast_rate=100.75 * _MB),
    decompress_s_per_byte=DECOMPRESS_S_PER_BYTE,
    sources=(
        (
            "storage: published; specification of the Hitachi Travelstar 5K320 (seeks) "
            "and data sheet of the Seagate Momentus 5400.4 (throughput)"
        ),
        *_CODEC_SOURCES,
    ),
)

DEVICES = (NVME_LAPTOP, HDD_LAPTOP)
"""The built-in profiles."""


def find_devices(names: Sequence[str]) -> tuple[DeviceProfile, ...]:
    """Return the profiles of these names, all built-in ones where none is named.

    :raises UsageError: where there is no such profile.
    """
    by_name = {device.name: device for device in DEVICES}
    for name in names:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            message = f"No device profile {name!r}"
            raise UsageError(
                message,
                resolution=(f"Did you mean {near[0]!r}? " if near else "")
                + f"Profiles: {', '.join(by_name)}.",
            )
    return tuple(by_name[name] for name in dict.fromkeys(names)) or DEVICES
