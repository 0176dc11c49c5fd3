"""Measurements as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from measurements import COLD_S, make_measurement
from snapcraft_compression_advisor.report.contract import schema_text
from snapcraft_compression_advisor.report.measure_json import (
    MeasurementReport,
    render_measurement_json,
)
from snapcraft_compression_advisor.report.measure_text import render_measurement_text

DOCS = Path(__file__).parents[2] / "docs"
GOLDEN = Path(__file__).parent / "golden"


def test_text_is_the_golden_one() -> None:
    text = render_measurement_text(make_measurement(walk=True))
    assert text == (GOLDEN / "measure.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("walk", [False, True])
@pytest.mark.parametrize("runs", [1, 5])
@pytest.mark.parametrize("by_squashfuse", [False, True])
def test_text_keeps_to_80_columns(
    *, walk: bool, runs: int, by_squashfuse: bool
) -> None:
    text = render_measurement_text(
        make_measurement(walk=walk, runs=runs, by_squashfuse=by_squashfuse)
    )
    assert max(map(len, text.splitlines())) <= 80


def test_spread_of_a_single_run_is_left_out() -> None:
    text = render_measurement_text(make_measurement(runs=1))
    assert "±" not in text.partition("Times: ")[0]
    assert "of 1 run," in text


def test_short_launches_are_shown_in_milliseconds() -> None:
    assert " 62 ms ±" in render_measurement_text(make_measurement(seconds_of_xz=0.0621))
    assert " 6.61 s ±" in render_measurement_text(make_measurement())


def test_squashfuse_and_warm_system_are_said() -> None:
    text = " ".join(
        render_measurement_text(make_measurement(by_squashfuse=True)).split()
    )
    assert "through squashfuse, which is slower than the kernel" in text
    assert "only the payload was dropped" in text
    assert "read-ahead not known" in text
    plain = render_measurement_text(make_measurement())
    assert "squashfuse" not in plain
    assert "only the payload" not in plain


def test_json_fits_the_schema_and_reads_back() -> None:
    for measurement in (make_measurement(walk=True), make_measurement(runs=1)):
        text = render_measurement_json(measurement)
        jsonschema.validate(
            json.loads(text), json.loads(schema_text(MeasurementReport))
        )
        assert MeasurementReport.model_validate_json(text).schema_version == 1


def test_json_holds_every_run() -> None:
    report = json.loads(render_measurement_json(make_measurement(walk=True)))
    assert report["schema"] == 1
    assert (report["method"], report["mount"], report["storage"]) == (
        "launch", "kernel", "disk",
    )  # fmt: skip
    assert list(report["codecs"]) == ["xz", "lzo", "none"]
    cold = report["codecs"]["lzo"]["cold_s"]
    assert cold["runs"] == list(COLD_S["lzo"])
    assert (cold["median"], cold["n"]) == (0.81, 5)
    assert cold["stdev"] == pytest.approx(0.0270, abs=1e-4)
    assert report["codecs"]["lzo"]["walk_s"]["n"] == 3
    assert report["unavailable"] == {"lz4": "This mksquashfs cannot pack with it"}


def test_json_has_null_where_nothing_is_known() -> None:
    report = json.loads(render_measurement_json(make_measurement(runs=1)))
    assert report["codecs"]["xz"]["cold_s"]["stdev"] is None
    assert report["codecs"]["xz"]["walk_s"] is None


def test_schema_file_is_the_one_of_the_model() -> None:
    kept = (DOCS / "measure.schema.json").read_text(encoding="utf-8")
    assert kept == schema_text(MeasurementReport), "run docs/generate.py"
