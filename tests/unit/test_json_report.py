"""The JSON report and its schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from analyses import make_analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import GuessBasis
from snapcraft_compression_advisor.report.contract import schema_text
from snapcraft_compression_advisor.report.json_report import (
    Report,
    render_json,
)

DOCS = Path(__file__).parents[2] / "docs"
GOLDEN = Path(__file__).parent / "golden"


def test_report_is_the_golden_one() -> None:
    assert render_json(make_analysis()) == (GOLDEN / "report.json").read_text()


def test_report_fits_the_schema_and_reads_back() -> None:
    text = render_json(make_analysis(apps=2))
    jsonschema.validate(json.loads(text), json.loads(schema_text(Report)))
    assert Report.model_validate_json(text).schema_version == 1


def test_traced_launch_says_what_it_leaves_open() -> None:
    analysis = make_analysis()
    launch = analysis.launches[0]
    traced = replace(
        launch.launch_set,
        source="recorded",
        method="trace",
        read_share=Interval(low=0.9, mid=1.0, high=1.2),
    )
    text = render_json(
        replace(analysis, launches=(replace(launch, launch_set=traced),))
    )
    jsonschema.validate(json.loads(text), json.loads(schema_text(Report)))
    found = json.loads(text)["launches"][0]
    assert (found["source"], found["method"]) == ("recorded", "trace")
    assert found["trace"] == {
        "expected_blocks": 3.0,
        "read_share": {"low": 0.9, "mid": 1.0, "high": 1.2},
    }


def test_report_saved_before_there_was_a_method_is_still_read() -> None:
    saved = json.loads(render_json(make_analysis()))
    for launch in saved["launches"]:
        del launch["method"], launch["trace"]
    assert Report.model_validate(saved).launches[0].method is None


def test_every_size_says_how_it_is_known() -> None:
    analysis = make_analysis()
    codecs = json.loads(render_json(analysis))["trial"]["codecs"]
    assert {each["origin"] for each in codecs.values()} == {"measured", None}
    sampled = replace(
        analysis,
        trial=replace(analysis.trial, mode="sampled"),
        payload=replace(analysis.payload, kind="snap", image_bytes=44_100_000),
    )
    codecs = json.loads(render_json(sampled))["trial"]["codecs"]
    assert (codecs["xz"]["origin"], codecs["lzo"]["origin"]) == (
        "measured",
        "estimated",
    )


def test_guess_says_what_it_rests_on() -> None:
    analysis = make_analysis()
    launch = analysis.launches[0]
    basis = GuessBasis(kind="GTK 4", recorded=(("a", 1.1),))
    launch_set = replace(launch.launch_set, basis=basis)
    report = json.loads(
        render_json(
            replace(analysis, launches=(replace(launch, launch_set=launch_set),))
        )
    )
    jsonschema.validate(report, json.loads(schema_text(Report)))
    assert report["launches"][0]["guess"] == {
        "kind": "GTK 4",
        "expected_blocks": 3.0,
        "read_share": {"low": 0.5, "mid": 1.0, "high": 3.0},
        "recorded": {"a": 1.1},
        "blind_spots": [],
        "reference": {},
    }


def test_schema_refuses_other_keys() -> None:
    report = json.loads(render_json(make_analysis()))
    report["trial"]["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        jsonschema.validate(report, json.loads(schema_text(Report)))


def test_schema_file_is_the_one_of_the_model() -> None:
    kept = (DOCS / "report.schema.json").read_text()
    assert kept == schema_text(Report), "run docs/generate.py"


def test_codec_that_is_not_available_is_said_to_be() -> None:
    codecs = json.loads(render_json(make_analysis()))["trial"]["codecs"]
    assert codecs["lz4"] == {
        "image_bytes": None,
        "origin": None,
        "available": False,
        "shippable": False,
    }


def test_cold_total_is_never_invented() -> None:
    launch = json.loads(render_json(make_analysis()))["launches"][0]
    cost = launch["devices"]["nvme-laptop"]["xz"]
    assert (cost["warm_s"], cost["cold_s"]) == (None, None)
    assert cost["added_s"]["mid"] == pytest.approx(cost["io_s"] + cost["decompress_s"])
