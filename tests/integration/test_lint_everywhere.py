"""Every format of lint: the same bytes anywhere, and its makers' schemas."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import xmlschema
from hypothesis import given, settings

from component_payloads import fill_component
from lint_reports import (
    HOSTILE_REPORTS,
    make_report,
    rendered,
    report_of,
)
from official_schemas import JUNIT, SARIF, official_schema
from real_payloads import fill_prime, snap_pack
from snapcraft_compression_advisor.lint.rules import ALL_RULES
from snapcraft_compression_advisor.report.lint_formats import FORMATS, Findings
from snapcraft_compression_advisor.report.lint_formats.sarif import (
    render as render_sarif,
)

if TYPE_CHECKING:
    from pathlib import Path

    from snapcraft_compression_advisor.lint.finding import LintReport


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


@pytest.fixture(scope="module")
def moved(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy at a longer path whose files all have another time."""
    copy = tmp_path_factory.mktemp("elsewhere") / "and deeper/çöp"
    shutil.copytree(checkout, copy, symlinks=True)
    for path in copy.rglob("*"):
        os.utime(path, (86_400, 86_400), follow_symlinks=False)
    return copy


def report(checkout: Path, name: str, *, cores: str = "", **environment: str) -> bytes:
    """Return what lint prints, as bytes."""
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "lint", *PATHS]
    pinned = ["taskset", "--cpu-list", cores] if cores else []
    result = subprocess.run(
        [*pinned, *command, "--format", name],
        capture_output=True,
        check=False,
        cwd=checkout,
        env={**os.environ, **environment},
    )
    assert result.returncode == os.EX_DATAERR, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def expected(checkout: Path) -> dict[str, bytes]:
    reports = {name: report(checkout, name) for name in FORMATS}
    for text in reports.values():
        assert b"SCA301" in text
        assert b"broken.snap" in text
    assert "Çöp-İ" in reports["json"].decode()
    return reports


@pytest.fixture(scope="module")
def locales(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment that finds a Turkish locale.

    Where its source isn't installed, the C library takes another one, and so is an
    environment of a machine that lacks it.
    """
    folder = tmp_path_factory.mktemp("locales")
    command = ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")]
    if shutil.which("localedef"):
        subprocess.run(command, check=False, capture_output=True)
    return {"LOCPATH": str(folder), "LANGUAGE": "tr"}


@pytest.mark.parametrize("name", FORMATS)
def test_one_core_gives_the_same_bytes(
    checkout: Path, expected: dict[str, bytes], name: str
) -> None:
    core = str(min(os.sched_getaffinity(0)))
    assert report(checkout, name, cores=core) == expected[name]


@pytest.mark.parametrize("name", FORMATS)
def test_another_checkout_time_and_seed_give_the_same_bytes(
    moved: Path, expected: dict[str, bytes], name: str
) -> None:
    zone = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu"}
    assert report(moved, name, **zone) == expected[name]


@pytest.mark.parametrize("locale", ["tr_TR.UTF-8", "C", "POSIX"])
@pytest.mark.parametrize("name", FORMATS)
def test_another_locale_gives_the_same_bytes(
    checkout: Path,
    expected: dict[str, bytes],
    locales: dict[str, str],
    name: str,
    locale: str,
) -> None:
    assert report(checkout, name, LC_ALL=locale, **locales) == expected[name]


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
