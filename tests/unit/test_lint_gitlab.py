"""Findings as GitLab's code quality report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    make_report,
    rendered,
    report_of,
    report_of_longest_path,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport

GOLDEN = Path(__file__).parent / "golden"
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


def test_report_is_the_golden_one() -> None:
    text = rendered("gitlab", make_report())
    assert text == (GOLDEN / "lint-gitlab.json").read_text()


def test_report_has_the_documented_fields() -> None:
    DOCUMENTED.validate(json.loads(rendered("gitlab", make_report())))


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


def test_longest_path_fits() -> None:
    DOCUMENTED.validate(json.loads(rendered("gitlab", report_of_longest_path())))
