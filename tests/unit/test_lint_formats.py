"""Findings as JSON, SARIF, annotations of GitHub, for GitLab and as a JUnit report."""

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, unquote_to_bytes
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given

from goldens import assert_golden
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
from snapcraft_compression_advisor.lint.finding import LintReport, Location, Severity
from snapcraft_compression_advisor.report.document import schema_text
from snapcraft_compression_advisor.report.lint_formats import Findings
from snapcraft_compression_advisor.report.lint_formats.phrases import fingerprints
from snapcraft_compression_advisor.report.lint_formats.sarif import (
    RELATED_FILES,
    relative_uri,
)
from snapcraft_compression_advisor.report.lint_formats.sarif import (
    render as render_sarif,
)

_COMMAND = re.compile(
    r"::(error|warning|notice) (?:file=([^:,]*)(?:,line=(\d+))?,)?title=([^:,]*)::(.*)"
)


def test_annotations_are_the_golden_ones() -> None:
    assert_golden("lint-github", rendered("github", make_report()))


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
    assert_golden("lint-gitlab.json", text)


def test_clean_payloads_make_an_empty_array() -> None:
    assert json.loads(rendered("gitlab", report_of())) == []


def test_paths_are_relative_as_gitlab_wants_them() -> None:
    report = report_of(DEBUG_SYMBOLS, BUDGET_BROKEN, LZO_WOULD_GAIN, path="./prime")
    paths = [
        entry["location"]["path"] for entry in json.loads(rendered("gitlab", report))
    ]
    assert paths == ["prime/usr/lib/libcalc.so.1.0", "prime", "snap/snapcraft.yaml"]


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
    assert_golden("lint-junit.xml", text)


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


_SCHEMA = jsonschema.Draft202012Validator(json.loads(schema_text("lint")))


def test_json_is_the_golden_one() -> None:
    assert_golden("lint.json", rendered("json", make_report()))


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
    assert_golden("lint.sarif", text)


def test_rule_that_is_not_described_is_named_all_the_same() -> None:
    (result,) = _run(report_of(replace(BUDGET_BROKEN, rule="SCA999")))["results"]
    assert result["ruleId"] == "SCA999"
    assert "ruleIndex" not in result


def test_very_long_list_of_files_is_cut() -> None:
    many = replace(DEBUG_SYMBOLS, files=tuple(map(str, range(1000))))
    (result,) = _run(report_of(many))["results"]
    assert len(result["relatedLocations"]) == RELATED_FILES
    assert "and 990 more" in result["message"]["text"]


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
