"""Refresh, as a user meets it."""

from __future__ import annotations

import json
import os
import random
import shutil
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from real_payloads import advisor, fill_prime, snap_pack
from snapcraft_compression_advisor.report.document import schema_text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not shutil.which("xdelta3"), reason="xdelta3 is not installed"
)

ADDED = random.Random(9).randbytes(300_000)


@pytest.fixture
def primes(tmp_path: Path) -> tuple[Path, Path]:
    """Return a build's prime directory and the next one's."""
    old, new = fill_prime(tmp_path / "old"), fill_prime(tmp_path / "new")
    (new / "usr/share/data/added").write_bytes(ADDED)
    return old, new


@pytest.fixture
def snaps(primes: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """Return both as snaps with xz."""
    names = ("old.snap", "new.snap")
    packed = [
        snap_pack(prime, tmp_path / name, compression="xz")
        for prime, name in zip(primes, names, strict=True)
    ]
    return packed[0], packed[1]


def refresh(*arguments: str | Path) -> dict[str, Any]:
    result = advisor("refresh", *arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    jsonschema.validate(document, json.loads(schema_text("refresh")))
    return document


def test_what_is_added_is_what_is_downloaded(primes: tuple[Path, Path]) -> None:
    document = refresh(*primes)
    assert list(document["codecs"]) == ["xz", "lzo"]
    for codec in document["codecs"].values():
        assert codec["what_if"]
        for delta in codec["deltas"].values():
            assert len(ADDED) < delta["bytes"]["mid"] < 1.1 * len(ADDED)
        assert codec["deltas"]["xdelta3"]["origin"] == "estimated"
        assert codec["deltas"]["snap-1-1-xdelta3"]["origin"] == "measured"
    first = document["files"][0]
    assert (first["path"], first["change"]) == ("usr/share/data/added", "added")


def test_month_is_by_the_policy(primes: tuple[Path, Path], tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "refresh: {per-month: 3, cold-launches-per-day: 1, deltas: none}\n"
    )
    assert refresh(*primes)["month"]["assumed"]
    month = refresh(*primes, "--policy", policy)["month"]
    assert (month["assumed"], month["refreshes"], month["deltas"]) == (False, 3, "none")


def test_exact_packs_and_applies(snaps: tuple[Path, Path]) -> None:
    made = refresh(*snaps, "--codec", "xz")["codecs"]["xz"]
    exact = refresh(*snaps, "--codec", "xz", "--exact")["codecs"]["xz"]
    assert exact["full_bytes"]["mid"] == snaps[1].stat().st_size
    for name, delta in exact["deltas"].items():
        assert delta["origin"] == made["deltas"][name]["origin"] == "measured"
        found = made["deltas"][name]["bytes"]["mid"]
        assert delta["bytes"]["mid"] == pytest.approx(found, abs=64)
    rebuild = exact["rebuild"]
    # Before squashfs-tools 4.6, mksquashfs can't read what xdelta3 writes.
    assert rebuild["equal"] or "can't read from a pipe" in rebuild["reason"]


def test_deltas_need_xdelta3(
    primes: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = advisor("refresh", *primes)
    assert result.returncode == os.EX_UNAVAILABLE
    assert "xdelta3 isn't installed" in result.stderr
    assert "package xdelta3" in result.stderr


def test_builds_of_different_snaps_are_refused(primes: tuple[Path, Path]) -> None:
    metadata = primes[1] / "meta/snap.yaml"
    metadata.write_text(metadata.read_text().replace("name: ", "name: other-", 1))
    result = advisor("refresh", *primes)
    assert result.returncode == os.EX_DATAERR
    assert "different snaps" in result.stderr


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_reports_for_people_name_the_file(
    primes: tuple[Path, Path], form: str, tmp_path: Path
) -> None:
    target, scratch = tmp_path / "report", tmp_path / "scratch"
    scratch.mkdir()
    arguments = ("--codec", "lzo", "--format", form, "-v", "-o", target)
    result = advisor("refresh", *primes, *arguments, TMPDIR=str(scratch))
    assert result.returncode == 0, result.stderr
    text = target.read_text()
    assert "usr/share/data/added" in text
    assert "xz" not in text
    assert not list(scratch.iterdir())
