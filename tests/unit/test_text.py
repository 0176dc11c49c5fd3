"""The text report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyses import make_analysis
from snapcraft_compression_advisor.advice.reasons import Code
from snapcraft_compression_advisor.advice.recommendation import Recommendation
from snapcraft_compression_advisor.core.printable import printable
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.launch_set import GuessBasis, LaunchFile
from snapcraft_compression_advisor.payload.linkage import Unresolved
from snapcraft_compression_advisor.report.lines import TextStyle
from snapcraft_compression_advisor.report.text import render_text

if TYPE_CHECKING:
    from snapcraft_compression_advisor.advice.reasons import Condition
    from snapcraft_compression_advisor.analysis import Analysis
    from snapcraft_compression_advisor.launch.launch_set import Method

GOLDEN = Path(__file__).parent / "golden"


def test_report_is_the_golden_one() -> None:
    assert render_text(make_analysis()) == (GOLDEN / "report.txt").read_text()


def test_report_fits_80_columns() -> None:
    lines = render_text(make_analysis(apps=3)).splitlines()
    assert max(len(line) for line in lines) <= 80


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_report_fits_the_terminal(columns: int) -> None:
    report = render_text(make_analysis(apps=3), TextStyle(columns=columns))
    wide = [line for line in report.splitlines() if len(line) > columns]
    assert all(line.startswith("    compression-advisor ") for line in wide)


def test_narrow_terminal_gets_a_table_for_each_device() -> None:
    text = render_text(make_analysis(), TextStyle(columns=60))
    assert text.count("codec ") == 2


def test_narrow_terminal_still_has_bars_for_several_apps() -> None:
    text = render_text(make_analysis(apps=3), TextStyle(columns=60, unicode=False))
    assert "#" in text


def test_report_is_coloured_only_where_that_is_asked_for() -> None:
    plain, coloured = (
        render_text(make_analysis(), TextStyle(columns=80, coloured=each))
        for each in (False, True)
    )
    assert "\x1b" not in plain
    assert "\x1b[1;36mCHANGE: set" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def test_report_of_forty_apps_has_tables_of_those_that_matter() -> None:
    text = render_text(make_analysis(apps=40))
    assert text.count("seconds added to a cold launch of ") < 6
    assert "other apps save amounts between these" in " ".join(text.split())


def test_every_app_that_counts_has_its_table() -> None:
    text = render_text(make_analysis(apps=2))
    assert "cold launch of app0" in text
    assert "cold launch of app1" in text


def test_third_device_goes_into_a_second_table() -> None:
    analysis = make_analysis()
    third = replace(analysis.devices[0], name="third")
    launch = analysis.launches[0]
    estimates = {**launch.estimates, "third": launch.estimates["nvme-laptop"]}
    text = render_text(
        replace(
            analysis,
            devices=(*analysis.devices, third),
            launches=(replace(launch, estimates=estimates),),
        )
    )
    assert max(len(line) for line in text.splitlines()) <= 80
    assert text.count("codec ") == 2


def test_traced_launch_is_not_called_recorded() -> None:
    analysis = make_analysis()
    (launch,) = analysis.launches
    traced = replace(launch.launch_set, source="recorded", method="trace", basis=None)
    analysis = replace(analysis, launches=(replace(launch, launch_set=traced),))
    text = " ".join(render_text(analysis).split())
    assert "launch set, traced: 1 file" in text
    assert "accuracy: a trace counts mapped files whole; launches read" in text
    assert "(measured on" in text
    assert "the uncertainty of these and the trace of what a launch reads" in text
    assert "recorded" not in text


def test_built_snaps_own_size_is_told_as_measured() -> None:
    analysis = make_analysis()
    size = Interval.exactly(44_100_000)
    trial = replace(
        analysis.trial,
        mode="sampled",
        codecs={
            **analysis.trial.codecs,
            "xz": replace(analysis.trial.codecs["xz"], image_bytes=size),
        },
    )
    payload = replace(analysis.payload, kind="snap", image_bytes=44_100_000)
    text = render_text(replace(analysis, trial=trial, payload=payload))
    assert "Image sizes: measured for xz, the snap's own codec" in " ".join(
        text.split()
    )


def test_app_without_its_program_is_the_first_line() -> None:
    analysis = make_analysis()
    (launch,) = analysis.launches
    missing = Unresolved(
        name="bin/calc", needed_by="command of app0", supplier="missing"
    )
    launch_set = replace(launch.launch_set, unresolved=(missing,))
    analysis = replace(analysis, launches=(replace(launch, launch_set=launch_set),))
    first, second, *_ = render_text(analysis).splitlines()
    assert first == "NO PROGRAM for app app0: the payload has no file bin/calc"
    assert second == ""


def undecided(
    method: Method | None, *, doubts: tuple[Condition, ...] = ("saving",)
) -> Analysis:
    """Return an analysis of a recorded launch that leaves the advice open."""
    analysis = make_analysis()
    (launch,) = analysis.launches
    launch_set = replace(
        launch.launch_set, source="recorded", method=method, basis=None
    )
    advice = Recommendation(
        compression="xz",
        verdict="undecided",
        reasons=(Code.NO_APP,),
        doubts=doubts,
    )
    return replace(
        analysis,
        launches=(replace(launch, launch_set=launch_set),),
        recommendation=advice,
    )


def test_undecided_after_a_recording_says_what_would_decide() -> None:
    text = render_text(undecided("residency"))
    assert "sudo compression-advisor calibrate -o this-machine.yaml" in text
    assert "--device this-machine.yaml" in text
    assert "--method residency" not in text


def test_undecided_after_a_trace_asks_for_residency_first() -> None:
    lines = render_text(undecided("trace")).splitlines()
    (record,) = (line for line in lines if "--method residency" in line)
    assert record.lstrip().startswith("sudo compression-advisor record ")


def test_undecided_growth_asks_for_exact_sizes() -> None:
    text = render_text(undecided("residency", doubts=("growth",)))
    assert "--exact packs with every codec, so the sizes are measured." in text
    assert "--min-saving" not in text


def test_snap_without_apps_still_has_its_sizes() -> None:
    analysis = replace(
        make_analysis(),
        launches=(),
        recommendation=Recommendation(
            compression="xz", verdict="undecided", reasons=(Code.NO_APP,)
        ),
    )
    text = render_text(analysis)
    assert "57.2 MB" in text
    assert "cold launch" not in text
    assert "UNDECIDED: stay with xz" in text


def guessed(*recorded: tuple[str, float]) -> Analysis:
    """Return an analysis that can't decide, of a launch that was guessed."""
    analysis = make_analysis()
    launch = analysis.launches[0]
    launch_set = replace(
        launch.launch_set,
        files=(LaunchFile(path="x", size_bytes=9, blocks=((0, 3),), shares=(0.25,)),),
        basis=GuessBasis(kind="GTK 4", recorded=recorded),
    )
    return replace(
        analysis,
        launches=(replace(launch, launch_set=launch_set),),
        recommendation=replace(analysis.recommendation, verdict="undecided"),
    )


