"""Forms of a difference."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from builds import make_difference
from lint_reports import HOSTILE_PATHS
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.report.contract import schema_text
from snapcraft_compression_advisor.report.diff_json import (
    DifferenceReport,
    render_diff_json,
)
from snapcraft_compression_advisor.report.diff_report import (
    bytes_change,
    render_diff_markdown,
    render_diff_text,
    signed_bytes,
    signed_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcraft_compression_advisor.diff.difference import BuildDifference

SCHEMA = json.loads(schema_text(DifferenceReport))
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("diff.txt", render_diff_text),
        ("diff.md", render_diff_markdown),
        ("diff.json", render_diff_json),
    ],
)
def test_form_is_the_golden_one(
    name: str, render: Callable[[BuildDifference], str]
) -> None:
    assert render(make_difference()) == (GOLDEN / name).read_text()


def test_text_fits_into_80_columns() -> None:
    assert all(
        len(line) <= 80 for line in render_diff_text(make_difference()).split("\n")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (signed_bytes(12e6), "+12.0 MB"),
        (signed_bytes(-300), "-300 B"),
        (signed_seconds(-0.004), "0.00 s"),
        (signed_seconds(-0.4), "-0.40 s"),
        (bytes_change(Interval.exactly(5)), "+5 B"),
        (bytes_change(Interval(low=-1e6, mid=1e6, high=2e6)),
         "+1.0 MB (-1.0 MB to +2.0 MB)"),
    ],
)  # fmt: skip
def test_differences_have_a_sign(text: str, expected: str) -> None:
    assert text == expected


def test_tables_and_padding_are_what_files_do_not_explain() -> None:
    difference = make_difference()
    assert difference.image_change.mid == pytest.approx(4.2e6)
    assert difference.tables_change.mid == pytest.approx(0.0e6, abs=1)


def test_growth_is_no_cause_where_the_compression_changed_too() -> None:
    difference = make_difference()
    changed = replace(difference, new=replace(difference.new, codec="lzo"))
    text = " ".join(render_diff_text(changed).split())
    assert "because usr/lib/libfoo.so changed and is now packed with lzo" in text
    assert "grew by" not in text


def test_changed_compression_is_said_once() -> None:
    difference = make_difference()
    changed = replace(difference, new=replace(difference.new, codec="lzo"))
    assert "compression: changed\n  xz -> lzo\n" in render_diff_text(changed)
    assert "| compression | xz | lzo | changed |" in render_diff_markdown(changed)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=HOSTILE_PATHS)
def test_hostile_names_stay_text(name: str) -> None:
    difference = make_difference(library=name, app=name)
    document = json.loads(render_diff_json(difference))
    jsonschema.validate(document, SCHEMA)
    for text in (render_diff_text(difference), render_diff_markdown(difference)):
        text.encode()
        assert all(line.isprintable() for line in text.split("\n"))
    rows = [
        line
        for line in render_diff_markdown(difference).split("\n")
        if line.startswith("| ")
    ]
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 5 for row in rows)
