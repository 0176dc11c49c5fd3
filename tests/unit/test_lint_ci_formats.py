"""Findings as annotations of GitHub, for GitLab, and as a JUnit report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    make_report,
    rendered,
    report_of,
)
from snapcraft_compression_advisor.lint.finding import LintReport, Location

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import Severity


GOLDEN = Path(__file__).parent / "golden"
_COMMAND = re.compile(
    r"::(error|warning|notice) (?:file=([^:,]*)(?:,line=(\d+))?,)?title=([^:,]*)::(.*)"
)


def test_annotations_are_the_golden_ones() -> None:
    assert rendered("github", make_report()) == (GOLDEN / "lint-github").read_text()


def test_finding_on_the_payload_points_at_the_project_but_at_no_key_of_it() -> None:
    (payload,) = report_of(DEBUG_SYMBOLS, path="out/prime").payloads
    assert "file=" not in rendered("github", report_of(DEBUG_SYMBOLS))
    place = Location("project", "snap/snapcraft.yaml", 4)
    report = LintReport(version="1", payloads=(replace(payload, project=place),))
    text = rendered("github", report)
    assert text.startswith("::warning file=snap/snapcraft.yaml,title=SCA302")
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


DOCUMENTED = jsonschema.Draft202012Validator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": [
                "description",
                "check_name",
                "fingerprint",
                "severity",
                "location",
            ],
            "properties": {
                "description": {"type": "string"},
                "check_name": {"type": "string", "minLength": 1},
                "fingerprint": {"type": "string", "minLength": 1},
                "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": {"type": "string", "not": {"pattern": "^\\./"}},
                        "lines": {
                            "type": "object",
                            "required": ["begin"],
                            "properties": {"begin": {"type": "integer", "minimum": 1}},
                        },
                    },
                },
            },
        },
    }
)
"""What GitLab's documentation says of each field ("Code Quality report format")."""


def test_gitlabs_report_is_the_golden_one() -> None:
    text = rendered("gitlab", make_report())
    assert text == (GOLDEN / "lint-gitlab.json").read_text()


def test_clean_payloads_make_an_empty_array() -> None:
    assert json.loads(rendered("gitlab", report_of())) == []


def test_paths_are_relative_as_gitlab_wants_them() -> None:
    report = report_of(DEBUG_SYMBOLS, BUDGET_BROKEN, LZO_WOULD_GAIN, path="./prime")
    paths = [
        entry["location"]["path"] for entry in json.loads(rendered("gitlab", report))
    ]
    assert paths == [
        "prime/usr/lib/libcalc.so.1.0",
        "prime",
        "snap/snapcraft.yaml",
    ]


@given(report=HOSTILE_REPORTS)
def test_any_name_makes_a_report_with_the_documented_fields(report: LintReport) -> None:
    text = rendered("gitlab", report)
    text.encode()
    entries = json.loads(text)
    DOCUMENTED.validate(entries)


def test_findings_that_are_alike_are_all_kept() -> None:
    report = report_of(BUDGET_BROKEN, BUDGET_BROKEN, BUDGET_BROKEN)
    entries = json.loads(rendered("gitlab", report))
    assert len({entry["fingerprint"] for entry in entries}) == 3


def _parsed(text: str) -> ET.Element:
    return ET.fromstring(text.encode())  # noqa: S314 # written by the code under test


def test_junits_report_is_the_golden_one() -> None:
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
