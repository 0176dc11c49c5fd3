"""What distributions configure: the data, the page and the built-in profiles agree."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import pytest

from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.devices.builtin_kernels import (
    KERNELS,
    ONCE,
    REPEATED,
    decompressions_per_block,
)

ROOT = Path(__file__).parents[2]
CONFIGS = ROOT / "study/data/kernel-configs.csv"
READERS = CONFIGS.with_name("kernel-readers.csv")
DECOMPRESSORS = {
    ("single", "no"): "one",
    ("single", "yes"): "one, more with `threads=`",
    ("percpu", "no"): "one for each processor",
}


def configurations() -> list[dict[str, str]]:
    lines = CONFIGS.read_text().splitlines()
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


def test_kernels_are_as_their_configurations() -> None:
    with CONFIGS.open(encoding="utf-8") as file:
        rows = {
            row["system"].lower().replace(" ", "-"): row
            for row in csv.DictReader(line for line in file if line[0] != "#")
        }
    rows["raspi"] = rows.pop("raspberry-pi")
    unread = KERNELS["ubuntu-26.04"]
    assert (unread.file_mode, unread.decompressors) == ("unknown", "unknown")
    assert decompressions_per_block(unread) == ONCE
    for name, kernel in KERNELS.items():
        if kernel is unread:
            continue
        row = rows[name]
        assert (kernel.file_mode, kernel.decompressors) == (
            row["file_mode"],
            row["decompressors"],
        )
        known = kernel.versions.replace("unknown", "not stated")
        assert row["kernel"].startswith(known)


def test_repeated_reads_are_the_medians_of_what_was_counted() -> None:
    with READERS.open(encoding="utf-8") as file:
        rows = [*csv.DictReader(line for line in file if line[0] != "#")]
    for readers, expected in (
        ("1", REPEATED.low),
        ("2, one reads 1/8", REPEATED.mid),
        ("4 alike", REPEATED.high),
    ):
        times = [
            int(row["read_bytes"]) / int(row["once_bytes"])
            for row in rows
            if (row["kernel"], row["readers"]) == ("5.10", readers)
            and row["read_ahead_kib"] == "128"
        ]
        assert len(times) == 22
        assert statistics.median(times) == pytest.approx(expected, rel=0.02)