def test_guess_of_no_files_is_not_said_to_be_sure() -> None:
    analysis = guessed(("a", 1.21))
    (launch,) = analysis.launches
    nothing = replace(launch, launch_set=replace(launch.launch_set, files=()))
    assert "accuracy:" not in render_text(replace(analysis, launches=(nothing,)))


def test_report_says_how_sure_the_guess_is_for_its_kind() -> None:
    text = render_text(guessed(("a", 1.21), ("b", 0.88)))
    assert "guessed from files: 1 file, 1 of 4 data blocks" in text
    assert (
        "  accuracy: GTK 4; 2 recorded applications of this kind read 0.88 to 1.21 "
        "times\n    the predicted bytes (measured)\n"
    ) in text
    assert "no application of this kind was recorded" in render_text(guessed())


def test_report_that_cannot_decide_says_how_to_record_the_launch() -> None:
    lines = render_text(guessed()).splitlines()
    command = "    compression-advisor advise 'prime/\\xff' --record"
    assert command in lines
    assert "may decide it" not in render_text(make_analysis())


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("usr/bin/é x", "usr/bin/é x"),
        ("\udcff", "\\xff"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb", "a\\nb"),
        ("\u202e", "\\u202e"),
    ],
)
def test_names_cannot_steer_a_terminal(name: str, shown: str) -> None:
    assert printable(name) == shown
