"""What the running kernel's configuration says of squashfs."""

from __future__ import annotations

import gzip
import platform
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.running_kernel import running_kernel

if TYPE_CHECKING:
    from pathlib import Path

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
    "raw", [b"", b"\x1f\x8b", b"no gzip", b"\x1f\x8b\x08\xff" * 99]
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


def test_truncated_configuration_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "proc/config.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(UBUNTU_24_04.encode())[:-12])
    assert running_kernel(tmp_path).decompressors == "unknown"
