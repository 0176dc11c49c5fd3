"""Device profiles as YAML files."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    UsageError,
)
from snapcraft_compression_advisor.devices.builtin_devices import (
    builtin_devices,
    find_device,
    usual_block_s,
)
from snapcraft_compression_advisor.devices.device import DeviceProfile
from snapcraft_compression_advisor.devices.device_file import (
    choose_devices,
    device_text,
    parse_device,
)

NVME_LAPTOP = find_device("nvme-laptop")
TEXT = device_text(NVME_LAPTOP)


def document() -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(TEXT)
    return loaded


def parse(changed: object) -> None:
    parse_device(json.dumps(changed).encode(), where="device.yaml")


@pytest.mark.parametrize("device", builtin_devices(), ids=lambda device: device.name)
def test_every_profile_is_written_and_read_back(device: DeviceProfile) -> None:
    text = device_text(device)
    again = parse_device(text.encode(), where="device.yaml")
    assert device_text(again) == text
    assert (again.name, again.sources) == (device.name, device.sources)
    assert again.kernel == device.kernel
    assert again.seek_s.mid == pytest.approx(device.seek_s.mid, rel=1e-3)
    for codec in CODECS:
        known, read = (
            usual_block_s(each.decompress[codec]) for each in (device, again)
        )
        assert read == pytest.approx(known, rel=1e-3)


NOT_A_FIGURE: tuple[object, ...] = (
    -1e-9,
    float("nan"),
    float("inf"),
    11,
    "0.1",
    True,
    None,
    [0.1],
    {},
)


@pytest.mark.parametrize("value", NOT_A_FIGURE)
def test_value_that_is_no_figure_is_refused_by_its_key(value: object) -> None:
    changed = document()
    changed["storage"]["seek_s"]["high"] = value
    with pytest.raises(
        BadDataError, match=r"device.yaml.*storage\.seek_s\.high"
    ) as caught:
        parse(changed)
    assert "calibrate" in (caught.value.resolution or "")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 2),
        ("schema", "1"),
        ("name", "Name"),
        ("name", "name\n"),
        ("name", "../x"),
        ("name", ""),
        ("description", "a\x1b[31m"),
        ("description", ""),
        ("processors", 0),
        ("processors", 1.5),
        ("processors", True),
        ("sources", []),
        ("sources", "measured"),
        ("decompress", {}),
        ("decompress", {"bzip2": {}}),
        ("fill", None),
    ],
)
def test_wrong_value_is_refused_by_its_key(key: str, value: object) -> None:
    with pytest.raises(BadDataError, match=rf"version 1: {key}"):
        parse({**document(), key: value})


def test_ends_out_of_order_are_refused() -> None:
    changed = document()
    changed["storage"]["seek_s"] = {"low": 2, "mid": 1, "high": 3}
    with pytest.raises(BadDataError, match="in ascending order"):
        parse(changed)


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_content_is_a_profile_or_bad_data(content: bytes) -> None:
    with pytest.raises(BadDataError):
        parse_device(content, where="device.yaml")


@given(st.integers(0, len(TEXT)), st.integers(0, 40), st.text(max_size=8))
def test_damaged_profile_is_a_profile_or_bad_data(
    start: int, length: int, instead: str
) -> None:
    damaged = (TEXT[:start] + instead + TEXT[start + length :]).encode(
        "utf-8", "surrogatepass"
    )
    with suppress(BadDataError):
        device = parse_device(damaged, where="device.yaml")
        assert set(device.decompress) == set(CODECS)


def test_codecs_left_out_are_in_proportion_to_the_built_in_ones() -> None:
    changed = document()
    changed["decompress"] = {"xz": changed["decompress"]["xz"]}
    for ranges in changed["decompress"]["xz"].values():
        for end in ranges:
            ranges[end] *= 3
    device = parse_device(json.dumps(changed).encode(), where="device.yaml")
    for codec in ("xz", "lzo", "zstd"):
        three_times = 3 * usual_block_s(NVME_LAPTOP.decompress[codec])
        assert usual_block_s(device.decompress[codec]) == pytest.approx(
            three_times, rel=1e-3
        )
    assert "of lzo, gzip, zstd, lz4" in device.sources[-1]


def test_names_and_files_are_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = TEXT.replace("name: nvme-laptop", "name: mine")
    Path("device").write_text(text)
    chosen = choose_devices(["hdd-laptop", "device", "hdd-laptop"])
    assert [device.name for device in chosen] == ["hdd-laptop", "mine"]
    assert choose_devices(["./device"])[0].name == "mine"


@pytest.mark.parametrize("argument", ["gone.yaml", "gone.yml", "gone/device", "./gone"])
def test_what_looks_like_a_path_is_one(argument: str) -> None:
    with pytest.raises(NoInputError, match="Cannot read the device profile"):
        choose_devices([argument])


def test_misspelt_name_is_corrected() -> None:
    with pytest.raises(UsageError, match="No device profile 'nvme-lap'") as caught:
        choose_devices(["nvme-lap"])
    assert "Did you mean 'nvme-laptop'?" in (caught.value.resolution or "")


def test_two_profiles_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "device.yaml"
    path.write_text(TEXT)
    with pytest.raises(UsageError, match="are named 'nvme-laptop'"):
        choose_devices(["nvme-laptop", str(path)])


def test_profile_without_a_kernel_still_loads() -> None:
    old = document()
    del old["kernel"]
    kernel = parse_device(json.dumps(old).encode(), where="device.yaml").kernel
    assert (kernel.versions, kernel.file_mode) == ("unknown", "unknown")
    assert kernel.decompressors == "unknown"
    assert "doesn't name it" in kernel.source


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("versions", "6"),
        ("versions", "6.8\n"),
        ("file_mode", "buffer"),
        ("decompressors", 0),
        ("decompressors", True),
        ("decompressors", "two"),
        ("source", ""),
    ],
)
def test_wrong_value_of_a_kernel_is_refused_by_its_key(key: str, value: object) -> None:
    changed = document()
    changed["kernel"][key] = value
    with pytest.raises(BadDataError, match=rf"kernel\.{key}"):
        parse(changed)


@pytest.mark.parametrize(
    ("versions", "possible"),
    [("5.15", False), ("4.15 to 6.1", False), ("6.2", True), ("unknown", True)],
)
def test_a_number_of_decompressors_needs_a_kernel_that_has_them(
    versions: str, *, possible: bool
) -> None:
    changed = document()
    changed["kernel"] |= {"versions": versions, "decompressors": 4}
    if possible:
        parse(changed)
        return
    with pytest.raises(BadDataError, match=r"kernel.*6\.2 and later can"):
        parse(changed)
