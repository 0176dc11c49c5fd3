"""The built-in device profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from snapcraft_compression_advisor import devices
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import UsageError
from snapcraft_compression_advisor.devices.builtin_devices import (
    DEFAULT_NAMES,
    USUAL_RAW_BYTES,
    USUAL_STORED_BYTES,
    builtin_devices,
    default_devices,
    find_device,
)
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
)

FILES = sorted(Path(devices.__path__[0]).glob("*.yaml"))

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
    cost = find_device("nvme-laptop").decompress[codec]
    assert usual_mb_per_s(cost, "high") == pytest.approx(slow)
    assert usual_mb_per_s(cost, "low") == pytest.approx(fast)
    assert usual_mb_per_s(cost, "mid") == pytest.approx((slow * fast) ** 0.5)


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.name)
def test_every_profile_is_complete_and_in_order(device: DeviceProfile) -> None:
    assert set(device.decompress) == set(CODECS)
    assert device.decompress["none"] == NO_COST
    for cost in (device.fill, *device.decompress.values()):
        for part in (cost.block_s, cost.raw_s_per_byte, cost.stored_s_per_byte):
            assert 0 <= part.low <= part.mid <= part.high
    assert device.processors >= 1


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.name)
def test_every_source_says_whether_it_is_published_or_estimated(
    device: DeviceProfile,
) -> None:
    subjects = [source.partition(": ")[0] for source in device.sources]
    assert {"storage", "decompression", "reading a block"} <= set(subjects)
    for source in device.sources:
        kind = source.partition(": ")[2].partition(";")[0]
        assert kind in {"published", "estimated"}


def test_profiles_are_listed_by_their_place() -> None:
    names = [device.name for device in builtin_devices()]
    assert names[:2] == ["nvme-laptop", "sata-ssd-laptop"]
    assert names[-1] == "chromium-system-4"
    assert names.index("hdd-laptop") < names.index("sbc-emmc")


def test_default_profiles_are_built_in() -> None:
    assert tuple(device.name for device in default_devices()) == DEFAULT_NAMES


KEYS = {
    "place",
    "like",
    "description",
    "processors",
    "source",
    "storage",
    "decompress",
    "decompressions_per_block",
    "kernel",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_has_no_key_that_nothing_reads(path: Path) -> None:
    document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    assert set(document) <= KEYS


def test_fast_board_is_as_much_faster_as_7_zip_says() -> None:
    a53 = {"xz": 23.23, "lzo": 98.16 * 217 / 128, "gzip": 98.16}
    for codec, slow in a53.items():
        cost = find_device("sbc-emmc").decompress[codec]
        assert usual_mb_per_s(cost, "high") == pytest.approx(slow)
        assert usual_mb_per_s(cost, "low") == pytest.approx(slow * 5750 / 4010)


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
            for device in map(find_device, ("sbc-emmc", "nvme-laptop"))
        )
        assert board < laptop


def test_published_systems_have_the_drives_of_their_kind() -> None:
    seeks = [find_device(f"chromium-system-{n}").seek_s for n in (1, 2, 3, 4)]
    sata = find_device("sata-ssd-laptop").seek_s
    hdd, nvme = (find_device(name).seek_s for name in ("hdd-laptop", "nvme-laptop"))
    assert seeks == [sata, hdd, hdd, nvme]


def test_unknown_profile_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="No device profile 'toaster'") as caught:
        find_device("toaster")
    resolution = caught.value.resolution or ""
    assert "Did you mean" not in resolution
    assert all(device.name in resolution for device in builtin_devices())


@pytest.mark.parametrize(("end", "times"), [("low", 1.0), ("mid", 1.7), ("high", 9.6)])
def test_kernel_that_decompresses_blocks_again_takes_several_times_as_long(
    end: str, times: float
) -> None:
    older = find_device("chromium-system-2").decompress["xz"]
    newer = find_device("chromium-system-3").decompress["xz"]
    assert usual_mb_per_s(newer, end) * times == pytest.approx(
        usual_mb_per_s(older, end)
    )
