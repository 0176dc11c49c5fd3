"""``report``: a page from saved JSON, and what is wrong with other files."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lint_reports import make_report, rendered
from measurements import make_measurement
from reports import make_full_report
from snapcraft_compression_advisor.cli import report as report_module
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.report.measure_json import render_measurement_json

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a folder with one report of each kind."""
    (tmp_path / "advice.json").write_text(make_full_report().text())
    measured = render_measurement_json(make_measurement())
    (tmp_path / "measured.json").write_text(measured)
    (tmp_path / "lint.json").write_text(rendered("json", make_report()))
    return tmp_path


def test_saved_reports_of_all_kinds_make_one_page(saved: Path) -> None:
    page = saved / "page.md"
    names = ("advice.json", "measured.json", "lint.json")
    files = [str(saved / name) for name in names]
    assert main(["report", *files, "-o", str(page)]) == os.EX_OK
    text = page.read_text()
    for heading in ("# Compression advice for calculator", "## Measured launches"):
        assert f"{heading}\n" in text
    assert text.count("cold-start-budget") == 2  # those of lint, not of advise


def test_earlier_of_two_runs_of_lint_is_before(saved: Path) -> None:
    later, page = saved / "later.json", saved / "page.md"
    document = json.loads((saved / "lint.json").read_text())
    gone = document["payloads"][0]["findings"].pop(0)
    later.write_text(json.dumps(document))
    files = [str(saved / "lint.json"), str(later)]
    assert main(["report", *files, "-o", str(page)]) == os.EX_OK
    assert "0 new, 4 known, 1 gone." in page.read_text()
    assert f"Gone: {gone['rule']} " in page.read_text()


def test_page_from_a_saved_report_is_html_by_its_name(saved: Path) -> None:
    page = saved / "page.html"
    assert main(["report", str(saved / "advice.json"), "-o", str(page)]) == os.EX_OK
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema": 2}, "schema"),
        ({"surprise": 1}, "surprise"),
        ({"launches": 3}, "launches"),
        ({"kinds": [{}]}, "kinds"),
    ],
)
def test_other_reports_are_refused_with_the_place(
    saved: Path, change: dict[str, object], problem: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = saved / "advice.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    page = saved / "page.md"
    assert main(["report", str(path), "-o", str(page)]) == os.EX_DATAERR
    assert problem in capsys.readouterr().err
    assert not page.exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "null", '{"summary": 1}', "\x00", '{"method": {}}']
)
def test_what_is_no_report_is_refused(saved: Path, text: str) -> None:
    path = saved / "other.json"
    path.write_text(text)
    page = saved / "page.md"
    assert main(["report", str(path), "-o", str(page)]) == os.EX_DATAERR
    assert not page.exists()


@pytest.mark.parametrize("number", ["4" * 400, "1e300"])
def test_numbers_beyond_64_bits_are_refused(saved: Path, number: str) -> None:
    path = saved / "measured.json"
    text = re.sub('"median": [0-9.]+', f'"median": {number}', path.read_text())
    path.write_text(text)
    assert main(["report", str(path), "-o", str(saved / "p.md")]) == os.EX_DATAERR


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(saved: Path, number: str) -> None:
    path = saved / "advice.json"
    text = path.read_text().replace('"low": 44100000.0', f'"low": {number}', 1)
    assert number in text
    path.write_text(text)
    assert main(["report", str(path), "-o", str(saved / "p.md")]) == os.EX_DATAERR


def test_missing_file_is_no_input(tmp_path: Path) -> None:
    path, page = tmp_path / "none.json", tmp_path / "page.md"
    assert main(["report", str(path), "-o", str(page)]) == os.EX_NOINPUT


def test_huge_file_is_not_read(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(report_module.SAVED, max_bytes=1000)
    monkeypatch.setattr(report_module, "SAVED", small)
    path, page = saved / "advice.json", saved / "page.md"
    assert main(["report", str(path), "-o", str(page)]) == os.EX_DATAERR


def test_two_reports_of_a_kind_are_too_many(saved: Path) -> None:
    path, page = str(saved / "advice.json"), saved / "page.md"
    assert main(["report", path, path, "-o", str(page)]) == os.EX_USAGE


@pytest.mark.parametrize("name", ["page", "page.pdf", "html"])
def test_page_of_no_known_form_is_refused(saved: Path, name: str) -> None:
    path, page = saved / "advice.json", saved / name
    assert main(["report", str(path), "-o", str(page)]) == os.EX_USAGE
    assert not page.exists()


def test_page_that_cannot_be_written_is_an_error(saved: Path) -> None:
    page = saved / "none" / "page.md"
    status = main(["report", str(saved / "advice.json"), "-o", str(page)])
    assert status == os.EX_IOERR
