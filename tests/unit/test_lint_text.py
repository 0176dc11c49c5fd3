"""Findings as text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    STRADDLES,
    make_report,
    report_of,
    report_of_longest_path,
)
from snapcraft_compression_advisor.output.colour import wants_colour
from snapcraft_compression_advisor.output.lint_text import render_lint_text
from snapcraft_compression_advisor.rules.finding import LintReport

GOLDEN = Path(__file__).parent / "golden"
_COLOUR = re.compile("\x1b\\[[0-9;]+m")


def test_text_is_the_golden_one() -> None:
    assert render_lint_text(make_report()) == (GOLDEN / "lint.txt").read_text()


def test_statistics_are_the_golden_ones() -> None:
    text = render_lint_text(make_report(), statistics=True)
    assert text == (GOLDEN / "lint-statistics.txt").read_text()


def test_colour_changes_nothing_but_colour() -> None:
    coloured = render_lint_text(make_report(), coloured=True)
    assert coloured != render_lint_text(make_report())
    assert _COLOUR.sub("", coloured) == render_lint_text(make_report())


@pytest.mark.parametrize(
    ("environment", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "xterm"}, True, True),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    environment: dict[str, str],
    terminal: bool,  # noqa: FBT001 # a parameter of the table above
    wanted: bool,  # noqa: FBT001 # likewise
) -> None:
    assert wants_colour(environment, terminal=terminal) is wanted


def test_rule_stands_once_above_its_findings() -> None:
    moved = replace(BUDGET_BROKEN, message="Another one.")
    text = render_lint_text(report_of(BUDGET_BROKEN, moved))
    assert text.count("SCA201") == 1
    assert "Another one." in text


def test_undecided_finding_is_not_counted_as_info() -> None:
    text = render_lint_text(report_of(STRADDLES))
    assert "undecided SCA301" in text
    assert "Found: 1 undecided in 1 payload." in text


def test_long_list_of_files_is_cut_and_counted() -> None:
    text = render_lint_text(report_of(DEBUG_SYMBOLS))
    assert "libcalc5.so\n        and 2 more\n" in text
    assert "libcalc6" not in text


def test_only_fixes_that_can_be_made_are_promised() -> None:
    assert "--fix mends 1 of them" in render_lint_text(report_of(LZO_WOULD_GAIN))
    assert "--fix" not in render_lint_text(report_of(DEBUG_SYMBOLS))


def test_empty_run_says_so() -> None:
    text = render_lint_text(LintReport(version="0.1.0", payloads=()))
    assert text == "Found: nothing found in 0 payloads.\n"


@given(report=HOSTILE_REPORTS)
def test_no_payload_steers_a_terminal_or_a_runner(report: LintReport) -> None:
    _assert_harmless(render_lint_text(report))


def test_longest_path_is_wrapped_and_whole() -> None:
    text = render_lint_text(report_of_longest_path())
    _assert_harmless(text)
    assert text.count("é") == 127 * 5


def _assert_harmless(text: str) -> None:
    text.encode()
    for line in text.split("\n"):
        assert line.isprintable()
        assert len(line.replace("\\x3a", ":").replace("\\x23", "#")) <= 80
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
