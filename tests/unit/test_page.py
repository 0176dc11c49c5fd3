"""What pages say, and in which order."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyses import make_analysis
from lint_reports import BUDGET_BROKEN, DEBUG_SYMBOLS, report_of
from measurements import make_measurement
from reports import make_full_analysis, make_full_report
from snapcraft_compression_advisor.advice.reasons import Code
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.diff.figures import figures_of
from snapcraft_compression_advisor.lint.finding import LintedPayload, LintReport
from snapcraft_compression_advisor.report.contract import Interval
from snapcraft_compression_advisor.report.json_report import Report, build_report
from snapcraft_compression_advisor.report.lint_formats.json import build_lint_document
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.page.files import PUBLISHED
from snapcraft_compression_advisor.report.page.method import MODEL_ERROR
from snapcraft_compression_advisor.report.page.texts import (
    percent,
    seconds,
    short_seconds,
    size,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.report.page.model import Chart, Page, Section

DOCS = Path(__file__).parents[2] / "docs"


def page_of(report: Report | None = None) -> Page:
    return build_page(Sources(report=report or make_full_report()))


def section(page: Page, key: str) -> Section:
    return next(each for each in page.sections if each.key == key)


def charts(page: Page) -> list[Chart]:
    return [
        chart
        for each in page.sections
        for group in each.groups
        for chart in group.charts
    ]


def values(chart: Chart) -> list[dict[str, object]]:
    """Return what a chart draws."""
    found: list[dict[str, object]] = chart.draw(width=400).spec["data"]["values"]
    return found


def test_parts_stand_in_the_order_of_their_weight() -> None:
    sections = page_of().sections
    assert [each.key for each in sections] == [
        "gain", "tradeoff", "files", "next", "launch", "kinds", "sizes",
        "findings", "method",
    ]  # fmt: skip
    assert [each.folded for each in sections] == [False] * 4 + [True] * 5


def test_page_begins_with_the_verdict_and_its_reasons() -> None:
    report = make_full_report()
    page = page_of(report)
    assert page.verdict == "CHANGE: set 'compression: lzo' in snapcraft.yaml"
    assert list(page.reasons) == report.recommendation.reasons
    assert [tile.figure for tile in page.tiles] == [
        "44.1 MB",
        "57.2 MB",
        "1.00 s (0.29–3.24)",  # noqa: RUF001 # as it is printed
        "2.1 cold launches",
    ]


def tradeoff(report: Report, key: str) -> dict[str, dict[str, object]]:
    """Return the points of a chart of size against launch, by codec."""
    chart = next(each for each in charts(page_of(report)) if each.key == key)
    return {
        str(each["name"]): each for each in values(chart) if each["what"] == "point"
    }


def test_tradeoff_draws_the_reports_numbers() -> None:
    report = make_full_report()
    drawn = tradeoff(report, "tradeoff-0")
    cost = report.launches[0].devices["nvme-laptop"]["xz"].added_s
    assert drawn["xz"]["s"] == cost.mid
    assert (drawn["xz"]["s_low"], drawn["xz"]["s_high"]) == (cost.low, cost.high)
    assert drawn["xz"]["mb"] == 44.1
    assert drawn["xz"]["fill"] == "var(--xz)"


def test_codecs_that_cannot_be_shipped_are_in_a_chart_of_their_own() -> None:
    report = make_full_report()
    assert [*tradeoff(report, "tradeoff-0")] == ["xz", "lzo"]
    drawn = tradeoff(report, "tradeoff-0-all")
    assert [*drawn] == ["xz", "lzo", "gzip *", "zstd *", "none *"]  # no lz4 here
    assert drawn["zstd *"]["fill"] == "var(--paper)"


def test_parts_of_a_launch_add_up_to_the_whole() -> None:
    report = make_full_report()
    chart = next(each for each in charts(page_of(report)) if each.key == "launch-0")
    parts = [each for each in values(chart) if each["label"] == "xz"]
    ends = [each["end"] for each in parts if not each["whole"]]
    costs = report.launches[0].devices["nvme-laptop"]["xz"]
    assert max(map(str, ends)) == str(ends[-1])
    assert ends[-1] == pytest.approx(costs.added_s.mid)


def test_recorded_launch_starts_its_stack_with_the_warm_one() -> None:
    report = make_full_report()
    launch = report.launches[0]
    warm = {
        device: {
            codec: cost.model_copy(update={"warm_s": 0.5, "cold_s": 1.0})
            for codec, cost in costs.items()
        }
        for device, costs in launch.devices.items()
    }
    report = report.model_copy(
        update={"launches": [launch.model_copy(update={"devices": warm})]}
    )
    chart = next(each for each in charts(page_of(report)) if each.key == "launch-0")
    first = values(chart)[1]
    assert (first["part"], first["start"], first["end"]) == ("warm launch", 0.0, 0.5)


def test_map_of_a_launch_draws_every_block() -> None:
    report = make_full_report()
    chart = next(each for each in charts(page_of(report)) if each.key == "map")
    shares = {str(each.get("name")): each["share"] for each in values_of_map(chart)}
    assert shares["libbig.so"] == pytest.approx(69 / 95)
    assert sum(float(str(share)) for share in shares.values()) == pytest.approx(1)


def values_of_map(chart: Chart) -> list[dict[str, object]]:
    found: list[dict[str, object]] = chart.draw(width=400).spec["data"][0]["values"]
    return found


def test_size_curve_stands_beside_the_published_ones() -> None:
    chart = next(each for each in charts(page_of()) if each.key == "curve")
    drawn = [(each["label"], each["files"], each["share"]) for each in values(chart)]
    assert set(PUBLISHED) <= set(drawn)
    assert ("", 1, pytest.approx(9_000_000 / 12_001_500)) in drawn


def test_findings_carry_evidence_and_how_it_is_known() -> None:
    entry = section(page_of(), "findings").entries[0]
    assert (entry.mark, entry.title) == ("error", "SCA201 cold-start-budget")
    assert "budget: 1.50 s (declared)" in entry.details


def test_undecided_finding_is_said_to_be() -> None:
    marks = [each.mark for each in section(page_of(), "findings").entries]
    assert marks[-1] == "undecided"


def test_method_tells_command_sample_devices_policy_and_error() -> None:
    terms = dict(section(page_of(), "method").terms)
    assert terms["Command"] == (
        "compression-advisor advise prime --report calculator.html",
    )
    assert set(MODEL_ERROR) < set(terms["Accuracy of the estimated seconds"])
    assert any("published" in text for text in terms["Device nvme-laptop"])
    assert "0.25 s per cold launch" in terms["Policy"][0]


def test_error_of_the_model_is_the_one_of_the_accuracy_page() -> None:
    lines = (DOCS / "study/accuracy.md").read_text().splitlines()
    assert {f"- {text}" for text in MODEL_ERROR} <= set(lines), (
        "copy the lines of docs/study/accuracy.md into report/page/method.py"
    )


def test_snap_without_apps_has_sizes_and_no_launches() -> None:
    analysis = replace(
        make_full_analysis(),
        launches=(),
        recommendation=Recommendation(
            compression="xz", verdict="undecided", reasons=(Code.NO_APP,)
        ),
    )
    page = page_of(build_report(analysis))
    assert [each.key for each in page.sections] == [
        "tradeoff", "next", "kinds", "sizes", "method",
    ]  # fmt: skip
    assert "--consumer" in section(page, "next").steps[0].lines[0]
    assert page.verdict == "UNDECIDED: stay with xz for now"
    assert "Seconds" not in section(page, "tradeoff").origin


def test_apps_have_headings_where_there_are_several() -> None:
    page = page_of(make_full_report(apps=5))
    groups = section(page, "tradeoff").groups
    assert [group.heading for group in groups] == [f"App app{n}" for n in range(5)]
    assert [group.app for group in groups] == [f"app{n}" for n in range(5)]
    assert [len(group.charts) for group in groups] == [4, 4, 4, 4, 0]
    assert all(group.table is not None for group in groups)


def test_report_without_details_is_a_shorter_page() -> None:
    page = page_of(build_report(make_analysis()))
    assert [each.key for each in page.sections] == [
        "gain", "tradeoff", "files", "next", "launch", "method",
    ]  # fmt: skip


def test_every_chart_has_a_table_beside_it() -> None:
    page = page_of(make_full_report(apps=2))
    for each in page.sections:
        for group in each.groups:
            for chart in group.charts:
                assert chart.table or group.table, chart.key


def test_measured_launches_are_boxes_with_what_was_predicted() -> None:
    measurement = build_measurement_report(make_measurement(walk=True))
    report = make_full_report()
    page = build_page(Sources(report=report, measurement=measurement))
    cold, warm, walk = section(page, "measured").groups[0].charts
    drawn = [each for each in values(cold) if each["label"] == "xz"]
    box = next(each for each in drawn if each["what"] == "box")
    assert (box["a"], box["b"]) == (6.58, 6.62)
    predicted = [each["a"] for each in drawn if each["what"] == "predicted"]
    codec = measurement.codecs["xz"]
    assert predicted == [
        codec.warm_s.median + costs["xz"].added_s.mid
        for costs in report.launches[0].devices.values()
    ]
    for chart in (warm, walk):
        assert "predicted" not in {each["what"] for each in values(chart)}


def test_images_in_memory_are_predicted_without_storage() -> None:
    measurement = build_measurement_report(
        replace(make_measurement(), storage="memory")
    )
    report = make_full_report()
    page = build_page(Sources(report=report, measurement=measurement))
    chart = section(page, "measured").groups[0].charts[0]
    predicted = [each["a"] for each in values(chart) if each["what"] == "predicted"]
    cost = report.launches[0].devices["nvme-laptop"]["xz"]
    median = measurement.codecs["xz"].warm_s.median
    assert predicted[0] == median + cost.copy_s + cost.decompress_s


def test_files_without_squashfs_are_drawn_without_a_prediction() -> None:
    measurement = build_measurement_report(make_measurement(compared=True))
    report = make_full_report()
    page = build_page(Sources(report=report, measurement=measurement))
    groups = section(page, "measured").groups
    drawn = values(groups[0].charts[0])
    for name in ("directory", "ext4"):
        assert {each["what"] for each in drawn if each["label"] == name} == {
            "reach", "box", "median", "run",
        }  # fmt: skip
    differences = groups[1].table
    assert differences is not None
    assert [row[0] for row in differences.rows] == [
        "xz", "lzo", "none *", "directory", "ext4",
    ]  # fmt: skip
    assert differences.rows[1][1:3] == ("8.11 ± 0.24", "5.80 s ± 37 ms")


def test_measurement_alone_makes_a_page() -> None:
    measurement = build_measurement_report(make_measurement())
    page = build_page(Sources(measurement=measurement))
    assert page.verdict == "Cold launches, median: none 0.50 s, lzo 0.81 s, xz 6.61 s"
    assert [each.key for each in page.sections] == ["measured", "method"]


def test_two_runs_of_lint_are_before_and_now() -> None:
    before = build_lint_document(report_of(BUDGET_BROKEN))
    now = build_lint_document(report_of(DEBUG_SYMBOLS))
    page = build_page(Sources(lint=now, lint_before=before))
    told = section(page, "before-now").paragraphs
    assert told[0] == "Findings: 1 new, 0 known, 1 gone."
    assert told[1].startswith("Gone: SCA201 cold-start-budget: ")


def test_figures_of_two_runs_of_lint_are_drawn_beside_each_other() -> None:
    before, now = (
        build_lint_document(
            LintReport(
                version="1",
                payloads=(
                    LintedPayload(
                        path="prime",
                        snap_name="calculator",
                        findings=(),
                        figures=figures_of(make_full_analysis(apps=apps)),
                    ),
                ),
            )
        )
        for apps in (1, 2)
    )
    page = build_page(Sources(lint=now, lint_before=before))
    group = section(page, "before-now").groups[0]
    drawn = values(group.charts[0])
    assert [each["when"] for each in drawn] == ["before", "now", "before", "now"]
    assert drawn[0]["label"] == "app0 on nvme-laptop"  # app1 has no before
    assert drawn[0]["fill"] != drawn[1]["fill"]
    assert group.table is not None
    size = "44.1 MB, estimated"
    assert group.table.rows[1] == ("image", size, size, "unchanged")


def test_units_follow_the_figure_and_its_interval_stays_in_them() -> None:
    assert seconds(Interval(low=0.02, mid=0.05, high=0.131)) == "50 ms (20–131)"  # noqa: RUF001 # as it is printed
    assert seconds(Interval(low=1.2, mid=1.2, high=1.2)) == "1.20 s"
    assert short_seconds(0) == "0 s"
    assert short_seconds(0.0046) == "4.6 ms"
    assert short_seconds(12.34) == "12.3 s"
    assert size(Interval(low=99e6, mid=100e6, high=101e6)) == "100.0 MB ±1.0%"
    assert (percent(0.5), percent(0.031), percent(0)) == ("50%", "3.1%", "0%")


def test_every_section_with_figures_says_how_they_are_known() -> None:
    for each in page_of().sections:
        if each.key != "method":
            assert re.search(
                "measured|estimated|recorded|guessed", each.origin, re.IGNORECASE
            ), each.key
