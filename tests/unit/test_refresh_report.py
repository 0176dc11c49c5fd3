"""A refresh as a page and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from payloads import make_payload
from snapcraft_compression_advisor.advice.evidence import Downloads, Saving
from snapcraft_compression_advisor.advice.month import ASSUMED, Month, month_of
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.refresh.changes import ChangeKind, FileChange
from snapcraft_compression_advisor.refresh.delta import PLAIN, SNAP_AWARE, DeltaSize
from snapcraft_compression_advisor.refresh.refresh import CodecRefresh, Refresh
from snapcraft_compression_advisor.refresh.xdelta3 import Rebuild
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.report.markdown_printer import print_markdown
from snapcraft_compression_advisor.report.refresh import refresh_json, refresh_page
from snapcraft_compression_advisor.report.text_printer import print_text

SIZE = DeltaSize(size_bytes=Interval(low=1e6, mid=2e6, high=3e6))


def make_codec(codec: str, *, what_if: bool) -> CodecRefresh:
    return CodecRefresh(
        codec=codec,
        full_bytes=Interval.exactly(8e6),
        full_measured=not what_if,
        deltas={PLAIN: SIZE, SNAP_AWARE: SIZE},
        refusal=None,
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


GOLDEN = Path(__file__).parent / "golden"


def full_text(refresh: Refresh, month: Month | None = None) -> str:
    text = print_text(refresh_page(refresh, month), FILE_STYLE.with_all())
    return " ".join(text.split())


def test_screen_has_both_codecs_and_the_reasons_in_twelve_lines(
    refresh: Refresh,
) -> None:
    text = print_text(refresh_page(replace(refresh, notes=[])))
    assert text == (GOLDEN / "refresh.txt").read_text()
    assert len(text.splitlines()) <= 12


def test_comment_has_the_same_answer_and_one_fold(refresh: Refresh) -> None:
    text = print_markdown(refresh_page(refresh))
    assert text == (GOLDEN / "refresh.md").read_text()
    assert text.count("<details>") == 1


def test_verbose_text_says_how_each_figure_is_known(refresh: Refresh) -> None:
    text = full_text(refresh)
    assert "lzo, if both were packed with it: whole image 8.0 MB estimated" in text
    assert "xz: whole image 8.0 MB measured" in text
    assert text.count("delta 2.0 MB (1.0\N{EN DASH}3.0 MB) estimated") == 4
    assert "A note." in text


def test_what_would_help_is_named_for_what_happened_alone(refresh: Refresh) -> None:
    assert "SOURCE_DATE_EPOCH" in full_text(refresh)
    added = replace(refresh, files=refresh.files[:1])
    assert "SOURCE_DATE_EPOCH" not in full_text(added)


def test_refused_delta_says_why(refresh: Refresh) -> None:
    refused = replace(
        refresh.codecs["xz"], deltas={PLAIN: SIZE}, refusal="it has options"
    )
    text = full_text(replace(refresh, codecs={"xz": refused}))
    assert "xz: snap-aware delta snapd makes none" in text
    assert "2.0 MB (1.0\N{EN DASH}3.0 MB): it has options." in text


@pytest.mark.parametrize(
    ("rebuild", "said"),
    [
        (Rebuild(equal=True), "the snap-aware delta gives the new image again."),
        (Rebuild(equal=None, reason="old tool"), "wasn't applied: old tool."),
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


def test_names_do_not_break_the_table(refresh: Refresh) -> None:
    text = print_markdown(refresh_page(refresh))
    rows = [line for line in text.splitlines() if line.startswith("| `a")]
    assert len(rows) == 5


def make_month() -> Month:
    figure = Interval(low=1.0, mid=2.0, high=3.0)
    saving = Saving(app="hello", device="kiosk", seconds=figure)
    downloads = Downloads(by_codec={"xz": figure, "lzo": figure}, bytes_added=figure)
    return month_of(saving, ASSUMED, downloads, figure, 50.0)


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
