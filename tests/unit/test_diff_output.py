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
from snapcraft_compression_advisor.report.diff import diff_json, diff_page
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lines import FILE_STYLE
from snapcraft_compression_advisor.report.markdown_printer import print_markdown
from snapcraft_compression_advisor.report.text_printer import print_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcraft_compression_advisor.diff.difference import BuildDifference

SCHEMA = json.loads(schema_text("diff"))
GOLDEN = Path(__file__).parent / "golden"


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
    assert render(make_difference()) == (GOLDEN / name).read_text()


def test_text_fits_into_80_columns() -> None:
    text = full_text(make_difference())
    assert all(len(line) <= 80 for line in text.split("\n"))


def test_tables_and_padding_are_what_files_do_not_explain() -> None:
    difference = make_difference()
    assert difference.image_change.mid == pytest.approx(4.2e6)
    assert difference.tables_change.mid == pytest.approx(0.0e6, abs=1)


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
