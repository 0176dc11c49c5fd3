"""The built-in device profiles, with the published source of each figure.

A codec's published throughput says how long a usual block takes: 128 KiB that are
stored in a third of it. How this divides into block, raw and stored bytes is measured
(``study/data/kernel-blocks.csv``) and scaled to the published figure.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.core.units import KIB, Interval
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
    block_seconds,
    scaled,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_MB = 1_000_000

USUAL_RAW_BYTES = 128 * KIB
USUAL_STORED_BYTES = USUAL_RAW_BYTES / 3
"""xz and gzip take about a third of a desktop's files (commit 87bf54bb43dd)."""


def usual_block_s(cost: BlockCost) -> float:
    """Return the middle of what a usual block costs, in seconds."""
    return block_seconds(
        cost, raw_bytes=USUAL_RAW_BYTES, stored_bytes=USUAL_STORED_BYTES
    )


def _shape(
    block_us: float, raw_us_per_kib: float, stored_us_per_kib: float
) -> BlockCost:
    return BlockCost(
        block_s=Interval.exactly(block_us / 1e6),
        raw_s_per_byte=Interval.exactly(raw_us_per_kib / 1e6 / KIB),
        stored_s_per_byte=Interval.exactly(stored_us_per_kib / 1e6 / KIB),
    )


# Fitted to study/data/kernel-blocks.csv by cost_fit; a test fits them again.
MEASURED_FILL = _shape(110.67, 0.4102, 0)
MEASURED_SHAPES: Mapping[str, BlockCost] = {
    "xz": _shape(7.32, 2.502, 50.81),
    "lzo": _shape(3.42, 0.2098, 1.339),
    "gzip": _shape(2.83, 2.178, 3.656),
    "zstd": _shape(16.50, 0.7452, 1.75),
    "lz4": _shape(3.88, 0.01126, 0.4922),
}


def _published_cost(*, slow_rate: float, fast_rate: float) -> Interval:
    """Return the cost of one from two published rates per second.

    Their geometric mean is the middle: rates of devices differ by factors.
    """
    middle = math.sqrt(slow_rate * fast_rate)
    return Interval.around(1 / slow_rate, 1 / middle, 1 / fast_rate)


def _published_block_cost(codec: str, *, slow_mb: float, fast_mb: float) -> BlockCost:
    """Return a codec's cost from two published throughputs of contents, MB/s."""
    low, middle, high = _scales(codec, slow_mb=slow_mb, fast_mb=fast_mb)
    return scaled(MEASURED_SHAPES[codec], low=low, mid=middle, high=high)


def _scales(codec: str, *, slow_mb: float, fast_mb: float) -> tuple[float, ...]:
    """Return how the published costs of a usual block compare to the measured one."""
    per_byte = _published_cost(slow_rate=slow_mb * _MB, fast_rate=fast_mb * _MB)
    measured_s = usual_block_s(MEASURED_SHAPES[codec])
    return tuple(
        each * USUAL_RAW_BYTES / measured_s
        for each in (per_byte.low, per_byte.mid, per_byte.high)
    )


def _fill_like_xz(*, slow_mb: float, fast_mb: float) -> BlockCost:
    """Return the measured cost of reading any block, scaled as xz is.

    Nobody publishes it; it is small, and the same for every codec. Most of it is the
    wait for another thread, which took half as long wherever the virtual processor
    wasn't halted: hence half at the low end.
    """
    low, middle, high = _scales("xz", slow_mb=slow_mb, fast_mb=fast_mb)
    return scaled(MEASURED_FILL, low=low / 2, mid=middle, high=high)


# Slow: commit 87bf54bb43dd of Linux (2017; squashfs read through tar in a virtual
# machine on a 3.1 GHz Core i7, so with the cost of reading in it). Fast:
# squashfs-tools-ng doc/benchmark.txt (2021; serial unpacking from memory on a
# Ryzen 7 3700X). Both for 128 KiB blocks of a desktop's file tree.
LAPTOP_DECOMPRESS: Mapping[str, BlockCost] = {
    "xz": _published_block_cost("xz", slow_mb=35, fast_mb=58),
    "lzo": _published_block_cost("lzo", slow_mb=217, fast_mb=657),
    "gzip": _published_block_cost("gzip", slow_mb=128, fast_mb=340),
    "zstd": _published_block_cost("zstd", slow_mb=224, fast_mb=904),
    "lz4": _published_block_cost("lz4", slow_mb=218, fast_mb=2703),
    "none": NO_COST,
}
LAPTOP_FILL = _fill_like_xz(slow_mb=35, fast_mb=58)
_FILL_SOURCE = (
    "reading a block: estimated; measured on a server (study/data/"
    "kernel-blocks.csv), scaled as the published throughput of xz is"
)
_LAPTOP_PROCESSOR_SOURCES = (
    (
        "decompression: published; Linux commit 87bf54bb43dd (slow end), "
        "squashfs-tools-ng doc/benchmark.txt (fast end)"
    ),
    _FILL_SOURCE,
)

