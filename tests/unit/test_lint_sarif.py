"""Findings as SARIF."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from hypothesis import given

from lint_reports import (
    BUDGET_BROKEN,
    DEBUG_SYMBOLS,
    HOSTILE_PATHS,
    HOSTILE_REPORTS,
    LZO_WOULD_GAIN,
    STRADDLES,
    make_report,
    report_of,
    report_of_longest_path,
    sample_rules,
)
from snapcraft_compression_advisor.report.lint_formats import Findings
from snapcraft_compression_advisor.report.lint_formats.sarif import (
    RELATED_FILES,
    relative_uri,
    render_sarif,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport

GOLDEN = Path(__file__).parent / "golden"


def _run(report: LintReport) -> dict[str, Any]:
    log = json.loads(render_sarif(Findings(report=report), sample_rules()))
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_is_the_golden_one() -> None:
    text = render_sarif(Findings(report=make_report()), sample_rules())
    assert text == (GOLDEN / "lint.sarif").read_text()


def test_every_result_refers_to_its_rule() -> None:
    run = _run(make_report())
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_rule_that_is_not_described_is_named_all_the_same() -> None:
    (result,) = _run(report_of(replace(BUDGET_BROKEN, rule="SCA999")))["results"]
    assert result["ruleId"] == "SCA999"
    assert "ruleIndex" not in result


def test_undecided_finding_is_open_and_has_no_level() -> None:
    undecided, broken = _run(report_of(STRADDLES, BUDGET_BROKEN))["results"]
    assert (undecided["kind"], undecided["level"]) == ("open", "none")
    assert (broken["kind"], broken["level"]) == ("fail", "error")


def test_project_finding_has_its_file_and_line() -> None:
    (result,) = _run(report_of(LZO_WOULD_GAIN))["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "snap/snapcraft.yaml"}
    assert place["region"] == {"startLine": 3}


def test_payload_finding_is_relative_to_its_payload() -> None:
    run = _run(report_of(DEBUG_SYMBOLS))
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "usr/lib/libcalc.so.1.0"
    assert place["uriBaseId"] in run["originalUriBaseIds"]


def test_payload_that_could_not_be_linted_is_a_notification() -> None:
    (invocation,) = _run(make_report())["invocations"]
    assert not invocation["executionSuccessful"]
    broken, unchecked = invocation["toolExecutionNotifications"]
    assert "ends within" in broken["message"]["text"]
    assert unchecked["associatedRule"]["id"] == "SCA202"


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


def test_longest_path_is_whole() -> None:
    (result,) = _run(report_of_longest_path())["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert len(unquote_to_bytes(uri)) == 4094


def test_fix_is_in_the_text() -> None:
    (result,) = _run(report_of(DEBUG_SYMBOLS))["results"]
    assert "Strip them" in result["message"]["text"]


def test_only_the_description_of_the_payload_tells_where_it_is() -> None:
    report = report_of(DEBUG_SYMBOLS, path="/builds/x/prime")
    assert render_sarif(Findings(report=report), sample_rules()).count("/builds/x") == 1
