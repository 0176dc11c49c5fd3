"""Findings as a JUnit report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_REPORTS,
    LONGEST_PATH,
    STRADDLES,
    make_report,
    rendered,
    report_of,
    report_of_longest_path,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport, Severity

GOLDEN = Path(__file__).parent / "golden"


def _parsed(text: str) -> ET.Element:
    return ET.fromstring(text.encode())  # noqa: S314 # written by the code under test


def test_report_is_the_golden_one() -> None:
    text = rendered("junit", make_report())
    assert text == (GOLDEN / "lint-junit.xml").read_text()


@pytest.mark.parametrize(
    ("fail_on", "failures"), [("error", 2), ("warning", 4), ("info", 5)]
)
def test_what_fails_is_what_the_policy_says(fail_on: Severity, failures: int) -> None:
    report = make_report()
    payloads = tuple(replace(each, fail_on=fail_on) for each in report.payloads)
    suite = _parsed(rendered("junit", replace(report, payloads=payloads)))[0]
    assert suite.attrib["tests"] == "5"
    assert suite.attrib["failures"] == str(failures)
    assert suite.attrib["skipped"] == str(5 - failures)


def test_clean_payload_is_a_case_that_passes() -> None:
    root = _parsed(rendered("junit", report_of()))
    (case,) = root.iter("testcase")
    assert len(case) == 0


def test_payload_that_could_not_be_linted_is_an_error() -> None:
    root = _parsed(rendered("junit", make_report()))
    assert root.attrib["errors"] == "1"
    (error,) = root.iter("error")
    assert "ends within" in error.attrib["message"]


def test_undecided_finding_fails_no_run() -> None:
    root = _parsed(rendered("junit", report_of(STRADDLES)))
    assert root.attrib["failures"] == "0"


def test_totals_are_those_of_the_suites() -> None:
    root = _parsed(rendered("junit", make_report()))
    for name in ("tests", "failures", "errors"):
        total = sum(int(suite.attrib[name]) for suite in root)
        assert root.attrib[name] == str(total)


@given(report=HOSTILE_REPORTS)
def test_any_name_makes_xml_that_reads_back(report: LintReport) -> None:
    root = _parsed(rendered("junit", report))
    messages = [
        element.attrib["message"]
        for element in root.iter()
        if element.tag in {"failure", "skipped", "error"}
    ]
    expected = sum(
        len(payload.findings) + (payload.error is not None)
        for payload in report.payloads
    )
    assert len(messages) == expected
    assert all(message.isprintable() for message in messages)


def test_longest_path_is_whole() -> None:
    text = rendered("junit", report_of_longest_path())
    (case,) = _parsed(text).iter("testcase")
    assert LONGEST_PATH in case.attrib["name"]


def test_evidence_and_fix_stand_in_the_text() -> None:
    report = report_of(BUDGET_BROKEN, DEBUG_SYMBOLS)
    failure, told = (
        case[-1].text or "" for case in _parsed(rendered("junit", report))[0]
    )
    assert "budget: 1.50 s (declared)" in failure
    assert "Strip them" in told
