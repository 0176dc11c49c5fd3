"""Findings as annotations of GitHub."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from hypothesis import given

from lint_reports import (
    DEBUG_SYMBOLS,
    HOSTILE_REPORTS,
    LONGEST_PATH,
    LZO_WOULD_GAIN,
    make_report,
    rendered,
    report_of,
    report_of_longest_path,
)
from snapcraft_compression_advisor.lint.finding import LintReport, Location

GOLDEN = Path(__file__).parent / "golden"
_COMMAND = re.compile(
    r"::(error|warning|notice) (?:file=([^:,]*)(?:,line=(\d+))?,)?title=([^:,]*)::(.*)"
)


def test_annotations_are_the_golden_ones() -> None:
    assert rendered("github", make_report()) == (GOLDEN / "lint-github").read_text()


def test_project_file_and_line_are_named() -> None:
    assert "file=snap/snapcraft.yaml,line=3," in rendered(
        "github", report_of(LZO_WOULD_GAIN)
    )


def test_finding_on_the_payload_points_at_the_projects_line() -> None:
    (payload,) = report_of(DEBUG_SYMBOLS, path="out/prime").payloads
    assert "file=" not in rendered("github", report_of(DEBUG_SYMBOLS))
    place = Location("project", "snap/snapcraft.yaml", 4)
    report = LintReport(version="1", payloads=(replace(payload, project=place),))
    text = rendered("github", report)
    assert text.startswith("::warning file=snap/snapcraft.yaml,line=4,title=SCA302")
    assert "::s: usr/lib/libcalc.so.1.0: Debug symbols" in text


def test_nothing_found_says_nothing() -> None:
    assert not rendered("github", report_of())


@given(report=HOSTILE_REPORTS)
def test_every_line_is_one_command_with_no_other_in_it(report: LintReport) -> None:
    text = rendered("github", report)
    text.encode()
    lines = text.split("\n")[:-1]
    expected = sum(
        len(payload.findings) + (payload.error is not None)
        for payload in report.payloads
    )
    assert len(lines) == expected
    for line in lines:
        command = _COMMAND.fullmatch(line)
        assert command is not None
        assert unquote(command[5]).isprintable()


def test_longest_path_is_whole() -> None:
    (line,) = rendered("github", report_of_longest_path()).splitlines()
    command = _COMMAND.fullmatch(line)
    assert command is not None
    assert LONGEST_PATH in unquote(command[5])
