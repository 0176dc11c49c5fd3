"""Findings as Markdown."""

from __future__ import annotations

import re
from dataclasses import replace
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
from snapcraft_compression_advisor.lint.baseline import Baseline, judge
from snapcraft_compression_advisor.report.markdown_printer import code_span, plain

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport

GOLDEN = Path(__file__).parent / "golden"
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
"""A code span of CommonMark 6.1, in one line."""


def test_markdown_is_the_golden_one() -> None:
    assert rendered("markdown", make_report()) == (GOLDEN / "lint.md").read_text()


def test_fix_that_can_be_made_says_how() -> None:
    assert "fix (safe): Set" in rendered("markdown", report_of(LZO_WOULD_GAIN))


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
        assert re.match(r"$|#{3,4} |  - |- |</?details>|\*Each", line)


def test_a_report_of_any_length_fits_into_a_comment() -> None:
    many = [replace(LZO_WOULD_GAIN, message=f"Message {n}.") for n in range(1000)]
    for judged in (
        report_of(*many),
        judge(
            report_of(*many),
            Baseline(where="old.json", report=report_of(snap="s")),
        ),
    ):
        text = rendered("markdown", judged)
        assert 60_000 < len(text) <= 65_500  # GitHub's 65,536, with a line before it
        assert text.count("<details>") == text.count("</details>")
        assert re.search(
            r"\n\n[\d,]+ more lines don't fit into a comment. "
            r"`-v` shows all.\n$",
            text,
        )
    few = rendered("markdown", report_of(*many[:10]))
    assert "don't fit" not in few
