"""Two builds compared, and the output of that."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from builds import BLOCK_BYTES, make_build, make_difference
from goldens import assert_golden
from lint_reports import HOSTILE_PATHS
from made_blocks import stored_block
from payloads import make_payload
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.diff.build import Build
from snapcraft_compression_advisor.diff.difference import BuildDifference
from snapcraft_compression_advisor.diff.files import compare_files, unchanged_paths
from snapcraft_compression_advisor.diff.launches import LaunchChange, compare_launches
from snapcraft_compression_advisor.report.diff import diff_json, diff_page
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.report.markdown_printer import print_markdown
from snapcraft_compression_advisor.report.text_printer import print_text
from snapcraft_compression_advisor.trial.result import StoredBlocks, blocks_of_files

SURE = Interval(low=0.9, mid=1.0, high=1.1)
VAGUE = Interval(low=0.2, mid=1.0, high=5.0)
APP = {"bin/hello": b"x" * 100_000}


def blocks(count: int, byte: bytes = b"a") -> bytes:
    return byte * (count * BLOCK_BYTES)


def launch_change(
    old: dict[str, bytes],
    new: dict[str, bytes],
    *,
    codecs: tuple[str, str] = ("xz", "xz"),
    read_share: Interval | None = None,
) -> LaunchChange:
    builds = [
        make_build(
            files,
            codec=codec,
            launched=dict.fromkeys(files, 1.0),
            read_share=read_share,
        )
        for files, codec in zip((old, new), codecs, strict=True)
    ]
    return compared(*builds)


def compared(old: Build, new: Build) -> LaunchChange:
    """Return what became of the one launch on one device."""
    same = unchanged_paths(old.payload, new.payload)
    (change,) = compare_launches(old, new, (find_device("nvme-laptop"),), same)
    return change


def test_same_contents_are_unchanged_and_other_kinds_are_not() -> None:
    old = make_payload({"a": b"1", "b": b"1", "c": b"1"}, links={"l": "a", "m": "a"})
    new = make_payload({"a": b"1", "b": b"2", "l": b"1"}, links={"c": "a", "m": "b"})
    assert unchanged_paths(old, new) == {"a"}


def test_difference_beyond_the_first_megabyte_is_seen() -> None:
    text = bytes(3_000_000)
    old, new = make_payload({"a": text + b"1"}), make_payload({"a": text + b"2"})
    assert unchanged_paths(old, new) == frozenset()


def test_changes_are_weighed_by_what_they_take_of_the_image() -> None:
    old = make_build({"same": b"s" * 10, "gone": b"g" * 100, "grown": b"x" * 50})
    new = make_build({"same": b"s" * 10, "grown": b"x" * 450, "new": b"n" * 20})
    files = compare_files(old, new, unchanged_paths(old.payload, new.payload))
    assert [(each.path, each.change) for each in files.changes] == [
        ("grown", "changed"),
        ("gone", "removed"),
        ("new", "added"),
    ]
    assert [each.stored_change.mid for each in files.changes] == [200, -50, 10]
    assert [round(files.share(each), 3) for each in files.changes] == [
        0.769, 0.192, 0.038,
    ]  # fmt: skip
    assert files.unchanged == 1
    assert files.stored_change("removed").mid == -50


def test_copy_that_comes_or_goes_weighs_nothing() -> None:
    one = make_build({"z": b"same" * 9})
    two = make_build({"a": b"same" * 9, "z": b"same" * 9})
    same = unchanged_paths(one.payload, two.payload)
    for old, new in ((one, two), (two, one)):
        (change,) = compare_files(old, new, same).changes
        assert (change.path, change.stored_change.mid) == ("a", 0)


def test_launch_of_the_same_files_is_exactly_the_same() -> None:
    change = launch_change(APP, APP, read_share=VAGUE)
    assert change.change_s == Interval.exactly(0.0)
    assert change.verdict == "same"
    assert not change.causes
    assert change.old_s.high > change.old_s.low


@pytest.mark.parametrize(
    ("old_measured", "new_measured", "share"),
    [(True, False, 0.5), (False, True, 0.51), (False, False, 0.51)],
)
def test_file_that_a_trial_estimates_otherwise_makes_no_difference(
    *, old_measured: bool, new_measured: bool, share: float
) -> None:
    files = {**APP, "lib/foo.so": blocks(800)}
    launched = dict.fromkeys(files, 1.0)
    old = make_build(files, launched=launched, measured=old_measured)
    new = make_build(files, launched=launched, measured=new_measured, stored_share=0.51)
    change = compared(old, new)
    assert change.change_s == Interval.exactly(0.0)
    assert (change.verdict, change.causes) == ("same", ())
    measured = make_build(files, launched=launched, stored_share=share)
    assert change.old_s == change.new_s == compared(measured, measured).new_s


def test_blocks_are_taken_over_for_files_that_both_have() -> None:
    def stored(**files: int) -> StoredBlocks:
        return blocks_of_files(
            {
                path: [stored_block(raw_bytes=9, stored_bytes=size)]
                for path, size in files.items()
            }
        )

    mixed = stored(a=3, b=4, c=5).with_files_of(stored(x=1, b=9), ("a", "b", "x"))
    assert mixed.stored_bytes.tolist() == [3, 9, 5]
    assert mixed.compressed.tolist() == [True, False, True]


def test_same_files_that_two_images_store_otherwise_make_a_difference() -> None:
    files = {**APP, "lib/foo.so": blocks(800)}
    launched = dict.fromkeys(files, 1.0)
    old = make_build(files, launched=launched, measured=True)
    new = make_build(files, launched=launched, measured=True, stored_share=0.7)
    assert compared(old, new).change_s.mid > 0


def test_library_that_grew_is_why_a_launch_is_slower() -> None:
    old = {**APP, "lib/foo.so": blocks(80), "lib/gone.so": blocks(1)}
    new = {**APP, "lib/foo.so": blocks(150, b"b")}
    change = launch_change(old, new, read_share=SURE)
    assert change.verdict == "slower"
    assert change.change_s.mid == pytest.approx(change.new_s.mid - change.old_s.mid)
    first, second = change.causes
    assert (first.path, first.old_bytes, first.new_bytes) == (
        "lib/foo.so", 80 * BLOCK_BYTES, 150 * BLOCK_BYTES,
    )  # fmt: skip
    assert first.seconds == pytest.approx(change.change_s.mid, rel=0.1)
    assert (second.path, second.new_bytes) == ("lib/gone.so", None)
    assert second.seconds < 0
    assert launch_change(new, old, read_share=SURE).verdict == "faster"


def test_same_growth_is_undecided_where_the_guess_is_vague() -> None:
    old = {**APP, "lib/foo.so": blocks(80)}
    new = {**APP, "lib/foo.so": blocks(150, b"b")}
    change = launch_change(old, new, read_share=VAGUE)
    assert change.verdict == "undecided"
    assert change.change_s.low < 0 < change.change_s.high


def test_what_both_launches_read_does_not_widen_the_interval() -> None:
    small = launch_change(APP, {**APP, "lib/new.so": blocks(80)}, read_share=SURE)
    common = {**APP, "lib/large.so": blocks(900)}
    large = launch_change(common, {**common, "lib/new.so": blocks(80)}, read_share=SURE)
    assert large.change_s.low == pytest.approx(small.change_s.low, rel=0.01)
    assert large.change_s.high == pytest.approx(small.change_s.high, rel=0.01)
    assert small.verdict == large.verdict == "slower"


def test_other_compression_is_a_cause_of_its_own() -> None:
    change = launch_change(
        {**APP, "lib/foo.so": blocks(50)},
        {**APP, "lib/foo.so": blocks(50)},
        codecs=("xz", "lzo"),
        read_share=SURE,
    )
    (cause,) = change.causes
    assert cause.path is None
    assert cause.seconds == pytest.approx(change.change_s.mid, rel=0.01)
    assert change.verdict == "faster"


def test_file_that_is_read_more_is_a_cause_though_unchanged() -> None:
    files = {**APP, "lib/foo.so": blocks(50)}
    old = make_build(files, launched={"bin/hello": 1.0, "lib/foo.so": 0.1})
    new = make_build(files, launched={"bin/hello": 1.0, "lib/foo.so": 0.9})
    (cause,) = compared(old, new).causes
    assert (cause.path, cause.unchanged) == ("lib/foo.so", True)
    assert cause.seconds > 0


def test_app_that_only_one_build_has_is_not_compared() -> None:
    old, new = make_build(APP), make_build(APP, launched={"bin/hello": 1.0})
    assert not list(
        compare_launches(old, new, (find_device("nvme-laptop"),), frozenset())
    )


SCHEMA = json.loads(schema_text("diff"))


def text_of(difference: BuildDifference) -> str:
    return print_text(diff_page(difference))


def full_text(difference: BuildDifference) -> str:
    return print_text(diff_page(difference), FILE_STYLE.with_all())


def markdown_of(difference: BuildDifference) -> str:
    return print_markdown(diff_page(difference))


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("diff.txt", text_of),
        ("diff-verbose.txt", full_text),
        ("diff.md", markdown_of),
        ("diff.json", diff_json),
    ],
)
def test_form_is_the_golden_one(
    name: str, render: Callable[[BuildDifference], str]
) -> None:
    assert_golden(name, render(make_difference()))


def test_growth_is_no_cause_where_the_compression_changed_too() -> None:
    difference = make_difference()
    changed = replace(difference, new=replace(difference.new, codec="lzo"))
    text = " ".join(text_of(changed).split())
    assert "because usr/lib/libfoo.so changed and is now packed with lzo" in text
    assert "grew by" not in text
    assert text.count("compression xz lzo changed") == 1


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=HOSTILE_PATHS)
def test_hostile_names_stay_text(name: str) -> None:
    difference = make_difference(library=name, app=name)
    jsonschema.validate(json.loads(diff_json(difference)), SCHEMA)
    for text in (full_text(difference), markdown_of(difference)):
        text.encode()
        assert all(line.isprintable() for line in text.split("\n"))
    rows = [line for line in markdown_of(difference).split("\n") if line[:2] == "| "]
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) in {4, 5} for row in rows)
