"""The page on the default devices, and the table that it rests on."""

from __future__ import annotations

from pathlib import Path

import device_verdicts
from snapcraft_compression_advisor.devices.builtin_devices import DEFAULT_NAMES

PAGE = Path(__file__).parents[2] / "docs/study/default-devices.md"


def test_page_has_the_table_that_the_data_give() -> None:
    table = "\n".join(device_verdicts.table())
    assert f"\n\n{table}\n\n" in PAGE.read_text(), "run study/device_verdicts.py"


def test_page_speaks_of_the_default_devices_and_of_the_shares_of_the_table() -> None:
    assert device_verdicts.DEFAULT == DEFAULT_NAMES
    assert " and ".join(f"`{name}`" for name in DEFAULT_NAMES) in PAGE.read_text()
    shares = ", ".join(
        f"{name}: {count}" for name, count in device_verdicts.NOTEBOOKS.items()
    )
    assert f"devices: {{{shares}}}" in PAGE.read_text()
