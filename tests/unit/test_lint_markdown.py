"""Findings as Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from lint_reports import (
    HOSTILE_PATHS,
    HOSTILE_REPORTS,
    HOSTILE_TEXTS,
    LZO_WOULD_GAIN,
    make_report,
    rendered,
    report_of,
)
from snapcraft_compression_advisor.core.printable import printable
from snapcraft_compression_advisor.report.markdown_report import code_span, plain

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport

GOLDEN = Path(__file__).parent / "golden"
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
"""A code span of CommonMark 6.1, in one line."""


def test_markdown_is_the_golden_one() -> None:
    assert rendered("markdown", make_report()) == (GOLDEN / "lint.md").read_text()


def test_fix_that_can_be_made_says_how() -> None:
    assert "fix (safe), applied by `--fix`: Set" in rendered(
        "markdown", report_of(LZO_WOULD_GAIN)
    )


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", "a\\|b"),
        ("<img src=x>", "\\<img src=x\\>"),
        ("[a](b)", "\\[a\\](b)"),
        ("![a](b)", "\\!\\[a\\](b)"),
        ("a_b_c*", "a\\_b\\_c\\*"),
        ("@everyone", "@<!-- -->everyone"),
        ("https://a.example", "https:\\//a.example"),
        ("www.a.example", "www\\.a.example"),
        ("&amp; #1", "\\&amp; \\#1"),
        ("a\nb", "a\\\\nb"),
    ],
)
def test_text_has_no_markup(text: str, escaped: str) -> None:
    assert plain(text) == escaped


@pytest.mark.parametrize(
    ("name", "span"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("a``b`", "``` a``b` ```"),
        (" a", "`  a `"),
        (" ", "` `"),
    ],
)
def test_name_with_backticks_is_one_code_span(name: str, span: str) -> None:
    assert code_span(name) == span


@given(name=HOSTILE_PATHS)
def test_any_name_is_one_code_span_that_shows_it(name: str) -> None:
    span = _SPAN.fullmatch(code_span(name))
    assert span is not None
    shown = span[2]
    if shown.strip() and shown.startswith(" ") and shown.endswith(" "):
        shown = shown[1:-1]
    assert shown == printable(name)


@given(text=HOSTILE_TEXTS)
def test_no_markup_is_left_in_plain_text(text: str) -> None:
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", plain(text).replace("@<!-- -->", ""))
    assert not re.search(r"[\\`*_\[\]<>|~&$#^!@]|://", bare)


@given(report=HOSTILE_REPORTS)
def test_no_name_starts_a_line(report: LintReport) -> None:
    text = rendered("markdown", report)
    text.encode()
    for line in text.split("\n"):
        assert line.isprintable()
        assert re.match(r"$|#{2,3} |  - |- \*\*|Not linted: |Nothing found\.", line)
