"""Findings as text and Markdown."""

import re
from dataclasses import replace
from urllib.parse import unquote

import pytest
from hypothesis import given

from goldens import assert_golden
from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_PATHS,
    HOSTILE_REPORTS,
    HOSTILE_TEXTS,
    LONGEST_PATH,
    LZO_WOULD_GAIN,
    STRADDLES,
    make_report,
    rendered,
    report_of,
    report_of_longest_path,
)
from snapcraft_compression_advisor.core.terminal import (
    printable,
    safe_text,
    wants_colour,
)
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.lint.baseline import Baseline, judge
from snapcraft_compression_advisor.lint.finding import (
    MOST_FILES,
    Evidence,
    Finding,
    Gain,
    LintReport,
    Location,
)
from snapcraft_compression_advisor.report.lines import TextStyle, terminal_columns
from snapcraft_compression_advisor.report.lint_formats import FORMATS
from snapcraft_compression_advisor.report.markdown_printer import code_span, plain

VERBOSE = TextStyle(verbose=True)
_COLOUR = re.compile("\x1b\\[[0-9;]+m")


def test_text_is_the_golden_one() -> None:
    assert_golden("lint.txt", rendered("text", make_report()))


def test_verbose_text_is_the_golden_one() -> None:
    text = rendered("text", make_report(), VERBOSE)
    assert_golden("lint-verbose.txt", text)


def test_five_findings_fit_in_a_dozen_lines() -> None:
    findings = (BUDGET_BROKEN, LZO_WOULD_GAIN, DEBUG_SYMBOLS, STRADDLES)
    moved = replace(BUDGET_BROKEN, message="Another one, of a few words.")
    text = rendered("text", report_of(*findings, moved))
    assert len(text.splitlines()) <= 12


def test_findings_that_save_most_come_first_of_their_severity() -> None:
    small, large = (
        replace(
            DEBUG_SYMBOLS,
            message=f"Saves {seconds}.",
            gain=Gain(seconds=Interval.exactly(seconds), of="cold launch", where="app"),
        )
        for seconds in (0.1, 2.0)
    )
    download = Gain(seconds=Interval.exactly(9.0), of="download", where="50 Mbit/s")
    rare = replace(DEBUG_SYMBOLS, message="Saves 9 s, rarely.", gain=download)
    text = rendered("text", report_of(rare, small, large))
    assert text.index("Saves 2.0") < text.index("Saves 0.1") < text.index("rarely")


def test_colour_changes_nothing_but_colour() -> None:
    coloured = rendered("text", make_report(), TextStyle(coloured=True))
    assert coloured != rendered("text", make_report())
    assert _COLOUR.sub("", coloured) == rendered("text", make_report())


@pytest.mark.parametrize(
    ("environment", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "xterm"}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": ""}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
    ],
)
def test_colour_is_for_terminals_that_want_it(
    environment: dict[str, str],
    terminal: bool,  # noqa: FBT001 # a parameter of the table above
    wanted: bool,  # noqa: FBT001 # as above
) -> None:
    assert wants_colour(environment, terminal=terminal) is wanted


def test_verbose_text_has_all_figures_and_ten_paths() -> None:
    text = rendered("text", report_of(many_figures(40)), VERBOSE)
    assert all(f" figure {number}: " in text for number in range(40))
    assert text.count("usr/lib/libcalc") == 10
    assert " and 30 more\n" in text


def many_figures(count: int) -> Finding:
    return replace(
        DEBUG_SYMBOLS,
        location=Location(kind="image", path="prime"),
        evidence=tuple(
            Evidence(label=f"figure {number}", text=str(number), origin="estimated")
            for number in range(count)
        ),
        files=tuple(f"usr/lib/libcalc{number}.so" for number in range(count)),
    )


def test_path_that_the_message_names_does_not_stand_before_it_too() -> None:
    path = "usr/lib/libcalc.so"
    finding = replace(
        DEBUG_SYMBOLS,
        message=f"There is no {path}.",
        location=Location(kind="payload", path=path),
    )
    assert f" SCA302 There is no {path}. [" in rendered("text", report_of(finding))


def test_files_that_a_rule_stopped_counting_are_the_first_ones() -> None:
    text = rendered("text", report_of(many_figures(MOST_FILES)), VERBOSE)
    assert "the first 200 files: usr/lib/libcalc0.so" in text


def test_files_and_pipes_have_whole_lines() -> None:
    message = "many words " * 40
    text = rendered("text", report_of(replace(BUDGET_BROKEN, message=message)))
    assert f" SCA201 {message.strip()}\n" in text.replace(" \n", "\n")


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_terminal_shows_each_finding_in_a_line(columns: int) -> None:
    long = replace(DEBUG_SYMBOLS, message=f"{LONGEST_PATH} is too large.")
    findings = (BUDGET_BROKEN, LZO_WOULD_GAIN, DEBUG_SYMBOLS, STRADDLES, long)
    text = rendered("text", report_of(*findings), TextStyle(columns=columns))
    lines = text.splitlines()
    assert len(lines) == 1 + len(findings) + 2
    assert all(len(line) <= columns for line in lines)
    assert "… [--fix]" in text
    if columns >= 80:
        assert "  error SCA201 A cold launch of calculator takes 1.84 s longer" in text
        assert "  warning SCA302 Debug symbols of 8 files take 2.3 MB" in text


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_terminal_breaks_lines_at_words_and_never_a_path(columns: int) -> None:
    path = "usr/lib/x86_64-linux-gnu/gdk-pixbuf-2.0/2.10.0/loaders/libpixbufloader-a.so"
    finding = replace(DEBUG_SYMBOLS, message=f"Look at {path} and " + "words " * 30)
    style = TextStyle(columns=columns, verbose=True)
    text = rendered("text", report_of(finding), style)
    assert path in text
    for line in text.splitlines():
        assert len(line) <= columns or len(line.split()) <= 2, line


@pytest.mark.parametrize(
    ("terminal", "used"), [(20, 40), (60, 60), (97, 97), (250, 100)]
)
def test_width_is_that_of_the_terminal_within_reason(
    monkeypatch: pytest.MonkeyPatch, terminal: int, used: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(terminal))
    assert terminal_columns() == used


def test_only_fixes_that_can_be_made_are_promised() -> None:
    text = rendered("text", report_of(LZO_WOULD_GAIN))
    assert "[--fix] 1 finding: run 'lint --fix'" in text
    assert "--fix" not in rendered("text", report_of(DEBUG_SYMBOLS))


def test_empty_run_says_so() -> None:
    text = rendered("text", LintReport(version="0.1.0", payloads=()))
    assert text == "nothing found in 0 payloads.\n"


@given(report=HOSTILE_REPORTS)
def test_no_payload_steers_a_terminal_or_a_runner(report: LintReport) -> None:
    _assert_harmless(rendered("text", report))
    _assert_harmless(rendered("text", report, TextStyle(columns=80, verbose=True)))


@pytest.mark.parametrize("name", [each for each in FORMATS if each != "sarif"])
def test_longest_path_is_whole(name: str) -> None:
    style = TextStyle(columns=80, verbose=True)
    text = rendered(name, report_of_longest_path(), style)
    assert LONGEST_PATH in unquote(text).replace("\\u00e9", "é")


def _assert_harmless(text: str) -> None:
    text = safe_text(text)  # as all that is written
    for line in text.split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
"""A code span of CommonMark 6.1, in one line."""


def test_markdown_is_the_golden_one() -> None:
    assert_golden("lint.md", rendered("markdown", make_report()))


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
        judge(report_of(*many), Baseline(where="old.json", report=report_of(snap="s"))),
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
