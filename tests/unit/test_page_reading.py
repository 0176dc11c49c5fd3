"""What a reader of pages stumbled over: words, names in charts, figures too small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from analyses import make_analysis
from measurements import make_measurement
from reports import FILES, make_full_analysis, make_full_report
from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
from snapcraft_compression_advisor.advice.recommendation import recommend
from snapcraft_compression_advisor.core.units import Interval as Figure
from snapcraft_compression_advisor.launch.fit import FittedProfile
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.report.contract import Interval
from snapcraft_compression_advisor.report.json_report import build_report
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.page.files import curve_point, draw_size_curve
from snapcraft_compression_advisor.report.page.texts import (
    percent,
    seconds,
    short_seconds,
    size,
)
from snapcraft_compression_advisor.report.report_files import kind_reports
from snapcraft_compression_advisor.report.text import render_text
from snapcraft_compression_advisor.trial.stored import BlockSizes, StoredSizes
from snapcraft_compression_advisor.wording import sentences

if TYPE_CHECKING:
    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.page.model import Group, Section

MB = 1_000_000


def section(report: Report, key: str) -> Section:
    page = build_page(Sources(report=report))
    return next(each for each in page.sections if each.key == key)


def launch_group(report: Report) -> Group:
    return section(report, "files").groups[0]


def reasons(saved: Figure, *, added_mb: float) -> str:
    added = Figure.exactly(added_mb * MB)
    decisive = Saving(app="app", device="hdd", seconds=saved)
    evidence = Evidence(
        declared="lzo",
        xz_bytes=Figure.exactly(100 * MB),
        lzo_bytes=Figure.exactly((100 + added_mb) * MB),
        bytes_added=added,
        savings=[decisive],
    )
    return " ".join(sentences(recommend(evidence, Policy()).reasons))


@pytest.mark.parametrize(
    ("added_mb", "told"),
    [
        (2, "the first cold launch makes up"),
        (6.4, "1 cold launch makes up"),
        (13, "3 cold launches make up"),
    ],
)
def test_launches_that_pay_are_counted_in_good_grammar(
    added_mb: float, told: str
) -> None:
    assert told in reasons(Figure.exactly(1.0), added_mb=added_mb)


def test_saving_that_two_decimals_hide_is_not_told_as_zero() -> None:
    tiny = Figure(low=-0.00001, mid=0.00002, high=0.00003)
    told = reasons(tiny, added_mb=10)
    assert (
        "lzo changes a cold launch of app on hdd by less than 0.01 s (estimated)."
        in told
    )
    assert "0.00 s" not in told


def test_figures_of_any_size_are_short() -> None:
    assert short_seconds(0.000024) == "24 µs"
    assert short_seconds(0.00996) == "10 ms"
    assert short_seconds(0.0004) == "0.40 ms"
    assert percent(0.0002) == "under 0.1%"
    wide = Interval(low=0, mid=100_000, high=260_000)
    assert size(wide) == "100.0 kB (0 B\N{EN DASH}260.0 kB)"


def test_interval_around_nothing_can_be_read() -> None:
    nothing = Figure(low=-1.925e-3, mid=-16e-6, high=-1.1e-6)
    assert seconds(nothing) == "-0.016 ms (-1.9 to -0.0011)"
    assert seconds(Figure(low=0.02, mid=0.05, high=0.12)) == (
        "50 ms (20\N{EN DASH}120)"
    )


def test_kind_of_file_never_grows_by_compression() -> None:
    """A block that would grow is stored, so an interval can't reach further."""
    layout = make_layout([("a.png", 100_000)])
    sizes = BlockSizes(stored_bytes=np.array([99e3]), errors=np.array([50e3]))
    stored = StoredSizes(layout=layout, codecs={"xz": sizes})
    (kind,) = kind_reports(stored, ())
    assert kind.stored_bytes["xz"].high == 100_000


def test_small_groups_share_a_place_on_the_map() -> None:
    small = tuple((f"etc/d{number}/f", 1_000) for number in range(3))
    large = (("usr/lib/libbig.so", 60 * MB), ("usr/bin/calc", 40 * MB))
    chart = launch_group(make_full_report((*large, *small))).charts[0]
    nodes = chart.draw(width=960).spec["data"][0]["values"]
    names = [each["name"] for each in nodes if each["parent"] == "root"]
    assert names == ["other libraries", "programs", "smaller groups"]
    assert sum(each["share"] for each in nodes) == pytest.approx(1)


def test_map_and_table_show_the_same_groups() -> None:
    chart = launch_group(make_full_report()).charts[0]
    nodes = chart.draw(width=960).spec["data"][0]["values"]
    names = [each["name"] for each in nodes if each["parent"] == "root"]
    assert chart.table is not None
    assert [row[0] for row in chart.table.rows] == names


