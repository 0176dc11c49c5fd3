"""The built-in device profiles."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.devices.builtin_devices import (
    DEVICES,
    HDD_LAPTOP,
    LAPTOP_DECOMPRESS,
    LINUX_5_8_DECOMPRESSIONS,
    NVME_LAPTOP,
    SINGLE_BOARD_COMPUTER,
    USUAL_RAW_BYTES,
    USUAL_STORED_BYTES,
    find_device,
)
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
)

PUBLISHED_MB_PER_S = {
    "xz": (35, 58),
    "lzo": (217, 657),
    "gzip": (128, 340),
    "zstd": (224, 904),
    "lz4": (218, 2703),
}


def usual_mb_per_s(cost: BlockCost, end: str) -> float:
    seconds: float = (
        getattr(cost.block_s, end)
        + getattr(cost.raw_s_per_byte, end) * USUAL_RAW_BYTES
        + getattr(cost.stored_s_per_byte, end) * USUAL_STORED_BYTES
    )
    return USUAL_RAW_BYTES / seconds / 1e6


@pytest.mark.parametrize("codec", PUBLISHED_MB_PER_S)
def test_usual_block_takes_the_published_time(codec: str) -> None:
    slow, fast = PUBLISHED_MB_PER_S[codec]
    cost = LAPTOP_DECOMPRESS[codec]
    assert usual_mb_per_s(cost, "high") == pytest.approx(slow)
    assert usual_mb_per_s(cost, "low") == pytest.approx(fast)
    assert usual_mb_per_s(cost, "mid") == pytest.approx((slow * fast) ** 0.5)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_every_profile_is_complete_and_in_order(device: DeviceProfile) -> None:
    assert set(device.decompress) == set(CODECS)
    assert device.decompress["none"] == NO_COST
    for cost in (device.fill, *device.decompress.values()):
        for part in (cost.block_s, cost.raw_s_per_byte, cost.stored_s_per_byte):
            assert 0 <= part.low <= part.mid <= part.high
    assert device.processors >= 1


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_every_source_says_whether_it_is_published_or_estimated(
    device: DeviceProfile,
) -> None:
    subjects = [source.partition(": ")[0] for source in device.sources]
    assert {"storage", "decompression", "reading a block"} <= set(subjects)
    for source in device.sources:
        kind = source.partition(": ")[2].partition(";")[0]
        assert kind in {"published", "estimated"}


def test_names_are_unique() -> None:
    assert len({device.name for device in DEVICES}) == len(DEVICES)


def test_seeks_get_dearer_from_nvme_to_hard_disk() -> None:
    seeks = [
        find_device(name).seek_s.mid
        for name in ("nvme-laptop", "sata-ssd-laptop", "sbc-emmc", "hdd-laptop")
    ]
    assert seeks == sorted(seeks)


def test_board_is_slower_than_a_laptop_with_every_codec() -> None:
    for codec in PUBLISHED_MB_PER_S:
        board, laptop = (
            usual_mb_per_s(device.decompress[codec], "mid")
            for device in (SINGLE_BOARD_COMPUTER, NVME_LAPTOP)
        )
        assert board < laptop


def test_published_systems_have_the_drives_of_their_kind() -> None:
    seeks = [find_device(f"chromium-system-{n}").seek_s for n in (1, 2, 3, 4)]
    sata = find_device("sata-ssd-laptop").seek_s
    assert seeks == [sata, HDD_LAPTOP.seek_s, HDD_LAPTOP.seek_s, NVME_LAPTOP.seek_s]


def test_unknown_profile_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="No device profile 'toaster'") as caught:
        find_device("toaster")
    resolution = caught.value.resolution or ""
    assert "Did you mean" not in resolution
    assert all(device.name in resolution for device in DEVICES)


@pytest.mark.parametrize("end", ["low", "mid", "high"])
def test_kernel_that_decompresses_blocks_again_takes_so_many_times_as_long(
    end: str,
) -> None:
    older = find_device("chromium-system-2").decompress["xz"]
    newer = find_device("chromium-system-3").decompress["xz"]
    times = getattr(LINUX_5_8_DECOMPRESSIONS, end)
    assert usual_mb_per_s(newer, end) * times == pytest.approx(
        usual_mb_per_s(older, end)
    )
