"""Pages on a stack, a month and the payload's files."""

import json
from dataclasses import replace

import jsonschema
import pytest

from analyses import make_analysis, with_month
from goldens import assert_golden, read_document
from lint_contexts import found_by, make_context
from payloads import make_payload
from reports import (
    COMPRESSED_SHARE,
    answer_text,
    full_text,
    make_full_analysis,
    make_stored,
)
from snapcraft_compression_advisor.advice.evidence import Deltas, Habits
from snapcraft_compression_advisor.analysis import Analysis
from snapcraft_compression_advisor.cli.listings import schema_of
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.model import estimate_launch
from snapcraft_compression_advisor.launch.stack import AVERAGE_CONSUMER, StackPart
from snapcraft_compression_advisor.lint.rules.compression import lzo_would_gain
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.report.advise_details import blocks_known
from snapcraft_compression_advisor.report.advise_json import advise_json
from snapcraft_compression_advisor.report.files import (
    file_kinds,
    heavy_files,
    largest_shares,
)
from snapcraft_compression_advisor.report.stack import stack_section

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
    assert_golden(f"stack-{columns}.txt", lines)


def test_json_of_a_stack_fits_its_schema() -> None:
    text = advise_json(stacked())
    jsonschema.validate(json.loads(text), json.loads(schema_of("report")))
    (launch,) = read_document(text).launches
    assert [(each.codec, each.taken_as, each.other_codec) for each in launch.stack] == [
        ("xz", "xz", "lzo"),
        ("lzo", "lzo", "xz"),
        ("xz", "xz", "lzo"),
    ]
    for whole in launch.stack_whole.values():
        assert 0 < whole.judged_share < 0.5


def sentences_of(analysis: Analysis) -> str:
    return " ".join(stack_section(analysis, analysis.launches[0]).sentences)


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


def test_commands_to_copy_repeat_the_options_of_the_one_that_was_typed() -> None:
    options = (
        ("--min-saving", "0.1"),
        ("--content", "my gnome.snap"),
        ("--launch-profile", "my.json"),
    )
    changed = replace(stacked(), options=options)
    named = "--min-saving 0.1 --content 'my gnome.snap' --launch-profile my.json"
    assert f"{named} --fix" in answer_text(changed)


def habits(deltas: Deltas) -> Habits:
    share = None if deltas == "none" else 0.2
    return Habits(refreshes=2, launches=21, deltas=deltas, delta_share=share)


def text(deltas: Deltas, columns: int = 80) -> str:
    return full_text(with_month(make_analysis(), habits(deltas)), columns=columns)


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_month_fits_into_the_terminal(columns: int) -> None:
    section = text("xdelta3", columns).partition("What lzo saves in")[2]
    lines = section.partition("\n\nHow the figures")[0].splitlines()
    assert lines
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("deltas", ["none", "xdelta3", "snap-1-1-xdelta3"])
def test_json_has_the_month_(deltas: Deltas) -> None:
    written = advise_json(with_month(make_analysis(), habits(deltas)))
    jsonschema.validate(json.loads(written), json.loads(schema_of("report")))
    month = read_document(written).month
    assert month is not None
    assert (month.refreshes, month.cold_launches, month.deltas) == (2, 21, deltas)
    parts = month.launch_s.mid + month.download_s.mid
    assert month.total_s.mid == pytest.approx(parts)
    assert month.codecs.keys() == {"xz", "lzo"}


@pytest.mark.parametrize(
    ("deltas", "download"),
    [
        ("none", "the whole image"),
        ("none", "download 88.2 MB 114.4 MB -26.2 MB"),
        ("snap-1-1-xdelta3", "Over a month of 21 cold launches and 2 refreshes"),
        ("snap-1-1-xdelta3", "download 17.6 MB 17.6 MB 0 B"),
    ],
)
def test_text_has_the_parts_of_the_month(deltas: Deltas, download: str) -> None:
    assert download in " ".join(text(deltas).split())


def test_finding_has_the_month_in_its_evidence() -> None:
    analysis = with_month(make_analysis(), habits("xdelta3"))
    (finding,) = found_by(lzo_would_gain, make_context(analysis=analysis))
    labels = [each.label for each in finding.evidence]
    assert "lzo saves over a month of 21 cold launches and 2 refreshes" in labels
    assert not any("pay for" in label for label in labels)


def test_largest_files_make_up_a_share_of_the_payload() -> None:
    layout = make_layout([(f"f{number}", 10_000 - number) for number in range(120)])
    shares = largest_shares(layout)
    assert shares[10] == pytest.approx(99_955 / (1_200_000 - 7_140))
    assert largest_shares(make_layout([("one", 7)])) == {1: 1.0, 10: 1.0}
    assert largest_shares(make_layout([])) == {}


def test_kinds_are_summed_by_codec() -> None:
    kinds = {each.kind: each for each in file_kinds(make_stored())}
    libraries = kinds["other libraries"]
    assert (libraries.files, libraries.raw_bytes) == (2, 11_000_000)
    for codec in ("xz", "lzo"):
        stored = libraries.stored_bytes[codec]
        assert stored.mid == pytest.approx(11_000_000 * COMPRESSED_SHARE[codec])
    assert kinds["calc"].stored_bytes["xz"].mid == pytest.approx(700_000, rel=0.01)


def test_heaviest_file_comes_first_with_what_it_costs_alone() -> None:
    analysis = make_full_analysis()
    heavy = heavy_files(analysis, analysis.launches[0].launch_set)
    assert heavy[0].path == "usr/lib/libbig.so"
    launch_set = analysis.launches[0].launch_set
    alone = replace(
        launch_set,
        files=tuple(f for f in launch_set.files if f.path == heavy[0].path),
        read_share=launch_set.read_share.map(lambda share: min(1.0, share)),
        seek_share=launch_set.seek_share.map(lambda share: min(1.0, share)),
    )
    device = analysis.devices[0]
    expected = estimate_launch(alone, analysis.trial.codecs["lzo"], device).added_s
    told = heavy[0].added_s[device.name]["lzo"]
    assert (told.low, told.mid, told.high) == (
        expected.low,
        expected.mid,
        expected.high,
    )


def test_sample_is_told_by_the_blocks_whose_size_is_known() -> None:
    stored = make_stored()
    stored.codecs["xz"].errors[3:] = 5.0
    analysis = make_full_analysis()
    trial = replace(analysis.trial, stored=stored)
    known = blocks_known(replace(analysis, trial=trial))
    assert known["xz"] == 3
    assert known["lzo"] == stored.layout.block_count


def test_nothing_is_said_of_blocks_that_do_not_compress_if_all_do() -> None:
    named = "Blocks that don't compress"
    assert named in full_text(make_full_analysis())
    assert named not in full_text(make_full_analysis([("usr/bin/calc", 300_000)]))