# Fast: 15,000 reads of 4 KiB a second at queue depth 1, and 3,400 MB/s in sequence
# (data sheet of the Samsung 970 EVO). Slow: 10,000 reads a second and 540 MB/s (data
# sheet of the Samsung 850 EVO, a SATA drive).
_NVME_SEEK_S = _published_cost(slow_rate=10_000, fast_rate=15_000)
_NVME_READ_S_PER_BYTE = _published_cost(slow_rate=540 * _MB, fast_rate=3400 * _MB)
_NVME_SOURCE = (
    "storage: published; data sheets of Samsung 970 EVO (fast end) and 850 EVO "
    "(slow end)"
)

# Fast: 10,000 reads of 4 KiB a second at queue depth 1, 540 MB/s (data sheet of the
# Samsung 850 EVO). Slow: the Micron 5100 MAX makes a fifth fewer reads a second than
# the 8,500 of a Kingston DC500 (AnandTech, reviews 14541 and 15470); 250 MB/s is the
# Intel X25-M's specification, about what SATA at 3 Gb/s carries.
_SATA_SEEK_S = _published_cost(slow_rate=6_800, fast_rate=10_000)
_SATA_READ_S_PER_BYTE = _published_cost(slow_rate=250 * _MB, fast_rate=540 * _MB)
_SATA_SOURCE = (
    "storage: published; data sheet of the Samsung 850 EVO (fast end), AnandTech on "
    "the Micron 5100 MAX (slow seeks), specification of the Intel X25-M (slow transfer)"
)

# Half a turn at 5,400 rpm is 5.5 ms. To it comes a track-to-track seek of 1 ms (an
# image lies in one piece) up to the average seek of 12 ms: specification of the
# Hitachi Travelstar 5K320, section 4.4.2. Throughput: sustained and highest media
# rate of the Seagate Momentus 5400.4.
_HDD_SEEK_S = _published_cost(slow_rate=1 / 0.0175, fast_rate=1 / 0.0065)
_HDD_READ_S_PER_BYTE = _published_cost(slow_rate=58 * _MB, fast_rate=100.75 * _MB)
_HDD_SOURCE = (
    "storage: published; specification of the Hitachi Travelstar 5K320 (seeks) and "
    "data sheet of the Seagate Momentus 5400.4 (throughput)"
)

# Slow: a Cortex-A53, the ODROID-C2 of TurboBench's README (user space, one thread):
# lzma 23.23, zlib 98.16, zstd level 9 108.76, lz4 level 9 329.14 MB/s; lzo isn't
# there and is taken for 217/128 of zlib, as in Linux commit 87bf54bb43dd. Fast: a
# Cortex-A72, by what 7-zip makes of a Raspberry Pi 4 B and an ODROID-C2 at 1.5 GHz
# in sbc-bench's Results.md, 5,750 and 4,010.
_A72_BY_A53 = 5750 / 4010
_A53_MB_PER_S = {
    "xz": 23.23,
    "lzo": 98.16 * 217 / 128,
    "gzip": 98.16,
    "zstd": 108.76,
    "lz4": 329.14,
}
_BOARD_DECOMPRESS: Mapping[str, BlockCost] = {
    **{
        codec: _published_block_cost(
            codec, slow_mb=slow_mb, fast_mb=slow_mb * _A72_BY_A53
        )
        for codec, slow_mb in _A53_MB_PER_S.items()
    },
    "none": NO_COST,
}

NVME_LAPTOP = DeviceProfile(
    name="nvme-laptop",
    description="laptop with an NVMe drive",
    seek_s=_NVME_SEEK_S,
    read_s_per_byte=_NVME_READ_S_PER_BYTE,
    fill=LAPTOP_FILL,
    decompress=LAPTOP_DECOMPRESS,
    processors=4,
    sources=(_NVME_SOURCE, *_LAPTOP_PROCESSOR_SOURCES),
)

SATA_SSD_LAPTOP = DeviceProfile(
    name="sata-ssd-laptop",
    description="laptop with an SSD on SATA",
    seek_s=_SATA_SEEK_S,
    read_s_per_byte=_SATA_READ_S_PER_BYTE,
    fill=LAPTOP_FILL,
    decompress=LAPTOP_DECOMPRESS,
    processors=4,
    sources=(_SATA_SOURCE, *_LAPTOP_PROCESSOR_SOURCES),
)

HDD_LAPTOP = DeviceProfile(
    name="hdd-laptop",
    description="laptop with a hard disk of 5,400 rpm",
    seek_s=_HDD_SEEK_S,
    read_s_per_byte=_HDD_READ_S_PER_BYTE,
    fill=LAPTOP_FILL,
    decompress=LAPTOP_DECOMPRESS,
    processors=4,
    sources=(_HDD_SOURCE, *_LAPTOP_PROCESSOR_SOURCES),
)

