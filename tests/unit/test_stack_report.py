"""How reports show what a launch reads of each snap."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from analyses import make_analysis
from documents import read_document
from payloads import make_payload
from reports import answer_text, full_text
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.fit import FittedProfile
from snapcraft_compression_advisor.launch.stack import AVERAGE_CONSUMER, StackPart
from snapcraft_compression_advisor.report.advise_json import advise_json
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.stack import stack_section

GOLDEN = Path(__file__).parent / "golden"
MB = 1_000_000


def stacked(*, content: str | None = "lzo", at_hand: bool = True) -> Analysis:
    """Return an analysis of a calculator over a content snap and its base.

    :param content: codec of the content snap.
    :param at_hand: whether the base can be read.
    """
    analysis = make_analysis()
    (launch,) = analysis.launches
    own = StackPart(
        role="app",
        name="calculator",
        codec=None,
        payload=make_payload({}),
        launch_set=launch.launch_set,
        judged=True,
        estimates=launch.estimates,
        lzo_less_xz_bytes=Interval.exactly(13.1 * MB),
    )
    gnome = replace(
        own,
        role="content",
        name="gnome-46-2404",
        codec=content,
        judged=False,
        lzo_less_xz_bytes=Interval(low=28 * MB, mid=30 * MB, high=32 * MB),
    )
    base = replace(gnome, role="base", name="core24", codec="xz")
    if not at_hand:
        base = replace(base, payload=None, estimates={}, lzo_less_xz_bytes=None)
    return replace(analysis, launches=(replace(launch, stack=(own, gnome, base)),))


def stack_lines(text: str) -> str:
    start = text.index("What the launch of app0 reads from each snap")
    return text[start : text.index("How the figures")]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_text_tells_who_can_change_what(columns: int) -> None:
    lines = stack_lines(full_text(stacked(), columns=columns))
    assert max(map(len, lines.splitlines())) <= columns
    golden = GOLDEN / f"stack-{columns}.txt"
    assert lines == golden.read_text()


def test_json_of_a_stack_fits_its_schema() -> None:
    text = advise_json(stacked())
    jsonschema.validate(json.loads(text), json.loads(schema_text("report")))
    (launch,) = read_document(text).launches
    assert [(each.codec, each.taken_as, each.other_codec) for each in launch.stack] == [
        ("xz", "xz", "lzo"),
        ("lzo", "lzo", "xz"),
        ("xz", "xz", "lzo"),
    ]
    for whole in launch.stack_whole.values():
        assert 0 < whole.judged_share < 0.5


def sentences_of(analysis: Analysis) -> str:
    section = stack_section(analysis, analysis.launches[0])
    assert section is not None
    return " ".join(section.sentences)


def test_tables_have_each_snap_and_each_change() -> None:
    analysis = stacked()
    section = stack_section(analysis, analysis.launches[0])
    assert section is not None
    added, changes = section.tables
    assert [row[0] for row in added.rows] == [
        "calculator (app)",
        "gnome-46-2404 (content)",
        "core24 (base)",
        "together",
    ]
    assert [row[0] for row in changes.rows] == [
        "calculator to lzo (yours)",
        "gnome-46-2404 to xz (theirs): adds",
        "core24 to lzo (theirs)",
        "all to lzo",
    ]
    alone = make_analysis()
    assert stack_section(alone, alone.launches[0]) is None


def test_a_codec_that_is_not_known_is_taken_as_xz() -> None:
    assert "isn't known" not in sentences_of(stacked())
    said = sentences_of(stacked(content=None))
    assert "The codec of gnome-46-2404 isn't known, so xz is taken" in said


def test_a_recorded_snap_that_is_not_at_hand_has_blocks_and_no_seconds() -> None:
    analysis = stacked(at_hand=False)
    said = sentences_of(analysis)
    assert "core24: recorded, but not available" in said
    assert "Only their maintainers can change gnome-46-2404." in said
    assert "not known" in stack_lines(full_text(analysis))
    (launch,) = analysis.launches
    alone = replace(launch, stack=(launch.stack[0], launch.stack[2]))
    text = sentences_of(replace(analysis, launches=(alone,)))
    assert text.startswith("The other snaps aren't available")


def test_consumers_have_their_weight_and_the_command_that_records_them() -> None:
    analysis = stacked()
    (launch,) = analysis.launches
    mean = replace(launch.launch_set, app=AVERAGE_CONSUMER)
    analysis = replace(
        analysis,
        launches=(
            replace(launch, launch_set=mean, stack=()),
            replace(launch, weight=1.0),
        ),
    )
    text = full_text(analysis)
    assert "cold start of all consumers, on average reads" in text
    assert "cold start of consumer app0, weight 100% reads" in text
    assert "compression-advisor record --installed app0 -o app0.json" in text


def test_recorded_launch_of_an_installed_snap_shows_its_parts() -> None:
    analysis = stacked()
    (launch,) = analysis.launches
    fitted = FittedProfile(
        launch_set=launch.launch_set,
        fitting_share=1.0,
        gone=(),
        changed=(),
        warm_s=0.8,
        part_seconds=(("snap-run", 0.4), ("snap-confine", 0.12), ("app", 2.5)),
    )
    recorded = replace(analysis, launches=(replace(launch, profile=fitted),))
    expected = "snap-run 0.40 s, snap-confine 0.12 s and app 2.50 s"
    assert expected in " ".join(full_text(recorded).split())
    (report,) = json.loads(advise_json(recorded))["launches"]
    assert report["recorded_parts"][-1]["part"] == "app"


def test_commands_to_copy_name_the_same_base_and_content_snaps() -> None:
    analysis = stacked()
    options = ("--base", "core24.snap", "--content", "my gnome.snap")
    payload = replace(analysis.payload, stack_options=options)
    text = answer_text(replace(analysis, payload=payload))
    assert "--base core24.snap --content 'my gnome.snap' --fix" in text
