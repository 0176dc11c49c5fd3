"""Every format of lint: the same bytes anywhere, and its makers' schemas."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema
from hypothesis import given, settings

from lint_reports import HOSTILE_REPORTS, make_report, rendered, report_of
from official_schemas import JUNIT, SARIF, official_schema
from real_payloads import fill_component, fill_prime, snap_pack
from snapcraft_compression_advisor.lint.finding import LintReport
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.report.lint_formats import FORMATS, Findings
from snapcraft_compression_advisor.report.lint_formats.sarif import (
    render as render_sarif,
)

pytestmark = pytest.mark.slow

POLICY = "max-image-size: 100kB\n"
PROJECT = "name: sample\ncomponents:\n  texts: {type: standard}\nparts: {}\n"
PATHS = ("sample_1.0_amd64.snap", "prime", "component", "broken.snap")
"""As they are given: relative to the checkout."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout with a snap, its directory, a component and a broken snap."""
    root = tmp_path_factory.mktemp("checkout")
    prime = fill_prime(root / "prime")
    noise = random.Random(9).randbytes(900_000)
    (prime / "usr/share/data/Çöp-İ").write_bytes(noise)
    snap_pack(prime, root, compression="lzo")
    fill_component(root / "component")
    (root / "broken.snap").write_bytes(b"hsqs" + bytes(92))
    (root / "snapcraft.yaml").write_text(PROJECT)
    (root / "compression-advisor.yaml").write_text(POLICY)
    return root


def reports(
    checkout: Path, folder: Path, *prefix: str, **environment: str
) -> dict[str, bytes]:
    """Return what lint writes in each format."""
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "lint", *PATHS]
    also = [f"--also={name}={folder / name}" for name in FORMATS]
    result = subprocess.run(
        [*prefix, *command, *also],
        capture_output=True,
        check=False,
        cwd=checkout,
        env={**os.environ, **environment},
    )
    assert result.returncode == os.EX_DATAERR, result.stderr
    return {name: (folder / name).read_bytes() for name in FORMATS}


@pytest.fixture(scope="module")
def expected(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    found = reports(checkout, tmp_path_factory.mktemp("expected"))
    for text in found.values():
        assert b"SCA301" in text
        assert b"broken.snap" in text
    assert "Çöp-İ" in found["json"].decode()
    return found


def test_one_core_gives_the_same_bytes(
    checkout: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    core = str(min(os.sched_getaffinity(0)))
    assert reports(checkout, tmp_path, "taskset", "--cpu-list", core) == expected


def test_another_checkout_time_and_seed_give_the_same_bytes(
    checkout: Path, expected: dict[str, bytes], tmp_path: Path
) -> None:
    moved = tmp_path / "and deeper/çöp"
    shutil.copytree(checkout, moved, symlinks=True)
    for path in moved.rglob("*"):
        os.utime(path, (86_400, 86_400), follow_symlinks=False)
    zone = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu"}
    assert reports(moved, tmp_path, **zone) == expected


@pytest.mark.parametrize("locale", ["tr_TR.UTF-8", "C", "POSIX"])
def test_another_locale_gives_the_same_bytes(
    checkout: Path, expected: dict[str, bytes], tmp_path: Path, locale: str
) -> None:
    """Without the source of the Turkish one, the C library takes another."""
    turkish = str(tmp_path / "tr_TR.UTF-8")
    if shutil.which("localedef"):
        command = ["localedef", "-i", "tr_TR", "-f", "UTF-8", turkish]
        subprocess.run(command, check=False, capture_output=True)
    language = {"LC_ALL": locale, "LOCPATH": str(tmp_path), "LANGUAGE": "tr"}
    assert reports(checkout, tmp_path, **language) == expected


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
