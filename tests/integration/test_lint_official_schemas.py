"""Reports against the schemas of those who made the formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import xmlschema
from hypothesis import given, settings

from lint_reports import (
    HOSTILE_REPORTS,
    make_report,
    rendered,
    report_of,
)
from official_schemas import JUNIT, SARIF, official_schema
from snapcraft_compression_advisor.lint.all_rules import ALL_RULES
from snapcraft_compression_advisor.report.lint_formats import Findings
from snapcraft_compression_advisor.report.lint_formats.sarif import render_sarif

if TYPE_CHECKING:
    from snapcraft_compression_advisor.lint.finding import LintReport

pytestmark = pytest.mark.slow

SHARED = settings(deadline=None, max_examples=40)


@pytest.fixture(scope="session")
def sarif() -> jsonschema.Draft4Validator:
    """Return what checks SARIF."""
    return jsonschema.Draft4Validator(json.loads(official_schema(SARIF)))


@pytest.fixture(scope="session")
def junit() -> xmlschema.XMLSchema:
    """Return what checks JUnit reports."""
    return xmlschema.XMLSchema(official_schema(JUNIT).decode())


def _sarif(report: LintReport) -> dict[str, Any]:
    log = json.loads(render_sarif(Findings(report=report), ALL_RULES))
    assert isinstance(log, dict)
    return log


@pytest.mark.parametrize("report", [make_report(), report_of()])
def test_sarif_fits(report: LintReport, sarif: jsonschema.Draft4Validator) -> None:
    sarif.validate(_sarif(report))


@SHARED
@given(report=HOSTILE_REPORTS)
def test_any_name_fits_sarif(
    report: LintReport, sarif: jsonschema.Draft4Validator
) -> None:
    sarif.validate(_sarif(report))


@pytest.mark.parametrize("report", [make_report(), report_of()])
def test_junit_fits(report: LintReport, junit: xmlschema.XMLSchema) -> None:
    junit.validate(rendered("junit", report))


@SHARED
@given(report=HOSTILE_REPORTS)
def test_any_name_fits_junit(report: LintReport, junit: xmlschema.XMLSchema) -> None:
    junit.validate(rendered("junit", report))
