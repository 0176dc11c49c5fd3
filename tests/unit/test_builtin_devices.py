"""Built-in devices, their kernels, and the kernel that runs here."""

import gzip
import platform
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.capture.mount import running_kernel
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import BadDataError, UsageError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices import builtin_devices as devices
from snapcraft_compression_advisor.devices.builtin_devices import (
    USUAL_RAW_BYTES,
    USUAL_STORED_BYTES,
    builtin_devices,
    find_device,
)
from snapcraft_compression_advisor.devices.builtin_kernels import (
    KERNELS,
    ONCE,
    REPEATED,
    decompressions_per_block,
    find_kernel,
    with_kernels,
)
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    DeviceProfile,
)
from snapcraft_compression_advisor.devices.device_file import (
    choose_devices,
    device_text,
)
from snapcraft_compression_advisor.lint.run import check_selectors
from snapcraft_compression_advisor.settings.load import load_settings
from snapcraft_compression_advisor.settings.settings import Settings

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


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("seeks_per_s", "seek_per_s", "storage.seeks_per_s: Field required"),
        ("slow: 540", "slow: 5400", "the slow device is faster than the fast one"),
        ("    xz: {", "    none: {", "mb_per_s: xz is missing"),
        ("processors: 4", "like: none", "like: there is no profile 'none'"),
    ],
)
def test_what_is_wrong_with_a_profile_is_named(
    tmp_path: Path, mocker: MockerFixture, right: str, wrong: str, said: str
) -> None:
    text = Path(devices.__file__).with_name("nvme-laptop.yaml").read_text()
    (tmp_path / "odd.yaml").write_text(text.replace(right, wrong, 1))
    mocker.patch(f"{devices.__name__}.files", return_value=tmp_path)
    devices._names.cache_clear()
    try:
        with pytest.raises(BadDataError, match="'odd' is no built-in") as caught:
            find_device("odd")
    finally:
        devices._names.cache_clear()
        devices._document.cache_clear()
    assert said in str(caught.value.details)


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


def test_unknown_profile_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="No device profile 'toaster'") as caught:
        find_device("toaster")
    resolution = caught.value.resolution or ""
    assert "Did you mean" not in resolution
    assert all(device.name in resolution for device in builtin_devices())


NVME = find_device("nvme-laptop")


@pytest.mark.parametrize(
    ("versions", "expected"),
    [("5.7", ONCE), ("5.8", REPEATED), ("5.16", REPEATED), ("5.17", ONCE)],
)
def test_only_linux_5_8_to_5_16_decompress_again(
    versions: str, expected: Interval
) -> None:
    kernel = find_kernel("ubuntu-22.04").model_copy(update={"versions": versions})
    assert decompressions_per_block(kernel) == expected


@pytest.mark.parametrize("versions", ["unknown", "4.15 to 6.8", "5.10 to 6.1"])
def test_unknown_versions_may_be_both(versions: str) -> None:
    kernel = find_kernel("raspi").model_copy(update={"versions": versions})
    times = decompressions_per_block(kernel)
    assert (times.low, times.high) == (1.0, REPEATED.high)


def test_device_stands_for_the_kernels_that_it_costs_the_same_with() -> None:
    devices = with_kernels([NVME], ["ubuntu-24.04", "ubuntu-22.04", "debian-12"])
    assert [each.name for each in devices] == [
        "nvme-laptop",
        "nvme-laptop@ubuntu-22.04",
    ]
    assert devices[0].description.endswith("; as with ubuntu-24.04, debian-12")
    assert devices[0].decompress == NVME.decompress
    assert devices[1].kernel is KERNELS["ubuntu-22.04"]


def test_blocks_take_as_often_as_long() -> None:
    (device,) = with_kernels([NVME], ["ubuntu-22.04"])
    before = NVME.decompress["xz"].raw_s_per_byte
    after = device.decompress["xz"].raw_s_per_byte
    assert after.mid == pytest.approx(before.mid * REPEATED.mid)
    assert after.low == pytest.approx(before.low * REPEATED.low)
    assert device.fill == NVME.fill


