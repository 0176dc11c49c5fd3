"""What applying a delta takes on a device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.apply import (
    ApplySizes,
    ApplyWork,
    apply_disk_bytes,
    apply_memory_bytes,
    apply_seconds,
)
from snapcraft_compression_advisor.devices.apply_speeds import (
    MEASURED,
    OTHER_PROCESSOR,
    derived_speeds,
)
from snapcraft_compression_advisor.devices.builtin_devices import (
    builtin_devices,
    find_device,
)
from snapcraft_compression_advisor.devices.device import DeviceProfile
from snapcraft_compression_advisor.refresh.apply import apply_cost
from snapcraft_compression_advisor.refresh.delta import SNAP_AWARE, RefreshSizes

MB = 1_000_000
SIZES = ApplySizes(
    old_image=50 * MB,
    new_image=50 * MB,
    old_raw=150 * MB,
    new_raw=150 * MB,
    delta=10 * MB,
)
NVME = find_device("nvme-laptop")


def test_programs_share_the_processors_but_xdelta3_has_one_thread() -> None:
    work = ApplyWork(unpack=2.0, decode=3.0, pack=7.0, digest=1.0)
    assert [work.seconds(count) for count in (1, 2, 8)] == [13.0, 7.0, 4.0]


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.name)
def test_packing_with_xz_takes_longer_than_with_lzo(device: DeviceProfile) -> None:
    xz, lzo = (
        apply_seconds(SIZES, "snap-1-1-xdelta3", codec, device)
        for codec in ("xz", "lzo")
    )
    assert xz.low < xz.mid < xz.high
    assert xz.mid > lzo.mid


def test_plain_delta_does_not_depend_on_the_codec_and_is_soon_applied() -> None:
    xz, lzo = (apply_seconds(SIZES, "xdelta3", codec, NVME) for codec in ("xz", "lzo"))
    assert xz == lzo
    packed = apply_seconds(SIZES, "snap-1-1-xdelta3", "xz", NVME)
    assert xz.high < packed.low


def test_slow_storage_limits_a_plain_delta() -> None:
    slow = replace(NVME, read_s_per_byte=Interval.exactly(1 / MB))
    assert apply_seconds(SIZES, "xdelta3", "xz", slow).mid == pytest.approx(60, rel=0.1)
    # In memory at the low end.
    assert apply_seconds(SIZES, "xdelta3", "xz", slow).low < 1


def test_derived_speeds_are_wider_than_the_device() -> None:
    speeds = derived_speeds(1.0, 2.0, 4.0)
    measured = MEASURED.pack["xz"].raw_s_per_byte
    pack = speeds.pack["xz"].raw_s_per_byte
    assert pack.low == pytest.approx(measured.low / OTHER_PROCESSOR)
    assert pack.mid == pytest.approx(measured.mid * 2)
    assert pack.high == pytest.approx(measured.high * 4 * OTHER_PROCESSOR)


def test_delta_and_new_image_are_on_disk_at_once() -> None:
    assert apply_disk_bytes(SIZES) == 60 * MB


def test_memory_is_bounded_by_the_image_and_by_the_queues() -> None:
    small = replace(SIZES, old_raw=1 * MB, new_raw=1 * MB, old_image=1 * MB)
    large = replace(SIZES, old_raw=9000 * MB, new_raw=9000 * MB, new_image=4000 * MB)
    plain, aware = (
        apply_memory_bytes(SIZES, each) for each in ("xdelta3", "snap-1-1-xdelta3")
    )
    assert plain < aware
    assert apply_memory_bytes(small, "xdelta3") < 20 * MB
    most = 256 + 64 + 16 + 2 * 256
    assert apply_memory_bytes(large, "snap-1-1-xdelta3") == most * 1024 * 1024


def test_cost_of_a_refresh_has_all_three() -> None:
    sizes = RefreshSizes(
        old_image_bytes=50 * MB,
        new_image_bytes=50 * MB,
        old_raw_bytes=150 * MB,
        new_raw_bytes=150 * MB,
        delta_bytes=Interval.around(8 * MB, 10 * MB, 12 * MB),
    )
    cost = apply_cost(sizes, SNAP_AWARE, "xz", NVME)
    assert cost.seconds == apply_seconds(SIZES, "snap-1-1-xdelta3", "xz", NVME)
    assert cost.disk_bytes == 60 * MB
    assert cost.memory_bytes > 300 * MB
