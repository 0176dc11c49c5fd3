"""Every format's bytes are the same under another load, path, time and locale."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from component_payloads import fill_component
from real_payloads import fill_prime, snap_pack
from snapcraft_compression_advisor.report.lint_formats import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

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
