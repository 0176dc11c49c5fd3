"""What pages say to do next, and where labels of charts go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from lint_reports import DEBUG_SYMBOLS
from reports import make_full_analysis, make_full_report
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.lint.finding import (
    Finding,
    Fix,
    Gain,
    LintedPayload,
    Location,
)
from snapcraft_compression_advisor.report.json_report import build_report
from snapcraft_compression_advisor.report.page.labels import Box, Label, place_labels
from snapcraft_compression_advisor.report.page.next_steps import TRIMMED, next_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.page.model import Step

RULES = ("SCA302", "SCA303", "SCA304", "SCA305", "SCA202")


def finding(rule: str, seconds: float, *, undecided: bool = False) -> Finding:
    of_launch = rule == "SCA202"
    return Finding(
        rule=rule,
        name="x",
        severity="warning",
        message="m",
        location=Location("image", "prime"),
        fix=Fix(f"Fix {rule}"),
        gain=Gain(
            seconds=Interval(low=seconds / 2, mid=seconds, high=seconds * 2),
            of="cold launch" if of_launch else "download",
            where="app0 on hdd-laptop" if of_launch else "50 Mbit/s",
        ),
        undecided=undecided,
    )


def steps(report: Report) -> Sequence[Step]:
    section = next_section(report, report.findings)
    return section.steps if section else ()


def report_with(*findings: Finding) -> Report:
    linted = LintedPayload(path="prime", snap_name="x", findings=findings)
    return build_report(make_full_analysis(), linted=linted)


def test_advice_to_change_is_a_line_to_copy_with_what_it_brings() -> None:
    step = steps(make_full_report())[0]
    assert step.lines == ("compression: lzo",)
    assert step.text.startswith("Saves 1.00 s (0.29–3.24) per cold launch of app0")  # noqa: RUF001 # as printed
    assert step.text.endswith("and adds 13.1 MB.")


def test_guess_is_followed_by_the_command_that_records() -> None:
    step = steps(make_full_report(apps=2))[1]
    assert step.lines == (
        "compression-advisor advise 'prime/\\xff' --record --app app0",
    )
    assert step.text.startswith("Narrows what lzo saves on nvme-laptop from 1.00 s (")


def test_recorded_launch_needs_no_recording() -> None:
    analysis = make_full_analysis()
    (launch,) = analysis.launches
    recorded = replace(launch.launch_set, source="recorded", basis=None)
    launches = (replace(launch, launch_set=recorded),)
    report = build_report(replace(analysis, launches=launches))
    assert [step.title for step in steps(report)] == [
        "Set the key in snapcraft.yaml",
        "Measure whether reading ahead makes app0 start faster",
    ]


def test_undecided_advice_has_the_steps_of_the_report() -> None:
    analysis = make_full_analysis()
    advice = replace(analysis.recommendation, verdict="undecided", compression="xz")
    report = build_report(replace(analysis, recommendation=advice))
    (step,) = steps(report)
    assert step.title == "A recorded launch in place of the guess may decide it"
    assert step.lines[0].endswith("--record")


def test_three_fixes_that_save_most_are_told_those_of_launches_first() -> None:
    seconds = (0.5, 0.9, 0.1, 2.0, 0.3)
    found = [finding(rule, s) for rule, s in zip(RULES, seconds, strict=True)]
    told = steps(report_with(*found))[2:-1]
    trim = ("compression-advisor trim 'prime/\\xff' --prove",)
    assert [step.lines for step in told] == [
        ("compression-advisor rule SCA202",), trim, trim,
    ]  # fmt: skip
    assert told[0].text == (
        "Saves up to 0.30 s (0.15–0.60) per cold launch of app0 on hdd-laptop."  # noqa: RUF001 # as printed
    )
    assert told[1].text == "Saves 2.00 s (1.00–4.00) of each download at 50 Mbit/s."  # noqa: RUF001 # as printed


def test_findings_on_what_trim_leaves_out_say_so() -> None:
    remedies = {rule.id: rule.remedy for rule in ALL_RULES if rule.id in TRIMMED}
    assert len(remedies) == len(TRIMMED)
    assert all("'compression-advisor trim'" in (r or "") for r in remedies.values())


def test_fixes_whose_gain_is_not_certain_or_not_known_are_not_told() -> None:
    unknown = replace(DEBUG_SYMBOLS, gain=None)
    report = report_with(finding("SCA302", 3, undecided=True), unknown)
    assert len(steps(report)) == len(steps(report_with()))


def test_reading_ahead_is_to_be_measured_where_launches_wait() -> None:
    report = make_full_report(apps=2)
    record, prefetch = steps(report)[-1].lines
    advisor = "compression-advisor"
    assert record == f"{advisor} record 'prime/\\xff' -o run.json --app app0"
    options = "--launch-profile run.json --prove"
    assert prefetch == f"{advisor} prefetch 'prime/\\xff' {options}"
    launches = [
        each.model_copy(update={"source": "recorded"}) for each in report.launches
    ]
    recorded = report.model_copy(update={"launches": launches})
    assert steps(recorded)[-1].lines == (record, prefetch)
    advice = report.recommendation.model_copy(update={"verdict": "no-benefit"})
    idle = report.model_copy(update={"recommendation": advice})
    assert not any("prefetch" in line for each in steps(idle) for line in each.lines)


def test_nothing_to_do_is_no_part_of_the_page() -> None:
    report = report_with()
    advice = report.recommendation.model_copy(update={"verdict": "keep"})
    report = report.model_copy(update={"recommendation": advice, "launches": []})
    assert next_section(report, None) is None


FRAME = Box(0, 0, 300, 200)
PLACES = st.tuples(st.floats(0, 300), st.floats(0, 200), st.floats(0, 60))


@given(st.lists(PLACES, max_size=8))
def test_labels_meet_neither_marks_nor_one_another(
    places: list[tuple[float, float, float]],
) -> None:
    labels = [
        Label(
            texts=("a long label", "x"),
            marks=(
                Box(x - 7, y - 7, x + 7, y + 7),
                Box(x - 1, y - reach, x + 1, y + reach),
            ),
        )
        for x, y, reach in places
    ]
    boxes = [found[1] for found in place_labels(labels, FRAME) if found is not None]
    marks = [mark for label in labels for mark in label.marks]
    for at, box in enumerate(boxes):
        assert box.within(FRAME)
        assert not any(map(box.meets, marks))
        assert not any(map(box.meets, boxes[at + 1 :]))


def test_label_stands_beside_its_point_where_there_is_room() -> None:
    label = Label(texts=("xz",), marks=(Box(93, 93, 107, 107),))
    (found,) = place_labels([label], FRAME)
    assert found is not None
    text, box = found
    assert text == "xz"
    assert box.left > 107
    assert (box.top + box.bottom) / 2 == 100


def test_shorter_text_is_taken_where_the_longer_one_has_no_room() -> None:
    label = Label(texts=("x" * 60, "xz"), marks=(Box(93, 93, 107, 107),))
    (found,) = place_labels([label], FRAME)
    assert found is not None
    assert found[0] == "xz"


def test_label_without_room_is_left_out() -> None:
    label = Label(texts=("x" * 60,), marks=(Box(93, 93, 107, 107),))
    assert place_labels([label], FRAME) == [None]
