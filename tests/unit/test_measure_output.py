"""Output of measure, of a guess and of devices."""

import json
import re
from dataclasses import replace
from typing import Literal

import jsonschema
import pytest

from goldens import assert_golden
from snapcraft_compression_advisor.capture.measure import CodecMeasurement, Measurement
from snapcraft_compression_advisor.capture.samples import Sample
from snapcraft_compression_advisor.cli.listings import schema_of
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import (
    builtin_devices,
    find_device,
)
from snapcraft_compression_advisor.devices.device import DeviceProfile
from snapcraft_compression_advisor.devices.device_file import parse_device
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.report.devices import (
    devices_page,
    render_devices_json,
)
from snapcraft_compression_advisor.report.guess import LISTED_FILES, guess_page
from snapcraft_compression_advisor.report.lines import FILE_STYLE, TextStyle
from snapcraft_compression_advisor.report.markdown_printer import print_markdown
from snapcraft_compression_advisor.report.measure import measure_json, measure_page
from snapcraft_compression_advisor.report.text_printer import print_text

COLD_S = {
    "xz": (6.61, 6.58, 6.7, 6.55, 6.62),
    "lzo": (0.81, 0.8, 0.86, 0.79, 0.82),
    "none": (0.5, 0.52, 0.49, 0.51, 0.5),
}
IMAGE_BYTES = {"xz": 44_100_000, "lzo": 57_200_000, "none": 136_000_000}


def cpu_s(cold_s: tuple[float, ...], scale: float) -> dict[str, tuple[float, ...]]:
    """Return processor times: an application's own, and the kernel's."""
    return {
        "user_s": tuple(0.25 + s / 1000 for s in cold_s),
        "system_s": tuple(s * scale * 0.8 for s in cold_s),
    }


def make_measurement(*, runs: int = 5, seconds_of_xz: float = 6.61) -> Measurement:
    """Return a measurement of three codecs; lz4 isn't available.

    :param seconds_of_xz: the median cold launch; the others' are in proportion.
    """
    scale = seconds_of_xz / 6.61
    return Measurement(
        codecs={
            codec: CodecMeasurement(
                codec=codec,
                image_bytes=IMAGE_BYTES[codec],
                cold_s=Sample(
                    runs_s=tuple(s * scale for s in cold_s[:runs]),
                    **cpu_s(cold_s[:runs], scale),
                ),
                warm_s=Sample(runs_s=tuple(0.3 + s / 1000 for s in cold_s[:runs])),
            )
            for codec, cold_s in COLD_S.items()
        },
        unavailable={"lz4": "This mksquashfs cannot pack with it"},
        method="launch",
        storage="disk",
        read_ahead_kb=128,
        runs=runs,
        kernel="6.8.0-31-generic",
        processor="Some Processor (4 in use)",
    )


def full_text(measurement: Measurement) -> str:
    return print_text(measure_page(measurement), FILE_STYLE.with_all())


def test_text_is_the_golden_one() -> None:
    page = measure_page(make_measurement())
    assert_golden("measure.txt", print_text(page))
    assert len(print_text(page).splitlines()) <= 12


def test_noisy_launches_keep_to_80_columns() -> None:
    made = make_measurement()
    noisy = Sample(runs_s=(0.9, 20.0, 3.0), user_s=(9.0,) * 3, system_s=(9.0,) * 3)
    other = replace(noisy, runs_s=(31.0, 0.5, 2.0))
    measurement = replace(
        made,
        codecs={
            name: replace(codec, cold_s=noisy if name == "xz" else other)
            for name, codec in made.codecs.items()
        },
    )
    lines = full_text(measurement).splitlines()
    assert max(map(len, lines)) <= 80


def test_json_fits_the_schema() -> None:
    for measurement in (make_measurement(), make_measurement(runs=1)):
        text = measure_json(measurement)
        jsonschema.validate(json.loads(text), json.loads(schema_of("measure")))


def test_json_holds_every_run_and_compares_with_xz() -> None:
    report = json.loads(measure_json(make_measurement()))
    found = {key: report[key] for key in ("schema", "method", "mount", "storage")}
    assert found == {
        "schema": 1, "method": "launch", "mount": "kernel", "storage": "disk",
    }  # fmt: skip
    assert report["unavailable"] == {"lz4": "This mksquashfs cannot pack with it"}
    assert list(report["codecs"]) == ["xz", "lzo", "none"]
    assert report["codecs"]["xz"]["difference"] is None
    cold, found = (report["codecs"]["lzo"][key] for key in ("cold_s", "difference"))
    assert cold["runs"] == list(COLD_S["lzo"])
    assert (cold["median"], cold["n"]) == (0.81, 5)
    assert cold["stdev"] == pytest.approx(0.0270, abs=1e-4)
    assert cold["system_s"] == pytest.approx([s * 0.8 for s in COLD_S["lzo"]])
    assert (found["than"], found["rounds"], found["confidence"]) == ("xz", 5, 0.95)
    assert found["saved_s"]["low"] < found["saved_s"]["mid"] == pytest.approx(5.796)
    assert found["times_faster"]["mid"] == pytest.approx(8.11, abs=0.01)


def timed(*, xz: tuple[float, ...], lzo: tuple[float, ...]) -> Measurement:
    """Return a measurement with these cold launches."""
    made = make_measurement()
    codecs = {
        name: replace(made.codecs[name], cold_s=Sample(runs_s=runs_s))
        for name, runs_s in (("xz", xz), ("lzo", lzo))
    }
    return replace(made, codecs=codecs, runs=len(xz))


