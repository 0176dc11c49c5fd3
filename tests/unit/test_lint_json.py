"""Findings as JSON and as SARIF."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import jsonschema
from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_PATHS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    OTHER_BUDGET_BROKEN,
    make_report,
    rendered,
    report_of,
    sample_rules,
)
from snapcraft_compression_advisor.lint.finding import LintReport, Location
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lint_formats import Findings
from snapcraft_compression_advisor.report.lint_formats.phrases import fingerprints
from snapcraft_compression_advisor.report.lint_formats.sarif import (
    RELATED_FILES,
    relative_uri,
    render_sarif,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport


GOLDEN = Path(__file__).parent / "golden"
_SCHEMA = jsonschema.Draft202012Validator(json.loads(schema_text("lint")))


def test_json_is_the_golden_one() -> None:
    assert rendered("json", make_report()) == (GOLDEN / "lint.json").read_text()


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


def _run(report: LintReport) -> dict[str, Any]:
    log = json.loads(render_sarif(Findings(report=report), sample_rules()))
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_is_the_golden_one() -> None:
    text = render_sarif(Findings(report=make_report()), sample_rules())
    assert text == (GOLDEN / "lint.sarif").read_text()


def test_rule_that_is_not_described_is_named_all_the_same() -> None:
    (result,) = _run(report_of(replace(BUDGET_BROKEN, rule="SCA999")))["results"]
    assert result["ruleId"] == "SCA999"
    assert "ruleIndex" not in result


def test_very_long_list_of_files_is_cut() -> None:
    many = replace(DEBUG_SYMBOLS, files=tuple(map(str, range(1000))))
    (result,) = _run(report_of(many))["results"]
    assert len(result["relatedLocations"]) == RELATED_FILES
    assert "and 994 more" in result["message"]["text"]


@given(path=HOSTILE_PATHS.filter(lambda path: not path.startswith("/")))
def test_every_byte_of_a_path_survives_in_its_uri(path: str) -> None:
    uri = relative_uri(path)
    assert uri.isascii()
    assert ":" not in uri
    assert unquote_to_bytes(uri) == path.encode("utf-8", "surrogateescape")


def test_absolute_path_becomes_a_file_uri() -> None:
    assert relative_uri("/a b/c") == "file:///a%20b/c"


@given(report=HOSTILE_REPORTS)
def test_any_name_makes_sarif_that_reads_back(report: LintReport) -> None:
    text = render_sarif(Findings(report=report), sample_rules())
    text.encode()
    results = json.loads(text)["runs"][0]["results"]
    assert len(results) == sum(len(payload.findings) for payload in report.payloads)


def test_only_the_description_of_the_payload_tells_where_it_is() -> None:
    report = report_of(DEBUG_SYMBOLS, path="/builds/x/prime")
    assert render_sarif(Findings(report=report), sample_rules()).count("/builds/x") == 1