SINGLE_BOARD_COMPUTER = DeviceProfile(
    name="sbc-emmc",
    description="single-board computer (Cortex-A53 to A72), SD card or eMMC",
    # 1,500 and 4,000 random reads a second: what the SD specification asks of cards
    # of application performance class A1 (5.1) and A2 (6.0).
    seek_s=_published_cost(slow_rate=1_500, fast_rate=4_000),
    # Measured by Gateworks (its wiki, page MMC): an eMMC at 35 MHz and one with HS400.
    read_s_per_byte=_published_cost(slow_rate=43 * _MB, fast_rate=166 * _MB),
    fill=_fill_like_xz(
        slow_mb=_A53_MB_PER_S["xz"], fast_mb=_A53_MB_PER_S["xz"] * _A72_BY_A53
    ),
    decompress=_BOARD_DECOMPRESS,
    processors=4,
    sources=(
        (
            "storage: published; SD specification, classes A1 and A2 (seeks), "
            "Gateworks wiki on eMMC (transfer)"
        ),
        (
            "decompression: published; TurboBench README on the ODROID-C2 (slow end), "
            "sbc-bench Results.md on the Raspberry Pi 4 B (fast end); both in user "
            "space, lzo by its ratio to gzip elsewhere"
        ),
        _FILL_SOURCE,
    ),
)

_SYSTEMS_SOURCE = (
    "machine: published; snapcraft.io blog of 2020-10-27 on LZO, Chromium 85; its "
    "models of processor and drive aren't named, so figures are of their kind"
)


LINUX_5_8_DECOMPRESSIONS = Interval(low=1.4, mid=5.0, high=5.5)
"""How often Linux 5.8 to 5.16 decompress a block, per time that others do.

Since commit c1f6925e1091 ("mm: put readahead pages in cache earlier"), a block that
several threads wait for is decompressed for one page after the other; 5.17 ended that
(9eec1d897139). Published on squashfs-devel: one reader 245 MB/s where it was 360
(Zheng Liang, 16 November 2021); a boot 150 s where it was 30 (Ahmad Fatoum, 4 April
2022); 24 readers 362 s where they took 66 (Xiongwei Song, May 2022). The middle one is
nearest to a launch too: many programs that start at once.
"""
_LINUX_5_8_SOURCE = (
    "decompressing blocks again and again, as Linux 5.8 to 5.16 do: published; "
    "squashfs-devel, November 2021 to May 2022"
)


def _chromium_system(
    number: int, description: str, *, like: DeviceProfile, processors: int
) -> DeviceProfile:
    """Return a machine of the published table of Chromium's launches."""
    return DeviceProfile(
        name=f"chromium-system-{number}",
        description=f"system {number} of the published Chromium table: {description}",
        seek_s=like.seek_s,
        read_s_per_byte=like.read_s_per_byte,
        fill=like.fill,
        decompress=like.decompress,
        processors=processors,
        sources=(_SYSTEMS_SOURCE, *like.sources),
    )


def _with_linux_5_8(device: DeviceProfile) -> DeviceProfile:
    return replace(
        device,
        decompress={
            codec: _many_times(cost, LINUX_5_8_DECOMPRESSIONS)
            for codec, cost in device.decompress.items()
        },
        sources=(*device.sources, _LINUX_5_8_SOURCE),
    )


def _many_times(cost: BlockCost, times: Interval) -> BlockCost:
    parts = (cost.block_s, cost.raw_s_per_byte, cost.stored_s_per_byte)
    block_s, raw_s_per_byte, stored_s_per_byte = (
        Interval(
            low=part.low * times.low,
            mid=part.mid * times.mid,
            high=part.high * times.high,
        )
        for part in parts
    )
    return BlockCost(
        block_s=block_s,
        raw_s_per_byte=raw_s_per_byte,
        stored_s_per_byte=stored_s_per_byte,
    )


DEVICES = (
    NVME_LAPTOP,
    SATA_SSD_LAPTOP,
    HDD_LAPTOP,
    SINGLE_BOARD_COMPUTER,
    _chromium_system(
        1, "Core i5, SSD, Kubuntu 18.04", like=SATA_SSD_LAPTOP, processors=8
    ),
    _chromium_system(
        2, "Core i3, 5,400 rpm disk, Ubuntu 20.04", like=HDD_LAPTOP, processors=4
    ),
    _with_linux_5_8(
        _chromium_system(
            3, "Core i3, 5,400 rpm disk, Fedora 32", like=HDD_LAPTOP, processors=4
        )
    ),
    _with_linux_5_8(
        _chromium_system(
            4, "Core i7, NVMe drive, Ubuntu 20.10", like=NVME_LAPTOP, processors=4
        )
    ),
)
"""The built-in profiles."""

DEFAULT_DEVICES = (NVME_LAPTOP, HDD_LAPTOP)
"""What ``advise`` estimates for where nothing else is asked for."""


def find_device(name: str) -> DeviceProfile:
    """Return the built-in profile of a name.

    :raises UsageError: where there is no such profile.
    """
    by_name = {device.name: device for device in DEVICES}
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name, by_name, n=1)
    message = f"No device profile {name!r}"
    raise UsageError(
        message,
        resolution=(f"Did you mean {near[0]!r}? " if near else "")
        + f"Profiles: {', '.join(by_name)}; or the path of a YAML file.",
    )
