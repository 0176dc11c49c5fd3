"""Which delta snapd downloads, and the reports on it."""

import io
import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens import assert_golden
from lint_contexts import found_by, make_context
from machine import write_script
from payloads import make_payload
from snapcraft_compression_advisor.advice.evidence import Downloads, Saving
from snapcraft_compression_advisor.advice.month import ASSUMED, Month, month_of
from snapcraft_compression_advisor.core.errors import BadDataError, ToolError
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.diff.figures import BaselineBuild
from snapcraft_compression_advisor.lint.rules.regressions import DELTA_RULES
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.payload.snap_yaml import SnapMetadata
from snapcraft_compression_advisor.refresh import estimate
from snapcraft_compression_advisor.refresh.changes import ChangeKind, FileChange
from snapcraft_compression_advisor.refresh.delta import (
    PLAIN,
    SNAP_AWARE,
    Choice,
    DeltaSize,
    choices,
)
from snapcraft_compression_advisor.refresh.estimate import DeltaMaker
from snapcraft_compression_advisor.refresh.refresh import (
    CodecRefresh,
    Refresh,
    oddities,
)
from snapcraft_compression_advisor.refresh.xdelta3 import Rebuild, Stream
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.report.markdown_printer import print_markdown
from snapcraft_compression_advisor.report.refresh import refresh_json, refresh_page
from snapcraft_compression_advisor.report.text_printer import print_text


def said(old: Mapping[str, object], new: Mapping[str, object]) -> str:
    builds = []
    for name, metadata in (("old", old), ("new", new)):
        build = make_payload({})
        build.snap = SnapMetadata.model_validate({"name": "hello", **metadata})
        build.path = Path(name)
        builds.append(build)
    return " ".join(oddities(*builds, changed=True))


def test_builds_for_other_devices_are_noticed() -> None:
    amd, arm = {"architectures": ["amd64"]}, {"architectures": ["arm64"]}
    assert "no device refreshes" in said(amd, arm)
    assert not said(amd, {"architectures": ["all"]})
    assert not said(amd, {})


def test_same_build_twice_downloads_nothing() -> None:
    build = make_payload({"a": b"four"})
    deltas = DeltaMaker(build, build).deltas("xz")
    assert list(deltas) == [PLAIN, SNAP_AWARE]
    assert all(each.size_bytes == Interval.exactly(0.0) for each in deltas.values())


def test_build_that_only_lacks_files_downloads_new_tables() -> None:
    old = make_payload({"a": b"four", "b": b"five"})
    plain = DeltaMaker(old, make_payload({"a": b"four"})).plain("xz")
    assert plain.size_bytes.mid > 0


@pytest.mark.parametrize(("codec", "more"), [("lzo", 3), ("xz", 1.2)])
def test_file_that_goes_gives_those_behind_it_other_numbers(
    codec: str, more: float
) -> None:
    files = {f"{number:02}": b"%d" % number for number in range(100)}
    old = make_payload(files)

    def without(name: str) -> float:
        new = make_payload({each: files[each] for each in files if each != name})
        return DeltaMaker(old, new).plain(codec).size_bytes.mid

    assert without("00") > more * without("99")


FULL = Interval.exactly(100.0)


def chosen(**sizes: float) -> list[Choice]:
    names = {"plain": PLAIN, "aware": SNAP_AWARE}
    deltas = {
        names[name]: DeltaSize(size_bytes=Interval(low=0.9 * s, mid=s, high=1.1 * s))
        for name, s in sizes.items()
    }
    return list(choices(FULL, deltas))


@pytest.mark.parametrize(
    ("sizes", "default", "featured"),
    [
        ({"plain": 50, "aware": 20}, (PLAIN, "preferred"), (SNAP_AWARE, "preferred")),
        ({"plain": 20, "aware": 50}, (PLAIN, "preferred"), (SNAP_AWARE, "preferred")),
        ({"plain": 50}, (PLAIN, "preferred"), (PLAIN, "refused")),
        ({"plain": 99, "aware": 95}, (PLAIN, "perhaps-larger"),
         (SNAP_AWARE, "perhaps-larger")),
        ({"plain": 100, "aware": 100}, (None, "larger"), (None, "larger")),
    ],
)  # fmt: skip
def test_snapd_prefers_the_snap_aware_delta_if_it_has_the_feature(
    sizes: dict[str, float], default: tuple[str, str], featured: tuple[str, str]
) -> None:
    found = chosen(**sizes)
    assert [each.wanted for each in found] == [PLAIN, SNAP_AWARE]
    assert [(c.download, c.reason) for c in found] == [default, featured]
    assert all(each.download or each.size_bytes == FULL for each in found)


