"""What lzo saves, in figures and drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from analyses import make_analysis
from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.launch.model import seconds_saved
from snapcraft_compression_advisor.report.contract import Interval
from snapcraft_compression_advisor.report.gain import (
    Gains,
    gains,
    narrowing_text,
    why_narrow,
)
from snapcraft_compression_advisor.report.json_report import Report, build_report
from snapcraft_compression_advisor.report.markdown_report import render_markdown
from snapcraft_compression_advisor.report.measure_json import (
    build_measurement_report,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.page.gain import gain_section

if TYPE_CHECKING:
    from snapcraft_compression_advisor.report.measure_json import MeasurementReport


def found(report: Report, measurement: MeasurementReport | None = None) -> Gains:
    gained = gains(report, measurement)
    assert gained is not None
    return gained


def drawn(
    report: Report, measurement: MeasurementReport | None = None, *, what: str = "bar"
) -> dict[str, dict[str, object]]:
    """Return what the plot draws of a kind, by label."""
    section = gain_section(report, measurement)
    assert section is not None
    spec = section.groups[0].charts[0].draw(width=470).spec
    return {
        str(each.get("label")): each
        for each in spec["data"]["values"]
        if each["what"] == what
    }


def with_savings(report: Report, *mids: float) -> Report:
    """Return a report whose apps save so many seconds, for certain."""
    launches = [
        launch.model_copy(
            update={
                "savings": {
                    device: saving.model_copy(
                        update={"seconds_saved": Interval(low=mid, mid=mid, high=mid)}
                    )
                    for device, saving in launch.savings.items()
                }
            }
        )
        for launch, mid in zip(report.launches, mids, strict=True)
    ]
    return report.model_copy(update={"launches": launches})


def with_share(report: Report, share: float) -> Report:
    """Return a report whose policy asks for a share of what xz adds."""
    assert report.method is not None
    policy = report.method.policy.model_copy(update={"min_saving_share": share})
    method = report.method.model_copy(update={"policy": policy})
    return report.model_copy(update={"method": method})


def test_difference_is_the_one_that_the_advice_judges() -> None:
    analysis = make_analysis()
    (launch,) = analysis.launches
    gained = found(build_report(analysis))
    assert [gain.place for gain in gained.every] == list(launch.estimates)
    for gain in gained.every:
        costs = launch.estimates[gain.place]
        assert gain.saved_s == seconds_saved(costs["xz"], costs["lzo"])
    assert gained.decisive is not None
    decisive = analysis.recommendation.decisive
    assert decisive is not None
    assert gained.decisive.saved_s == decisive.seconds


def test_interval_of_the_device_that_decides_is_explained() -> None:
    analysis = make_analysis()
    decides = analysis.recommendation.decides
    assert decides is not None
    assert decides.saving.device == "nvme-laptop"
    (launch,) = analysis.launches
    _, other = launch.savings()
    advice = replace(analysis.recommendation, decides=replace(decides, saving=other))
    (launch_report,) = build_report(replace(analysis, recommendation=advice)).launches
    assert launch_report.narrowing is not None
    assert launch_report.narrowing.device_name == "hdd-laptop"


def test_one_bar_an_app_and_device_and_one_of_them_decides() -> None:
    bars = drawn(make_full_report(apps=2))
    assert len(bars) == 4
    assert [label for label, bar in bars.items() if bar["opacity"] == 1] == [
        "app0 on nvme-laptop, decides: 1.00 s (0.29–3.24)"  # noqa: RUF001 # as printed
    ]
    saved = make_full_report().launches[0].savings["nvme-laptop"].seconds_saved
    assert {(bar["s_low"], bar["s"], bar["s_high"]) for bar in bars.values()} == {
        (saved.low, saved.mid, saved.high)
    }


def test_apps_are_headings_where_there_are_several() -> None:
    assert [*drawn(make_full_report(apps=2), what="head")] == ["app0", "app1"]
    assert drawn(make_full_report(), what="head") == {}


def test_limit_of_the_policy_and_zero_are_always_drawn() -> None:
    report = with_savings(make_full_report(), -0.01)
    assert drawn(report, what="limit")["None"]["s"] == 0.25
    section = gain_section(report)
    assert section is not None
    spec = section.groups[0].charts[0].draw(width=470).spec
    low, high = spec["encoding"]["x"]["scale"]["domain"]
    assert low < -0.01
    assert high > 0.25


def test_share_that_a_policy_asks_for_is_what_is_drawn() -> None:
    report = with_share(make_full_report(), 0.4)
    share = report.launches[0].savings["nvme-laptop"].share_saved
    assert share is not None
    (bar, _) = drawn(report).values()
    assert (bar["s_low"], bar["s_high"]) == (share.low, share.high)
    assert drawn(report, what="limit")["None"]["s"] == 0.4
    assert found(report).asked == "40% of what xz adds"


def test_measured_launches_are_another_mark_of_the_first_app() -> None:
    measurement = build_measurement_report(make_measurement())
    report = make_full_report(apps=2)
    (mark,) = drawn(report, measurement, what="measured").values()
    against = measurement.codecs["lzo"].difference
    assert against is not None
    assert (mark["s"], mark["s_low"]) == (against.saved_s.mid, against.saved_s.low)
    assert str(mark["label"]).startswith("app0 on measured on a disk: 5.80 s (")
    assert drawn(report, what="measured") == {}


def test_single_round_marks_its_difference_without_an_interval() -> None:
    measurement = build_measurement_report(make_measurement(runs=1))
    (mark,) = drawn(make_full_report(), measurement, what="measured").values()
    assert mark["s_low"] == mark["s"] == pytest.approx(6.61 - 0.81)


def test_measurement_without_lzo_marks_nothing() -> None:
    measurement = make_measurement()
    codecs = {"xz": measurement.codecs["xz"]}
    without = build_measurement_report(replace(measurement, codecs=codecs))
    assert drawn(make_full_report(), without, what="measured") == {}


def test_of_forty_apps_the_deciding_one_is_drawn_and_both_ends_are_told() -> None:
    mids = [0.5 + number / 100 for number in range(40)]
    report = with_savings(make_full_report(apps=40), *mids)
    assert len(drawn(report)) == 2
    assert all(label.startswith("app0 on ") for label in drawn(report))
    assert found(report).apps == ("app0", "app39", "app38", "app1")
    section = gain_section(report)
    assert section is not None
    some, every = (group.table for group in section.groups)
    assert some is not None
    assert every is not None
    assert (len(some.rows), len(every.rows)) == (8, 80)


def test_average_over_the_users_devices_is_a_bar_of_its_own() -> None:
    analysis = make_analysis()
    decides = analysis.recommendation.decides
    assert decides is not None
    shares = {"nvme-laptop": 0.7, "hdd-laptop": 0.3}
    average = replace(decides.saving, device="average", shares=shares)
    advice = replace(
        analysis.recommendation,
        decides=replace(decides, saving=average, why="average"),
    )
    report = build_report(replace(analysis, recommendation=advice))
    assert [gain.place for gain in found(report).every if gain.decides] == [
        "average of users"
    ]
    assert len(drawn(report)) == 3
    clause = narrowing_text(report.launches[0])
    assert clause is not None
    assert clause.startswith("interval of the time saved on average, 1.00 s")
    why = why_narrow(report)
    assert why is not None
    assert why.startswith("On nvme-laptop, ")


def test_report_says_why_two_wide_intervals_have_a_narrow_difference() -> None:
    why = why_narrow(make_full_report())
    assert why is not None
    assert why.startswith(
        "On nvme-laptop, xz adds 1.40 s (0.51–4.27) and lzo 0.40 s "  # noqa: RUF001
        "(0.20–1.07), and yet the difference is 1.00 s (0.29–3.24): both codecs run "  # noqa: RUF001
    )
    assert why.count(". ") == 0


def test_intervals_that_do_not_overlap_need_no_explanation() -> None:
    report = make_full_report()
    (launch,) = report.launches
    costs = launch.devices["nvme-laptop"]
    xz, lzo = (
        cost.model_copy(update={"added_s": Interval(low=s, mid=s, high=s + 1)})
        for cost, s in ((costs["xz"], 3.0), (costs["lzo"], 1.0))
    )
    devices = {**launch.devices, "nvme-laptop": {"xz": xz, "lzo": lzo}}
    launches = [launch.model_copy(update={"devices": devices})]
    assert why_narrow(report.model_copy(update={"launches": launches})) is None


def test_report_saved_before_savings_were_in_it_has_no_plot() -> None:
    report = make_full_report()
    old = [launch.model_copy(update={"savings": {}}) for launch in report.launches]
    assert gain_section(report.model_copy(update={"launches": old})) is None


def test_savings_of_devices_that_a_saved_report_lacks_are_no_error() -> None:
    report = make_full_report()
    old = [launch.model_copy(update={"devices": {}}) for launch in report.launches]
    assert why_narrow(report.model_copy(update={"launches": old})) is None


def test_markdown_begins_with_the_saving_as_a_table() -> None:
    text = render_markdown(build_page(Sources(report=make_full_report())))
    saved = text.index("| app0 | nvme-laptop | 1.00 s (0.29–3.24) |")  # noqa: RUF001
    assert text.index("## What lzo saves") < saved < text.index("## Size against")
    assert "<details>" not in text[:saved]
