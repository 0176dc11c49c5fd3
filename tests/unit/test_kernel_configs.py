"""What distributions configure: the data, the page and the built-in profiles agree."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from snapcraft_compression_advisor.devices.builtin_devices import find_device

ROOT = Path(__file__).parents[2]
DECOMPRESSORS = {
    ("single", "no"): "one",
    ("single", "yes"): "one, more with `threads=`",
    ("percpu", "no"): "one for each processor",
}


def configurations() -> list[dict[str, str]]:
    lines = (ROOT / "study/data/kernel-configs.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_page_has_the_table_of_the_data() -> None:
    page = (ROOT / "docs/study/kernels.md").read_text()
    for row in configurations():
        version = row["kernel"].partition("-")[0]
        version = ".".join(version.split(".")[:2])
        system = row["system"].replace("Raspberry Pi", "Raspberry Pi's own")
        words = DECOMPRESSORS[row["decompressors"], row["by_mount"]]
        assert f"| {system} | {version} | {row['file_mode']} | {words} |" in page


@pytest.mark.parametrize(
    ("device", "systems"),
    [
        (
            "nvme-laptop",
            ["Ubuntu 18.04", "Ubuntu 20.04", "Ubuntu 22.04", "Ubuntu 24.04"],
        ),
        ("hdd-laptop", ["Ubuntu 18.04", "Ubuntu 24.04"]),
        ("chromium-system-1", ["Ubuntu 18.04"]),
        ("chromium-system-2", ["Ubuntu 20.04"]),
        ("chromium-system-3", ["Fedora 32"]),
        ("chromium-system-4", ["Ubuntu 20.04", "Ubuntu 22.04"]),
    ],
)
def test_profile_has_the_modes_of_its_systems(device: str, systems: list[str]) -> None:
    kernel = find_device(device).kernel
    rows = [row for row in configurations() if row["system"] in systems]
    assert len(rows) == len(systems)
    for row in rows:
        assert row["file_mode"] == kernel.file_mode
        assert row["decompressors"] == kernel.decompressors
