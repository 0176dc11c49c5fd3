"""The JSON report and its schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from analyses import make_analysis
from reports import full_text, make_full_analysis, make_linted
from snapcraft_compression_advisor.advice.evidence import AVERAGE, Evidence, Saving
from snapcraft_compression_advisor.advice.recommendation import recommend
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import GuessBasis
from snapcraft_compression_advisor.report.advise_json import advise_json
from snapcraft_compression_advisor.report.document import schema_text

GOLDEN = Path(__file__).parent / "golden"


def test_report_is_the_golden_one() -> None:
    assert advise_json(make_analysis()) == (GOLDEN / "report.json").read_text()


def test_traced_launch_says_what_it_leaves_open() -> None:
    analysis = make_analysis()
    launch = analysis.launches[0]
    traced = replace(
        launch.launch_set,
        source="recorded",
        method="trace",
        read_share=Interval(low=0.9, mid=1.0, high=1.2),
    )
    text = advise_json(
        replace(analysis, launches=(replace(launch, launch_set=traced),))
    )
    jsonschema.validate(json.loads(text), json.loads(schema_text("report")))
    found = json.loads(text)["launches"][0]
    assert (found["source"], found["method"]) == ("recorded", "trace")
    assert found["trace"] == {
        "expected_blocks": 3.0,
        "read_share": {"low": 0.9, "mid": 1.0, "high": 1.2},
    }


def test_every_size_says_how_it_is_known() -> None:
    analysis = make_analysis()
    codecs = json.loads(advise_json(analysis))["trial"]["codecs"]
    assert {each["origin"] for each in codecs.values()} == {"measured", None}
    sampled = replace(
        analysis,
        trial=replace(analysis.trial, mode="sampled"),
        payload=replace(analysis.payload, kind="snap", image_bytes=44_100_000),
    )
    codecs = json.loads(advise_json(sampled))["trial"]["codecs"]
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
        advise_json(
            replace(analysis, launches=(replace(launch, launch_set=launch_set),))
        )
    )
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert report["launches"][0]["guess"] == {
        "kind": "GTK 4",
        "expected_blocks": 3.0,
        "read_share": {"low": 0.5, "mid": 1.0, "high": 3.0},
        "recorded": {"a": 1.1},
        "blind_spots": [],
        "reference": {},
    }


def test_schema_refuses_other_keys() -> None:
    report = json.loads(advise_json(make_analysis()))
    report["trial"]["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        jsonschema.validate(report, json.loads(schema_text("report")))


def test_cold_total_is_never_invented() -> None:
    launch = json.loads(advise_json(make_analysis()))["launches"][0]
    cost = launch["devices"]["nvme-laptop"]["xz"]
    assert (cost["warm_s"], cost["cold_s"]) == (None, None)
    assert cost["added_s"]["mid"] == pytest.approx(cost["io_s"] + cost["decompress_s"])


def test_full_report_fits_the_schema() -> None:
    text = advise_json(
        make_full_analysis(apps=2),
        linted=make_linted(),
        command="compression-advisor advise prime",
    )
    report = json.loads(text)
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert len(report["findings"]) == 4
    assert report["launches"][0]["heaviest"][0]["path"] == "usr/lib/libbig.so"


def test_average_over_the_users_names_their_shares_and_no_device() -> None:
    analysis = averaged()
    report = json.loads(advise_json(analysis))
    jsonschema.validate(report, json.loads(schema_text("report")))
    decides = report["recommendation"]["decides"]
    assert (decides["device"], decides["why"]) == (None, "average")
    assert decides["shares"] == SHARES
    assert report["method"]["policy"]["device_shares"] == SHARES
    assert "average of users" in full_text(analysis)


SHARES = {"nvme-laptop": 0.75, "hdd-laptop": 0.25}


def averaged() -> Analysis:
    """Return an analysis in which lzo gains on one device and on average."""
    known = make_analysis()
    policy = replace(known.policy, device_shares=SHARES)
    seconds = {"nvme-laptop": 2.0, "hdd-laptop": 0.0, AVERAGE: 1.5}
    savings = {
        device: Saving(app="app0", device=device, seconds=Interval.exactly(saved))
        for device, saved in seconds.items()
    }
    average = replace(savings.pop(AVERAGE), shares=SHARES)
    evidence = Evidence(
        declared="xz",
        xz_bytes=Interval.exactly(44.1e6),
        lzo_bytes=Interval.exactly(57.2e6),
        bytes_added=Interval.exactly(13.1e6),
        savings=tuple(savings.values()),
        averages=(average,),
    )
    advice = recommend(evidence, policy)
    return replace(known, policy=policy, recommendation=advice)