@given(st.floats(1, 200), st.floats(1, 200))
def test_nobody_downloads_more_than_the_image(plain: float, aware: float) -> None:
    assert all(c.size_bytes.mid <= FULL.mid for c in chosen(plain=plain, aware=aware))


def test_stream_is_a_listing_and_the_contents_in_its_order() -> None:
    payload = make_payload({"b": b"second", "a/x": b"first"}, links={"c": "b"})
    target = io.BytesIO()
    stream = Stream(payload)
    stream.write(target)
    listing, _, contents = target.getvalue().partition(b"MODIFY\n#\n")
    assert contents == b"firstsecond"
    assert b"\na/x R 0 755 0 0 5 0\nb R 0 755 0 0 6 5\nc S 0 777 0 0 b\n" in listing
    start = len(target.getvalue()) - len(contents)
    assert stream.places == [(start, "a/x"), (start + 5, "b")]


def test_names_of_one_file_have_its_contents_once() -> None:
    payload = make_payload({"a": b"same", "b": b"same"})
    entries = payload.inventory.entries.values()
    payload.inventory = Inventory.of([each._replace(identity=1) for each in entries])
    target = io.BytesIO()
    Stream(payload).write(target)
    assert b"\nb L a\n" in target.getvalue()
    assert target.getvalue().endswith(b"#\nsame")


def test_builds_that_no_delta_is_made_of_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(estimate, "LARGEST_BYTES", 3)
    maker = DeltaMaker(make_payload({}), make_payload({"a": b"four"}))
    with pytest.raises(BadDataError, match="add up to 4 bytes"):
        _ = maker.snap_aware


def test_what_a_failed_program_printed_is_in_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(tmp_path / "xdelta3", "echo no LZMA >&2; exit 3")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    maker = DeltaMaker(make_payload({}), make_payload({"a": b"four"}))
    with pytest.raises(ToolError, match="xdelta3 failed with status 3: no LZMA"):
        _ = maker.snap_aware


def test_missing_xdelta3_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    maker = DeltaMaker(make_payload({}), make_payload({"a": b"four"}))
    with pytest.raises(ToolError, match="sizes of deltas aren't known") as caught:
        _ = maker.snap_aware
    assert "package xdelta3" in str(caught.value.resolution)


def test_delta_that_is_not_known_passes_no_rule() -> None:
    policy = {"max-refresh-size": "8MB"}
    baseline = BaselineBuild(figures=None, no_delta="xdelta3 isn't installed")
    context = replace(make_context(policy=policy), baseline=baseline)
    (finding,) = found_by(DELTA_RULES[0], context)
    assert finding.undecided
    assert "xdelta3 isn't installed" in finding.message
    for rule in DELTA_RULES[1:]:
        assert rule.blocked(context) == "xdelta3 isn't installed"


SIZE = DeltaSize(size_bytes=Interval(low=1e6, mid=2e6, high=3e6))


def make_codec(codec: str, *, what_if: bool) -> CodecRefresh:
    return CodecRefresh(
        codec=codec,
        full_bytes=replace(Interval.exactly(8e6), low=7e6 if what_if else 8e6),
        deltas={PLAIN: SIZE, SNAP_AWARE: SIZE},
        what_if=what_if,
    )


def make_change(path: str, change: ChangeKind) -> FileChange:
    return FileChange(path=path, old_path="old|1", change=change, delta_bytes=5e5)


@pytest.fixture
def refresh() -> Refresh:
    kinds: tuple[ChangeKind, ...] = (
        "added", "moved", "changed", "recompressed", "timestamp",
    )  # fmt: skip
    return Refresh(
        old=make_payload({}),
        new=make_payload({}),
        codecs={
            "xz": make_codec("xz", what_if=False),
            "lzo": make_codec("lzo", what_if=True),
        },
        files=[make_change(f"a|{kind}", kind) for kind in kinds],
        notes=["A note"],
    )


def full_text(refresh: Refresh, month: Month | None = None) -> str:
    text = print_text(refresh_page(refresh, month), FILE_STYLE.with_all())
    return " ".join(text.split())


def test_screen_has_both_codecs_and_the_reasons_in_twelve_lines(
    refresh: Refresh,
) -> None:
    text = print_text(refresh_page(replace(refresh, notes=[])))
    assert_golden("refresh.txt", text)
    assert len(text.splitlines()) <= 12