def text_of(measurement: Measurement) -> str:
    return " ".join(full_text(measurement).split())


SLOW_S, FAST_S = (2.0, 2.1, 2.0, 2.1), (1.0, 1.0, 1.1, 1.0)


@pytest.mark.parametrize(
    ("xz", "lzo", "how"),
    [
        (SLOW_S, FAST_S, "faster than xz: it saves 1.02 s ±"),
        (FAST_S, SLOW_S, "slower than xz: it takes 1.02 s ±"),
    ],
)
def test_text_says_how_much_faster_or_slower_lzo_starts(
    xz: tuple[float, ...], lzo: tuple[float, ...], how: str
) -> None:
    text = text_of(timed(xz=xz, lzo=lzo))
    assert f"lzo starts 2.00 ± 0.22 times {how}" in text
    assert "per cold launch (4 rounds, 95% confidence; measured)" in text


def test_difference_within_its_interval_is_none() -> None:
    text = text_of(timed(xz=(1.0, 1.3, 1.1), lzo=(1.1, 1.1, 1.2)))
    assert "3 rounds don't show whether lzo starts faster than xz: it saves" in text
    assert "0.00 s (-0.43 to 0.43 s) per cold launch (95% confidence)" in text
    assert "times faster" not in text


def test_replayed_reads_do_not_start() -> None:
    measurement = timed(xz=(2.0, 2.1, 2.0), lzo=(1.0, 1.0, 1.1))
    assert "lzo reads" in text_of(replace(measurement, method="replay"))


def test_outliers_are_named_with_what_to_do() -> None:
    calm = (2.0, 2.1, 2.0, 2.1, 2.0, 2.1)
    text = text_of(timed(xz=calm, lzo=(*calm[:3], 9.5, *calm[4:])))
    assert "Warning: Outliers: cold launch 4 with lzo, 9.50 s (median 2.05 s)" in text
    assert "Close other programs and measure again" in text
    assert "First runs differ" not in text
    assert "Outliers" not in text_of(timed(xz=calm, lzo=calm))


@pytest.mark.parametrize(
    ("method", "advice"), [("launch", "--home DIR"), ("replay", "measure again")]
)
def test_first_run_that_differs_is_no_plain_outlier(
    method: Literal["launch", "replay"], advice: str
) -> None:
    calm = (2.0, 2.1, 2.0, 2.1, 2.0, 2.1)
    measurement = timed(xz=(9.5, *calm[1:]), lzo=calm)
    text = text_of(replace(measurement, method=method))
    assert "Warning: First runs differ: cold launch 1 with xz, 9.50 s" in text
    assert advice in text
    assert "Outliers" not in text


def test_noisy_runs_are_a_warning() -> None:
    text = text_of(timed(xz=(1.0, 2.0, 3.0), lzo=(1.0, 1.0, 1.1)))
    assert "Noisy: cold launches vary by 50% with xz (standard deviation" in text


BLOCK = 128 * 1024


def guess(files: int) -> LaunchSet:
    share = Interval(low=0.5, mid=1.0, high=2.0)
    return LaunchSet(
        app="hello",
        source="static",
        files=tuple(
            LaunchFile(
                path=f"f{number:02}",
                size_bytes=2 * BLOCK,
                blocks=((0, 1),),
                shares=(0.5,),
            )
            for number in range(files)
        ),
        read_share=share,
        seek_share=share,
        unresolved=(Unresolved(name="liba", needed_by="f00", supplier="base"),),
    )


def guess_text(files: int, style: TextStyle = FILE_STYLE) -> str:
    return print_text(guess_page(guess(files)), style)


def test_guess_lists_its_largest_files_and_sums_up_the_others() -> None:
    text = guess_text(LISTED_FILES + 2, FILE_STYLE.with_all())
    assert re.search("f00 +131.1 kB\n", text)
    assert re.search("2 more +262.1 kB\n", text)
    assert "  liba: base, needed by f00\n" in text


def test_guess_says_that_it_is_one_and_how_far_it_may_be_off() -> None:
    text = guess_text(1)
    assert text.startswith("hello: a launch reads an estimated 131.1 kB of 1 file\n")
    assert "Guessed from files; 65.5\N{EN DASH}262.1 kB in nine of ten" in text


def test_guess_fits_a_screen_and_a_comment() -> None:
    lines = guess_text(30).splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    comment = print_markdown(guess_page(guess(30)))
    assert "\n| f00 | 131.1 kB |\n" in comment
    assert "liba" not in comment.partition("<details>")[0]


def devices_text(*devices: DeviceProfile) -> str:
    return print_text(devices_page(devices))


def test_text_fits_a_screen() -> None:
    text = devices_text(*builtin_devices())
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 12
    assert all(device.name in text for device in builtin_devices())


def test_storage_that_costs_nothing_is_unlimited() -> None:
    nothing = Interval.exactly(0.0)
    device = replace(
        find_device("nvme-laptop"), seek_s=nothing, read_s_per_byte=nothing
    )
    assert "  0 µs  unlimited MB/s" in devices_text(device)


def test_each_profile_in_json_is_a_file_for_device() -> None:
    report = json.loads(render_devices_json(builtin_devices()))
    assert report["schema"] == 1
    assert [each["name"] for each in report["devices"]] == [
        d.name for d in builtin_devices()
    ]
    schema = json.loads(schema_of("device"))
    for each in report["devices"]:
        jsonschema.validate(each, schema)
        parse_device(json.dumps(each).encode(), where="device.json")
