"""Reports of an advice that the average over the users' devices decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyses import make_analysis
from snapcraft_compression_advisor.advice.evidence import AVERAGE, Evidence, Saving
from snapcraft_compression_advisor.advice.recommendation import recommend
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.report.json_report import Report, build_report
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.text import render_text

SHARES = {"nvme-laptop": 0.75, "hdd-laptop": 0.25}


@pytest.fixture
def analysis() -> Analysis:
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


def test_json_names_the_shares_and_no_device(analysis: Analysis) -> None:
    report = build_report(analysis)
    advice = report.recommendation
    assert advice.decides is not None
    assert (advice.decides.device, advice.decides.why) == (None, "average")
    assert advice.decides.shares == SHARES
    assert [each.verdict for each in advice.by_device] == ["change", "no-benefit"]
    assert report.method is not None
    assert report.method.policy.device_shares == SHARES
    assert Report.model_validate_json(report.text()) == report


def test_page_says_that_the_figures_are_an_average(analysis: Analysis) -> None:
    page = build_page(Sources(report=build_report(analysis)))
    tile = next(tile for tile in page.tiles if "lzo saves" in tile.label)
    assert (tile.figure, tile.note) == ("1.50 s", "estimated, on average")
    method = next(each for each in page.sections if each.key == "method")
    assert dict(method.terms)["Policy"][1] == (
        "it must do so on average over the users' devices: 75% nvme-laptop, "
        "25% hdd-laptop"
    )


def test_text_says_who_has_which_device(analysis: Analysis) -> None:
    words = " ".join(render_text(analysis).split())
    assert "per cold launch of app0 on average" in words
    assert "75% have nvme-laptop and 25% have hdd-laptop. By itself, each" in words
    assert "change to lzo on nvme-laptop; no benefit on hdd-laptop." in words
