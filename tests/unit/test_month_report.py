"""A user's month in the reports."""

from __future__ import annotations

import json

import jsonschema
import pytest

from analyses import make_analysis, with_month
from documents import read_document
from lint_contexts import found_by, make_context
from reports import full_text
from snapcraft_compression_advisor.advice.evidence import Deltas, Habits
from snapcraft_compression_advisor.cli.listings import SCHEMAS
from snapcraft_compression_advisor.lint.rules.compression import lzo_would_gain
from snapcraft_compression_advisor.report.advise_json import advise_json


def habits(deltas: Deltas) -> Habits:
    share = None if deltas == "none" else 0.2
    return Habits(refreshes=2, launches=21, deltas=deltas, delta_share=share)


def text(deltas: Deltas, columns: int = 80) -> str:
    return full_text(with_month(make_analysis(), habits(deltas)), columns=columns)


def test_text_has_the_parts_of_the_month() -> None:
    shown = text("snap-1-1-xdelta3")
    assert "Over a month of 21 cold launches and 2 refreshes" in shown
    assert "What lzo saves in a user's month" in shown
    assert "download 17.6 MB 17.6 MB 0 B" in " ".join(shown.split())
    assert " -0" not in shown


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_month_fits_into_the_terminal(columns: int) -> None:
    section = text("xdelta3", columns).partition("What lzo saves in")[2]
    lines = section.partition("\n\nHow the figures")[0].splitlines()
    assert lines
    assert max(map(len, lines)) <= columns


def test_whole_images_are_downloaded_without_deltas() -> None:
    shown = text("none")
    assert "downloads the whole image" in shown
    assert "download 88.2 MB 114.4 MB -26.2 MB" in " ".join(shown.split())


@pytest.mark.parametrize("deltas", ["none", "xdelta3", "snap-1-1-xdelta3"])
def test_json_has_the_month_(deltas: Deltas) -> None:
    written = advise_json(with_month(make_analysis(), habits(deltas)))
    jsonschema.validate(json.loads(written), json.loads(SCHEMAS["report"].text()))
    month = read_document(written).month
    assert month is not None
    assert (month.refreshes, month.cold_launches, month.deltas) == (2, 21, deltas)
    parts = month.launch_s.mid + month.download_s.mid
    assert month.total_s.mid == pytest.approx(parts)
    assert month.codecs.keys() == {"xz", "lzo"}


def test_finding_has_the_month_in_its_evidence() -> None:
    analysis = with_month(make_analysis(), habits("xdelta3"))
    (finding,) = found_by(lzo_would_gain, make_context(analysis=analysis))
    labels = [each.label for each in finding.evidence]
    assert "lzo saves over a month of 21 cold launches and 2 refreshes" in labels
    assert not any("pay for" in label for label in labels)


def test_report_without_refreshes_has_no_month() -> None:
    assert "month" not in full_text(make_analysis())