def test_launch_of_one_file_has_no_map() -> None:
    part = section(make_full_report((("usr/bin/calc", 300_000),)), "files")
    (group,) = part.groups
    assert (group.charts, part.legend) == ((), "")
    assert "app0 reads 3 data blocks of 1 file." in group.paragraphs


def test_launch_says_what_it_takes_from_elsewhere() -> None:
    texts = launch_group(make_full_report()).notes
    assert any(text.startswith("From the base: libc.so.6") for text in texts)
    assert "Missing: \\x1b[31mbin/y." in texts


def test_page_says_what_a_trace_leaves_open() -> None:
    analysis = make_full_analysis()
    (launch,) = analysis.launches
    traced = replace(launch.launch_set, source="recorded", method="trace", basis=None)
    report = build_report(
        replace(analysis, launches=(replace(launch, launch_set=traced),))
    )
    part = section(report, "files")
    assert part.origin == "Blocks read: traced. Seconds: estimated."
    assert any(
        text.startswith("Accuracy: a trace counts mapped files whole")
        for text in part.groups[0].notes
    )
    terms = dict(section(report, "method").terms)
    assert "app0: blocks read are traced" in terms["Launches"]


def test_page_and_text_say_how_far_a_recorded_launch_fits() -> None:
    analysis = make_full_analysis()
    (launch,) = analysis.launches
    recorded = replace(launch.launch_set, source="recorded", basis=None)
    fitted = FittedProfile(
        launch_set=recorded,
        fitting_share=0.27,
        gone=("usr/lib/old.so",),
        changed=("usr/bin/calc", "usr/bin/x"),
        warm_s=0.5,
    )
    analysis = replace(
        analysis, launches=(replace(launch, launch_set=recorded, profile=fitted),)
    )
    told = (
        "27% of the launch profile's blocks fit this payload; 1 file gone "
        "(usr/lib/old.so); 2 files of another size (usr/bin/calc, usr/bin/x)"
    )
    texts = launch_group(build_report(analysis)).notes
    assert f"{told}." in texts
    assert told in " ".join(render_text(analysis).split())


def test_heaviest_files_are_told_where_they_are_not_all() -> None:
    many = (*FILES, *((f"usr/lib/lib{n}.so", 200_000) for n in range(9)))
    texts = " ".join(launch_group(make_full_report(many)).notes)
    assert "The 10 files that add most account for " in texts
    assert "that add most" not in " ".join(launch_group(make_full_report()).notes)


def test_findings_do_not_count_files_that_a_rule_left_out() -> None:
    report = make_full_report()
    assert report.findings is not None
    finding = report.findings[0].model_copy(
        update={"files": [f"f{number}" for number in range(200)]}
    )
    report = report.model_copy(update={"findings": [finding]})
    details = section(report, "findings").entries[0].details
    assert "files: f0, f1, f2, f3, and others" in details


def side_of_name(curve: list[tuple[int, float]], *, width: int = 470) -> str:
    """Return where the name of a point at ten files and a half of all stands."""
    points = [curve_point(files, share) for files, share in curve]
    other = curve_point(10, 0.5, "Chromium")
    drawn = draw_size_curve(points, [other], width=width).spec["data"]["values"]
    return str(drawn[-1]["what"])


def test_names_of_published_points_keep_off_the_curve() -> None:
    low = [(1, 0.01), (1_000, 0.2), (10_000, 1.0)]
    assert side_of_name(low) == "right"
    assert side_of_name([(1, 0.1), (10, 0.4), (30, 0.5), (10_000, 1.0)]) == "left"


def test_launches_predicted_for_devices_look_different() -> None:
    measurement = build_measurement_report(make_measurement())
    page = build_page(Sources(report=make_full_report(), measurement=measurement))
    cold = next(each for each in page.sections if each.key == "measured")
    spec = cold.groups[0].charts[0].draw(width=470).spec
    (shape,) = (
        layer["encoding"]["shape"]
        for layer in spec["layer"]
        if "shape" in layer["encoding"]
    )
    assert shape["scale"]["domain"] == ["nvme-laptop", "hdd-laptop"]
    assert len(set(shape["scale"]["range"])) == 2
    drawn = {each.get("device") for each in spec["data"]["values"]}
    assert {"nvme-laptop", "hdd-laptop"} <= drawn


def test_text_report_has_the_order_of_the_page() -> None:
    text = render_text(make_analysis())
    marks = (
        "CHANGE",
        "lzo saves per cold launch",
        "Prime directory",
        "codec ",
        "* for comparison",
        "App ",
        "Image sizes",
    )
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
