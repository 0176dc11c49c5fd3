"""Pages of saved reports whose numbers nobody would measure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.report.html_report import render_html
from snapcraft_compression_advisor.report.json_report import Report
from snapcraft_compression_advisor.report.markdown_report import render_markdown
from snapcraft_compression_advisor.report.measure_json import (
    MeasurementReport,
    render_measurement_json,
)
from snapcraft_compression_advisor.report.page.build import Sources, build_page

if TYPE_CHECKING:
    from collections.abc import Callable

_FIXED = frozenset(("schema", "line", "n"))
"""Keys whose numbers are 1 at least."""


def changed(value: object, change: Callable[[float], float]) -> object:
    """Return JSON with other numbers, the version but."""
    if isinstance(value, dict):
        return {
            key: each if key in _FIXED else changed(each, change)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [changed(each, change) for each in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return change(value)


def emptied(value: object) -> object:
    """Return JSON with nothing in its lists."""
    if isinstance(value, dict):
        return {key: emptied(each) for key, each in value.items()}
    return [] if isinstance(value, list) else value


def check(report: object, measured: object) -> None:
    sources = Sources(
        report=Report.model_validate(report),
        measurement=MeasurementReport.model_validate(measured),
    )
    page = build_page(sources)
    assert render_markdown(page).startswith("# Compression advice")
    html = render_html(page)
    assert "NaN" not in html
    assert "Infinity" not in html


def saved() -> tuple[object, object]:
    return (
        json.loads(make_full_report().text()),
        json.loads(render_measurement_json(make_measurement(walk=True))),
    )


@pytest.mark.parametrize("number", [0, 1, 10**9, 2**63 - 1])
def test_same_number_everywhere_makes_a_page(number: int) -> None:
    report, measured = saved()
    check(changed(report, lambda _: number), changed(measured, lambda _: 1))


@pytest.mark.parametrize("number", [1e18, -1e18, 1e-308, -5.0])
def test_same_fraction_everywhere_makes_a_page(number: float) -> None:
    report, measured = saved()
    check(
        changed(report, lambda old: old if isinstance(old, int) else number),
        measured,
    )


def test_no_time_at_all_makes_a_page() -> None:
    report, measured = saved()
    assert isinstance(measured, dict)
    still = changed(measured, lambda _: 0)
    assert isinstance(still, dict)
    check(report, {**still, "runs": 1})


def test_empty_lists_make_a_page() -> None:
    report, measured = saved()
    check(emptied(report), emptied(measured))
