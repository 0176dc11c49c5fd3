"""``devices``: the profiles as text and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import jsonschema
import pytest

from snapcraft_compression_advisor.cli.listings import SCHEMAS
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import (
    builtin_devices,
    find_device,
)
from snapcraft_compression_advisor.devices.device_file import (
    parse_device,
)
from snapcraft_compression_advisor.report.devices import (
    devices_page,
    render_devices_json,
)
from snapcraft_compression_advisor.report.text_printer import print_text

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.devices.device import DeviceProfile


def text_of(*devices: DeviceProfile) -> str:
    return print_text(devices_page(devices))


def test_text_of_one_has_figures_and_sources() -> None:
    text = text_of(find_device("nvme-laptop"))
    assert text.startswith("nvme-laptop: laptop with an NVMe drive\n")
    assert "67\N{EN DASH}100 µs" in text
    assert "540\N{EN DASH}3400 MB/s" in text
    assert "35\N{EN DASH}58 MB/s" in text
    assert "217\N{EN DASH}657 MB/s" in text
    assert "Storage: published; data sheets" in text


def test_text_fits_a_screen() -> None:
    text = text_of(*builtin_devices())
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 12
    assert all(device.name in text for device in builtin_devices())


def test_storage_that_costs_nothing_is_unlimited() -> None:
    nothing = Interval.exactly(0.0)
    device = replace(
        find_device("nvme-laptop"), seek_s=nothing, read_s_per_byte=nothing
    )
    assert "  0 µs  unlimited MB/s" in text_of(device)


def test_each_profile_in_json_is_a_file_for_device() -> None:
    report = json.loads(render_devices_json(builtin_devices()))
    assert report["schema"] == 1
    assert [each["name"] for each in report["devices"]] == [
        d.name for d in builtin_devices()
    ]
    schema = json.loads(SCHEMAS["device"].text())
    for each in report["devices"]:
        jsonschema.validate(each, schema)
        parse_device(json.dumps(each).encode(), where="device.json")


def test_each_profile_names_its_kernel_and_its_source() -> None:
    devices = json.loads(render_devices_json(builtin_devices()))["devices"]
    kernels = {each["name"]: each["kernel"] for each in devices}
    assert kernels["nvme-laptop"] == {
        "versions": "4.15 to 6.8",
        "file_mode": "direct",
        "decompressors": "single",
        "source": find_device("nvme-laptop").kernel.source,
    }
    assert kernels["sbc-emmc"]["file_mode"] == "unknown"
    assert kernels["chromium-system-3"]["file_mode"] == "cache"
    origins = {each["source"].split(";")[0] for each in kernels.values()}
    assert origins <= {"kernel: published", "kernel: estimated"}
    text = text_of(find_device("sbc-emmc"))
    assert "Kernel unknown: file mode unknown, decompressors single; " in text
    assert "Kernel: published; the file mode depends on the system:" in text


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_command_prints_them(
    form: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(["devices", "--format", form]) == 0
    output = capsys.readouterr().out
    assert all(device.name in output for device in builtin_devices())