def test_device_that_repeats_already_repeats_no_more() -> None:
    system = find_device("chromium-system-4")
    (device,) = with_kernels([system], ["ubuntu-24.04"])
    assert device.decompressions_per_block == ONCE
    before, after = system.decompress["lzo"], device.decompress["lzo"]
    times = system.decompressions_per_block.mid
    assert after.block_s.mid == pytest.approx(before.block_s.mid / times)


def test_device_with_a_budget_stays() -> None:
    devices = with_kernels([NVME], ["ubuntu-22.04"], kept={"nvme-laptop"})
    assert [each.name for each in devices] == [
        "nvme-laptop",
        "nvme-laptop@ubuntu-22.04",
    ]


def test_device_is_chosen_with_a_kernel(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(device_text(replace(NVME, name="mine")), encoding="utf-8")
    (builtin, mine) = choose_devices(["nvme-laptop@debian-11", f"{file}@ubuntu-22.04"])
    assert builtin == with_kernels([NVME], ["debian-11"])[0]
    assert mine.name == "mine@ubuntu-22.04"
    assert mine.kernel is KERNELS["ubuntu-22.04"]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("nvme-laptop@ubuntu-2204", "No kernel 'ubuntu-2204'"),
        ("nvme-laptop@", "No kernel ''"),
        ("nvme@ubuntu-22.04", "No device profile 'nvme'"),
        ("@ubuntu-22.04", "No device profile ''"),
        ("nvme-laptop@debian-11@debian-12", "No kernel 'debian-11@debian-12'"),
    ],
)
def test_wrong_device_or_kernel_is_named(argument: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        choose_devices([argument])


def test_device_that_was_chosen_with_a_kernel_keeps_it() -> None:
    chosen = choose_devices(["nvme-laptop@ubuntu-22.04", "nvme-laptop"])
    kernels = ["ubuntu-22.04", "ubuntu-24.04", "debian-11"]
    devices = with_kernels(chosen, kernels)
    assert [each.name for each in devices] == [
        "nvme-laptop@ubuntu-22.04",
        "nvme-laptop",
        "nvme-laptop@debian-11",
    ]
    assert devices[0] == chosen[0]


def _load(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "compression-advisor.yaml"
    file.write_text(text, encoding="utf-8")
    loaded = load_settings(file, Settings(), check_rules=check_selectors)
    names = [device.name for device in loaded.devices]
    loaded.settings.to_policy(names)
    return names


def test_policy_names_kernels(tmp_path: Path) -> None:
    text = "devices: hdd-laptop\nkernels: [ubuntu-24.04, ubuntu-22.04]\n"
    assert _load(tmp_path, text) == ["hdd-laptop", "hdd-laptop@ubuntu-22.04"]


def test_shares_of_users_may_be_of_devices_with_kernels(tmp_path: Path) -> None:
    shares = {"hdd-laptop@debian-11": 1, "hdd-laptop": 3}
    text = f"devices: {shares}\nkernels: [ubuntu-22.04]\n"
    names = _load(tmp_path, text)
    assert names == ["hdd-laptop@debian-11", "hdd-laptop", "hdd-laptop@ubuntu-22.04"]
    policy = Settings.model_validate({"devices": shares}).to_policy(names)
    assert policy.device_shares == {"hdd-laptop@debian-11": 0.25, "hdd-laptop": 0.75}


def test_shares_of_users_are_those_of_the_devices_alone(tmp_path: Path) -> None:
    text = (
        "devices: {nvme-laptop: 0.7, hdd-laptop: 0.3}\nkernels: [ubuntu-22.04, raspi]\n"
    )
    names = _load(tmp_path, text)
    policy = Settings.model_validate({"devices": {"nvme-laptop": 7, "hdd-laptop": 3}})
    assert policy.to_policy(names).device_shares == {
        "nvme-laptop": 0.7,
        "hdd-laptop": 0.3,
    }


def test_wrong_kernel_in_a_file_is_said_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"compression-advisor\.yaml: No kernel"):
        _load(tmp_path, "kernels: windows\n")


RELEASE = platform.release()
UBUNTU_22_04 = """\
CONFIG_SQUASHFS=y
# CONFIG_SQUASHFS_DECOMP_MULTI is not set
CONFIG_SQUASHFS_DECOMP_SINGLE=y
# CONFIG_SQUASHFS_FILE_CACHE is not set
CONFIG_SQUASHFS_FILE_DIRECT=y
"""
UBUNTU_24_04 = """\
CONFIG_SQUASHFS_CHOICE_DECOMP_BY_MOUNT=y
CONFIG_SQUASHFS_DECOMP_MULTI=y
CONFIG_SQUASHFS_DECOMP_MULTI_PERCPU=y
CONFIG_SQUASHFS_DECOMP_SINGLE=y
CONFIG_SQUASHFS_FILE_DIRECT=y
"""
DEBIAN_12 = """\
CONFIG_SQUASHFS=m
CONFIG_SQUASHFS_FILE_DIRECT=y
CONFIG_SQUASHFS_DECOMP_MULTI_PERCPU=y
"""
FEDORA_32 = """\
CONFIG_SQUASHFS=m
CONFIG_SQUASHFS_FILE_CACHE=y
CONFIG_SQUASHFS_DECOMP_SINGLE=y
"""


def write(root: Path, place: str, text: str) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


@pytest.mark.parametrize(
    ("text", "file_mode", "decompressors"),
    [
        (UBUNTU_22_04, "direct", "single"),
        (UBUNTU_24_04, "direct", "single"),
        (DEBIAN_12, "direct", "percpu"),
        (FEDORA_32, "cache", "single"),
        ("CONFIG_SQUASHFS=y\nCONFIG_SQUASHFS_DECOMP_MULTI=y\n", "unknown", "multi"),
        ("CONFIG_SQUASHFS=y\n", "unknown", "unknown"),
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        "proc/config.gz",
        f"boot/config-{RELEASE}",
        f"lib/modules/{RELEASE}/config",
        f"usr/lib/modules/{RELEASE}/config",
        f"lib/modules/{RELEASE}/build/.config",
    ],
)
def test_modes_are_those_of_the_configuration(
    text: str, file_mode: str, decompressors: str, place: str, tmp_path: Path
) -> None:
    write(tmp_path, place, text)
    kernel = running_kernel(tmp_path)
    assert (kernel.file_mode, kernel.decompressors) == (file_mode, decompressors)
    assert f"options from /{place}" in kernel.source
    assert kernel.versions == ".".join(RELEASE.split("-")[0].split(".")[:2])


def test_configuration_without_squashfs_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "proc/config.gz", "CONFIG_EXT4_FS=y\n")
    write(tmp_path, f"boot/config-{RELEASE}", DEBIAN_12)
    assert running_kernel(tmp_path).file_mode == "direct"


def test_kernel_without_a_configuration_has_unknown_modes(tmp_path: Path) -> None:
    kernel = running_kernel(tmp_path)
    assert (kernel.file_mode, kernel.decompressors) == ("unknown", "unknown")
    assert "its options are unknown" in kernel.source
    assert RELEASE in kernel.source


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x1f\x8b",
        b"no gzip",
        b"\x1f\x8b\x08\xff" * 99,
        gzip.compress(UBUNTU_24_04.encode(), mtime=0)[:-12],
    ],
)
def test_damaged_configuration_is_passed_over(raw: bytes, tmp_path: Path) -> None:
    write(tmp_path, f"boot/config-{RELEASE}", FEDORA_32)
    path = tmp_path / "proc/config.gz"
    path.parent.mkdir()
    path.write_bytes(raw)
    assert running_kernel(tmp_path).file_mode == "cache"


def test_directory_in_place_of_a_configuration_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / f"boot/config-{RELEASE}").mkdir(parents=True)
    assert running_kernel(tmp_path).decompressors == "unknown"
