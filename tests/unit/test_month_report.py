"""A user's month in the reports."""

from __future__ import annotations

import json

import jsonschema
import pytest

from analyses import make_analysis, with_month
from lint_contexts import found_by, make_context
from snapcraft_compression_advisor.advice.evidence import Deltas, Habits
from snapcraft_compression_advisor.cli.listings import SCHEMAS
from snapcraft_compression_advisor.lint.rules.compression import lzo_would_gain
from snapcraft_compression_advisor.report.json_report import (
    Report,
    build_report,
    render_json,
)
from snapcraft_compression_advisor.report.lines import TextStyle
from snapcraft_compression_advisor.report.markdown_report import render_markdown
from snapcraft_compression_advisor.report.page.build import Sources, build_page
from snapcraft_compression_advisor.report.text import render_text


def habits(deltas: Deltas) -> Habits:
    share = None if deltas == "none" else 0.2
    return Habits(refreshes=2, launches=21, deltas=deltas, delta_share=share)


def text(deltas: Deltas, columns: int = 80) -> str:
    analysis = with_month(make_analysis(), habits(deltas))
    style = TextStyle(columns=columns, coloured=False, verbose=True)
    return render_text(analysis, style)


def test_text_has_the_parts_of_the_month() -> None:
    shown = text("snap-1-1-xdelta3")
    assert "Over a month of 21 cold launches and 2 refreshes" in shown
    assert "What lzo saves in a user's month" in shown
    assert "download: xz 17.6 MB, lzo 17.6 MB" in shown
    assert " -0" not in shown


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_month_fits_into_the_terminal(columns: int) -> None:
    section = text("xdelta3", columns).partition("What lzo saves in")[2]
    lines = section.partition("What to do next")[0].splitlines()
    assert lines
    assert max(map(len, lines)) <= columns


def test_whole_images_are_downloaded_without_deltas() -> None:
    shown = text("none")
    assert "downloads the whole image" in shown
    assert "download: xz 88.2 MB, lzo 114.4 MB" in shown


@pytest.mark.parametrize("deltas", ["none", "xdelta3", "snap-1-1-xdelta3"])
def test_json_has_the_month_and_reads_back(deltas: Deltas) -> None:
    written = render_json(with_month(make_analysis(), habits(deltas)))
    jsonschema.validate(json.loads(written), json.loads(SCHEMAS["report"].text()))
    month = Report.model_validate_json(written).month
    assert month is not None
    assert (month.refreshes, month.cold_launches, month.deltas) == (2, 21, deltas)
    parts = month.launch_s.mid + month.download_s.mid
    assert month.total_s.mid == pytest.approx(parts)
    assert month.codecs.keys() == {"xz", "lzo"}


def test_page_has_the_month_as_a_table() -> None:
    report = build_report(with_month(make_analysis(), habits("snap-1-1-xdelta3")))
    shown = render_markdown(build_page(Sources(report=report)))
    assert "| in a month | xz | lzo | lzo saves |" in shown
    assert "lzo saves over a month of 21 cold launches and 2 refreshes" in shown
    assert "pays off" not in shown
    assert "and save time over a month of 21 cold launches" in shown
    assert "within 20 cold launches" not in shown


def test_finding_has_the_month_in_its_evidence() -> None:
    analysis = with_month(make_analysis(), habits("xdelta3"))
    (finding,) = found_by(lzo_would_gain, make_context(analysis=analysis))
    labels = [each.label for each in finding.evidence]
    assert "lzo saves over a month of 21 cold launches and 2 refreshes" in labels
    assert not any("pay for" in label for label in labels)


def test_report_without_refreshes_has_no_month() -> None:
    shown = render_text(make_analysis(), TextStyle(columns=80, coloured=False))
    assert "month" not in shown
