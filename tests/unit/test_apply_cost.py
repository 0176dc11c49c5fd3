"""What applying a delta takes on a device."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import work_of
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.apply import (
    ApplySizes,
    ApplyWork,
    apply_disk_bytes,
    apply_memory_bytes,
    apply_seconds,
    apply_work,
)
from snapcraft_compression_advisor.devices.apply_speeds import (
    MEASURED,
    OTHER_PROCESSOR,
    SIDE_BY_SIDE,
    WAIT_S,
    derived_speeds,
)
from snapcraft_compression_advisor.devices.builtin_devices import (
    builtin_devices,
    find_device,
)
from snapcraft_compression_advisor.devices.device import ByteCost, DeviceProfile
from snapcraft_compression_advisor.payload.search_work import SearchWork
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
    taken = [work.seconds(count) for count in (1, 2, 8)]
    together = [6.0 * SIDE_BY_SIDE + WAIT_S + 1, 3.0 * SIDE_BY_SIDE + WAIT_S + 1]
    assert taken == pytest.approx([13.0, *together])


def test_nothing_is_packed_before_the_first_window_is_decoded() -> None:
    work = ApplyWork(unpack=2.0, decode=3.0, pack=7.0, digest=1.0, ahead=1.0)
    taken = [work.seconds(count) for count in (1, 2)]
    assert taken == pytest.approx([13.0, (4.0 + 3.5) * SIDE_BY_SIDE + WAIT_S + 1])
    half = replace(work, ahead=0.5)
    assert half.seconds(2) == pytest.approx((2.0 + 4.75) * SIDE_BY_SIDE + WAIT_S + 1)


def test_a_plain_delta_is_decoded_by_one_thread_alone() -> None:
    work = ApplyWork(unpack=0.0, decode=3.0, pack=0.0, digest=1.0)
    assert work.seconds(8) == work.seconds(1) == 4.0


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


def pack_of(work: SearchWork, codec: str) -> Interval:
    sizes = replace(SIZES, search=work, coded=0.0)
    return apply_seconds(sizes, "snap-1-1-xdelta3", codec, NVME)


def test_contents_that_are_searched_more_take_lzo_longer() -> None:
    easy = work_of(150 * MB, 150 * MB)
    hard = replace(easy, steps=7_500 * MB)
    assert pack_of(hard, "lzo").mid > 3 * pack_of(easy, "lzo").mid
    assert pack_of(hard, "xz").mid < 2 * pack_of(easy, "xz").mid


def test_many_small_files_take_xz_longer_and_lzo_hardly() -> None:
    one_file = work_of(150 * MB, 3_000 * MB)
    many = replace(one_file, blocks=40_000)
    assert pack_of(many, "xz").mid > 1.3 * pack_of(one_file, "xz").mid
    assert pack_of(many, "lzo").mid < 1.3 * pack_of(one_file, "lzo").mid


def test_interval_is_narrower_where_the_contents_are_known() -> None:
    work = work_of(150 * MB, 3_000 * MB)
    known = pack_of(work, "lzo")
    unknown = apply_seconds(SIZES, "snap-1-1-xdelta3", "lzo", NVME)
    assert known.low < known.mid < known.high
    assert known.high / known.low < unknown.high / unknown.low


def test_lzma_is_decoded_as_fast_as_xz_is_unpacked_however_that_is_given() -> None:
    nothing = Interval.exactly(0.0)
    cost = MEASURED.unpack["xz"]
    by_raw = ByteCost(
        raw_s_per_byte=cost.stored_s_per_byte.map(lambda each: each / 3),
        stored_s_per_byte=nothing,
    )
    slow = replace(MEASURED, unpack={**MEASURED.unpack, "xz": by_raw})
    sizes = replace(SIZES, coded=10.0 * MB)
    one, other = (
        apply_work(speeds, sizes, "xdelta3", "lzo", "mid").decode
        for speeds in (MEASURED, slow)
    )
    assert one == pytest.approx(other)


def test_what_lzma_has_to_decode_takes_xdelta3_longer() -> None:
    stored, coded = (
        apply_seconds(replace(SIZES, coded=coded), "xdelta3", "xz", NVME)
        for coded in (0.0, 10.0 * MB)
    )
    assert coded.mid > 2 * stored.mid


@given(
    st.floats(0, 1e9),
    st.floats(0, 1e10),
    st.sampled_from(["xz", "lzo"]),
)
def test_interval_is_in_order_whatever_the_contents_are(
    raw: float, steps: float, codec: str
) -> None:
    work = work_of(raw, steps)
    found = pack_of(work, codec)
    assert 0 <= found.low <= found.mid <= found.high


def test_slower_device_packs_known_contents_slower() -> None:
    work = work_of(150 * MB, 3_000 * MB)
    sizes = replace(SIZES, search=work, coded=MB)
    slow = replace(NVME, apply=NVME.apply.map(lambda part: part.map(lambda s: 2 * s)))
    once, twice = (
        apply_seconds(sizes, "snap-1-1-xdelta3", "lzo", device).mid
        for device in (NVME, slow)
    )
    assert twice == pytest.approx(2 * once, rel=0.01)