def test_what_no_file_adds_are_the_tables(refresh: Refresh) -> None:
    text = print_text(refresh_page(replace(refresh, files=refresh.files[:1])))
    assert "\n  1.5 MB    names, times and places of all files: the image's" in text
    assert "\n  500.0 kB  1 file: new" in text


@pytest.mark.parametrize("kind", get_args(ChangeKind))
def test_each_reason_takes_one_line(refresh: Refresh, kind: ChangeKind) -> None:
    many = [make_change("a", kind)] * 3000
    text = print_text(refresh_page(replace(refresh, files=many, notes=[])))
    assert re.search(r"\n  1.50 GB  3,000 files: .+\n\nDetails:    -v\n", text)


def test_comment_has_the_same_answer_and_one_fold(refresh: Refresh) -> None:
    text = print_markdown(refresh_page(refresh))
    assert_golden("refresh.md", text)
    assert text.count("<details>") == 1


def test_verbose_text_says_how_each_figure_is_known(refresh: Refresh) -> None:
    text = full_text(refresh)
    assert "lzo, if both were packed with it: whole image 8.0 MB (7.0" in text
    assert "8.0 MB) estimated lzo: snap-aware delta" in text
    assert "xz: whole image 8.0 MB measured" in text
    assert text.count("delta 2.0 MB (1.0\N{EN DASH}3.0 MB) estimated") == 4
    assert "A note." in text


def test_what_would_help_is_named_for_what_happened_alone(refresh: Refresh) -> None:
    assert "SOURCE_DATE_EPOCH" in full_text(refresh)
    added = replace(refresh, files=refresh.files[:1])
    assert "SOURCE_DATE_EPOCH" not in full_text(added)


def test_refused_delta_says_why(refresh: Refresh) -> None:
    refused = replace(refresh.codecs["xz"], deltas={PLAIN: SIZE})
    text = full_text(replace(refresh, codecs={"xz": refused}))
    assert "xz: snap-aware delta snapd makes none" in text
    assert "2.0 MB (1.0\N{EN DASH}3.0 MB): images with xz and comp" in text


@pytest.mark.parametrize(
    ("rebuild", "said"),
    [
        (Rebuild(equal=True), "the snap-aware delta gives the new image again."),
        (Rebuild(equal=False, reason="byte 5"), "gives another image: byte 5."),
    ],
)
def test_rebuilt_image_is_in_each_report(
    refresh: Refresh, rebuild: Rebuild, said: str
) -> None:
    codec = replace(refresh.codecs["xz"], rebuild=rebuild)
    rebuilt = replace(refresh, codecs={"xz": codec})
    assert said in full_text(rebuilt)
    document = json.loads(refresh_json(rebuilt))
    assert document["codecs"]["xz"]["rebuild"]["equal"] is rebuild.equal


def make_month() -> Month:
    figure = Interval(low=1.0, mid=2.0, high=3.0)
    saving = Saving(app="hello", device="kiosk", seconds=figure)
    downloads = Downloads(by_codec={"xz": figure, "lzo": figure}, bytes_added=figure)
    return month_of(saving, ASSUMED, downloads, 50.0)


def test_month_is_in_each_report_with_what_is_assumed(refresh: Refresh) -> None:
    month = make_month()
    text = full_text(refresh, month)
    assert "Over a month of 20 cold launches and 1 refresh, lzo saves" in text
    assert "Assumed, because nothing is known of the users" in text
    document = json.loads(refresh_json(refresh, month))
    jsonschema.validate(document, json.loads(schema_text("refresh")))
    assert document["month"]["assumed"]
    assert document["month"]["launch_s"]["mid"] == 40.0
    known = replace(month, habits=replace(ASSUMED, assumed=False))
    assert "Assumed" not in full_text(refresh, known)


def test_each_file_has_its_bytes_in_each_delta(refresh: Refresh) -> None:
    changes = [
        replace(each, plain_bytes={"xz": 7e5, "lzo": 6e5}) for each in refresh.files
    ]
    large = replace(refresh, files=changes)
    assert "500.0 kB 700.0 kB 600.0 kB a|moved" in full_text(large)
    document = json.loads(refresh_json(large))
    jsonschema.validate(document, json.loads(schema_text("refresh")))
    assert document["files"][0]["plain_bytes"] == {"xz": 7e5, "lzo": 6e5}
    assert {each["change"] for each in document["changes"]} == {
        each.change for each in changes
    }
    choices = document["codecs"]["xz"]["choices"]
    assert [each["download"] for each in choices] == ["xdelta3", "snap-1-1-xdelta3"]
