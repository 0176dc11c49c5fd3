"""Findings as JSON, its schema, and fingerprints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    OTHER_BUDGET_BROKEN,
    make_report,
    rendered,
    report_of,
    report_of_longest_path,
)
from snapcraft_compression_advisor.lint.finding import LintReport, Location
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lint_formats.phrases import fingerprints

GOLDEN = Path(__file__).parent / "golden"
_SCHEMA = jsonschema.Draft202012Validator(json.loads(schema_text("lint")))


def test_json_is_the_golden_one() -> None:
    assert rendered("json", make_report()) == (GOLDEN / "lint.json").read_text()


def test_summary_counts_what_is_undecided_only_as_such() -> None:
    summary = json.loads(rendered("json", make_report()))["summary"]
    assert (summary["error"], summary["undecided"], summary["info"]) == (2, 1, 0)
    assert summary["not_linted"] == 1


def test_diff_of_a_fix_is_there_and_its_kind_said() -> None:
    report = report_of(LZO_WOULD_GAIN, DEBUG_SYMBOLS)
    automatic, by_hand = json.loads(rendered("json", report))["payloads"][0]["findings"]
    assert "\n+compression: lzo\n" in automatic["fix"]["diff"]
    assert automatic["fix"]["automatic"]
    assert by_hand["fix"]["diff"] is None
    assert not by_hand["fix"]["automatic"]


@given(report=HOSTILE_REPORTS)
def test_any_name_makes_json_that_fits_the_schema(report: LintReport) -> None:
    _assert_fits(rendered("json", report))


def test_longest_path_fits_the_schema() -> None:
    _assert_fits(rendered("json", report_of_longest_path()))


def _assert_fits(text: str) -> None:
    text.encode()
    _SCHEMA.validate(json.loads(text))


def test_fingerprint_survives_another_checkout_line_and_figure() -> None:
    project = Location(kind="project", path="/else/where/snap/snapcraft.yaml", line=99)
    moved = replace(LZO_WOULD_GAIN, location=project, message="1.1 s rather than 1.0")
    here = fingerprints(report_of(LZO_WOULD_GAIN, path="prime"))
    assert fingerprints(report_of(moved, path="/else/where/prime")) == here


def test_findings_that_differ_have_fingerprints_that_differ() -> None:
    findings = (BUDGET_BROKEN, OTHER_BUDGET_BROKEN, LZO_WOULD_GAIN, DEBUG_SYMBOLS)
    (prints,) = fingerprints(report_of(*findings, *findings))
    assert len(set(prints)) == 8


def test_finding_that_goes_leaves_the_fingerprints_of_the_others() -> None:
    (both,) = fingerprints(report_of(BUDGET_BROKEN, OTHER_BUDGET_BROKEN))
    (one,) = fingerprints(report_of(OTHER_BUDGET_BROKEN))
    assert one == both[1:]


def test_snaps_have_fingerprints_of_their_own() -> None:
    first = fingerprints(report_of(BUDGET_BROKEN, snap="a"))
    assert first != fingerprints(report_of(BUDGET_BROKEN, snap="b"))
