"""A refresh as text, Markdown and JSON."""

from __future__ import annotations

import json
from dataclasses import replace

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
from snapcraft_compression_advisor.report.contract import schema_text
from snapcraft_compression_advisor.report.page.refresh import refresh_page
from snapcraft_compression_advisor.report.refresh_json import (
    RefreshReport,
    render_refresh_json,
)
from snapcraft_compression_advisor.report.refresh_text import (
    render_refresh_markdown,
    render_refresh_text,
)

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


def test_each_figure_says_how_it_is_known(refresh: Refresh) -> None:
    text = render_refresh_text(refresh)
    assert "lzo, if both were packed with it" in text
    assert "full download     8.0 MB, measured" in text
    assert "full download     8.0 MB, estimated" in text
    delta = "2.0 MB (1.0\N{EN DASH}3.0 MB), estimated, 25% of the image"
    assert text.count(delta) == 4
    assert "A note." in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_would_help_is_named_for_what_happened_alone(refresh: Refresh) -> None:
    assert "SOURCE_DATE_EPOCH" in render_refresh_text(refresh)
    added = replace(refresh, files=refresh.files[:1])
    assert "SOURCE_DATE_EPOCH" not in render_refresh_text(added)


def test_refused_delta_says_why(refresh: Refresh) -> None:
    refused = replace(
        refresh.codecs["xz"], deltas={PLAIN: SIZE}, refusal="it has options"
    )
    text = render_refresh_text(replace(refresh, codecs={"xz": refused}))
    assert "snap-aware delta  snapd makes none: it has options" in text


@pytest.mark.parametrize(
    ("rebuild", "said"),
    [
        (Rebuild(equal=True), "the snap-aware delta gives the new image again."),
        (Rebuild(equal=None, reason="old tool"), "wasn't applied: old tool."),
        (Rebuild(equal=False, reason="byte 5"), "gives another image: byte 5."),
    ],
)
def test_rebuilt_image_is_told_in_each_report(
    refresh: Refresh, rebuild: Rebuild, said: str
) -> None:
    codec = replace(refresh.codecs["xz"], rebuild=rebuild)
    rebuilt = replace(refresh, codecs={"xz": codec})
    assert said in " ".join(render_refresh_text(rebuilt).split())
    assert said in render_refresh_markdown(rebuilt).replace("\\", "")
    document = json.loads(render_refresh_json(rebuilt))
    assert document["codecs"]["xz"]["rebuild"]["equal"] is rebuild.equal


def test_names_do_not_break_the_table(refresh: Refresh) -> None:
    rows = [
        line
        for line in render_refresh_markdown(refresh).splitlines()
        if line.startswith("| `a")
    ]
    assert len(rows) == 5


def test_page_has_the_same_figures(refresh: Refresh) -> None:
    page = refresh_page(refresh)
    said = "downloads 2.0 MB in place of 8.0 MB, or 2.0 MB where snap-delta-format"
    assert said in page.verdict
    assert page.reasons == ("A note.",)
    assert page.sections[0].groups[1].heading == "lzo, if both were packed with it"
    _, files = page.sections[1].groups
    assert files.table is not None
    assert [row[0] for row in files.table.rows][:2] == ["a|added", "a|moved"]


def make_month() -> Month:
    figure = Interval(low=1.0, mid=2.0, high=3.0)
    saving = Saving(app="hello", device="kiosk", seconds=figure)
    downloads = Downloads(by_codec={"xz": figure, "lzo": figure}, bytes_added=figure)
    return month_of(saving, ASSUMED, downloads, figure, 50.0)


def test_month_is_in_each_report_with_what_is_assumed(refresh: Refresh) -> None:
    month = make_month()
    text = " ".join(render_refresh_text(refresh, month).split())
    assert "Over a month of 20 cold launches and 1 refresh, lzo saves" in text
    assert "Assumed, because nothing is known of the users" in text
    assert "| all of it |" in render_refresh_markdown(refresh, month)
    assert refresh_page(refresh, month).sections[1].key == "month"
    document = json.loads(render_refresh_json(refresh, month))
    jsonschema.validate(document, json.loads(schema_text(RefreshReport)))
    assert document["month"]["assumed"]
    assert document["month"]["launch_s"]["mid"] == 40.0
    known = replace(month, habits=replace(ASSUMED, assumed=False))
    assert "Assumed" not in render_refresh_text(refresh, known)


def test_each_file_has_its_bytes_in_each_delta(refresh: Refresh) -> None:
    changes = [
        replace(each, plain_bytes={"xz": 7e5, "lzo": 6e5}) for each in refresh.files
    ]
    large = replace(refresh, files=changes)
    text = render_refresh_text(large)
    assert "  snap-aware   plain, xz  plain, lzo\n" in text
    assert "    500.0 kB    700.0 kB    600.0 kB  a|moved\n" in text
    assert "1 file: a cache of files that didn't change" not in text
    document = json.loads(render_refresh_json(large))
    assert document["files"][0]["plain_bytes"] == {"xz": 7e5, "lzo": 6e5}
    assert {each["change"] for each in document["changes"]} == {
        each.change for each in changes
    }


def test_choice_is_in_each_report(refresh: Refresh) -> None:
    text = " ".join(render_refresh_text(refresh).split())
    assert "by default a device downloads the plain delta, 2.0 MB" in text
    assert "is set, a device downloads the snap-aware delta, 2.0 MB" in text
    assert "what a device downloads, by default" in render_refresh_markdown(refresh)
    said = refresh_page(refresh).sections[0].groups[0].paragraphs
    assert said[0].startswith("A device downloads the plain delta")
    choices = json.loads(render_refresh_json(refresh))["codecs"]["xz"]["choices"]
    assert [each["download"] for each in choices] == ["xdelta3", "snap-1-1-xdelta3"]


def test_json_follows_its_schema(refresh: Refresh) -> None:
    document = json.loads(render_refresh_json(refresh))
    jsonschema.validate(document, json.loads(schema_text(RefreshReport)))
    assert document["codecs"]["lzo"]["what_if"]
    assert document["files"][0]["delta_bytes"] == 5e5
