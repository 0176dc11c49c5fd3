"""Pages and JSON from real payloads."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import jsonschema

from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.report.document import schema_text

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def advise(*arguments: str | Path) -> int:
    return main(["advise", *map(str, arguments)])


def test_saved_json_holds_all_that_pages_tell(
    small_prime: Path, tmp_path: Path
) -> None:
    saved = tmp_path / "a.json"
    assert advise(small_prime, "--format", "json", "-o", saved) == os.EX_OK
    report = json.loads(saved.read_text())
    jsonschema.validate(report, json.loads(schema_text("report")))
    assert report["kinds"]
    assert report["findings"] is not None
    assert report["method"]["command"].startswith("compression-advisor advise ")
    assert report["launches"][0]["heaviest"]


def test_markdown_page_stands_beside_the_text(
    small_prime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "a.md"
    assert advise(small_prime, "-v", "--report", page) == os.EX_OK
    verdict = re.search(r"^### (.+?) \(now", page.read_text(), re.MULTILINE)
    assert verdict is not None
    assert verdict[1] in capsys.readouterr().out


def test_name_that_tells_no_form_is_refused_before_any_work(
    small_prime: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert advise(small_prime, "--report", tmp_path / "a.pdf") == os.EX_USAGE
    assert "Trying" not in capsys.readouterr().err


def test_findings_of_the_page_are_those_of_lint(
    small_prime: Path, tmp_path: Path
) -> None:
    saved, lint = tmp_path / "a.json", tmp_path / "l.json"
    assert advise(small_prime, "--format", "json", "-o", saved) == os.EX_OK
    arguments = ["lint", str(small_prime), "--format", "json", "-o", str(lint)]
    assert main([*arguments, "--exit-zero"]) == os.EX_OK
    found = json.loads(lint.read_text())["payloads"][0]["findings"]
    rules = [each["rule"] for each in json.loads(saved.read_text())["findings"]]
    assert rules == [each["rule"] for each in found]
    page = tmp_path / "page.html"
    assert advise(small_prime, "--report", page) == os.EX_OK
    assert "Lint findings" in page.read_text()
    assert page.stat().st_size < 200_000
