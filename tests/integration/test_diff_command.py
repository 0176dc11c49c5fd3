"""Diff, as a user meets it."""

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from image_sources import mksquashfs
from real_payloads import SNAP_YAML, advisor, fill_prime, snap_pack
from snapcraft_compression_advisor.report.document import schema_text

BYTES = 2_000_000


@pytest.fixture
def primes(tmp_path: Path) -> tuple[Path, Path]:
    """Return a build's prime directory and the next one's."""
    old, new = fill_prime(tmp_path / "old"), fill_prime(tmp_path / "new")
    program = new / "usr/bin/sample"
    (new / "usr/bin/hardlink").unlink()
    with program.open("ab") as file:
        file.write(random.Random(7).randbytes(BYTES))
    (new / "usr/share/data/added").write_bytes(random.Random(8).randbytes(50_000))
    (new / "usr/share/data/text").unlink()
    (new / "usr/bin/alias").unlink()
    (new / "usr/bin/alias").symlink_to("other")
    return old, new


def diff(*arguments: str | Path, **environment: str) -> dict[str, Any]:
    result = advisor(
        "diff", *arguments, "--format", "json", cwd=None, status=0, **environment
    )
    document: dict[str, Any] = json.loads(result.stdout)
    jsonschema.validate(document, json.loads(schema_text("diff")))
    return document


def set_times(primes: tuple[Path, Path], seconds: int) -> None:
    """Have all files of both changed in the same second.

    An image's tables hold the times, so they are shorter the fewer there are.
    """
    for prime in primes:
        for path in prime.rglob("*"):
            os.utime(path, (seconds, seconds), follow_symlinks=False)


def test_sizes_of_snaps_are_their_own(
    primes: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = (
        snap_pack(prime, tmp_path / f"{prime.name}-packed", compression="xz")
        for prime in primes
    )
    document = diff(old, new)
    sizes = [path.stat().st_size for path in (old, new)]
    assert [document[side]["image_bytes"]["mid"] for side in ("old", "new")] == sizes
    assert document["old"]["origin"] == "measured"
    changes = {each["path"]: each for each in document["files"]}
    assert {path: each["change"] for path, each in changes.items()} == {
        "usr/bin/sample": "changed",
        "usr/bin/hardlink": "removed",
        "usr/bin/alias": "changed",
        "usr/share/data/added": "added",
        "usr/share/data/text": "removed",
    }
    grown = changes["usr/bin/sample"]
    assert grown["new_bytes"] - grown["old_bytes"] == BYTES
    assert grown["stored_change_bytes"]["mid"] == pytest.approx(BYTES, rel=0.02)
    assert changes["usr/bin/alias"]["stored_change_bytes"]["mid"] == 0
    explained = sum(each["stored_change_bytes"]["mid"] for each in changes.values())
    tables = document["tables_change_bytes"]["mid"]
    assert explained + tables == sizes[1] - sizes[0]
    assert abs(tables) < 10_000


def test_launch_is_slower_because_of_the_program_that_grew(
    primes: tuple[Path, Path],
) -> None:
    document = diff(*primes, "--device", "hdd-laptop")
    (launch,) = document["launches"]
    assert (launch["app"], launch["verdict"]) == ("sample", "slower")
    assert launch["causes"][0]["path"] == "usr/bin/sample"
    policy = primes[1].with_name("policy.yaml")
    policy.write_text("devices: hdd-laptop\n")
    text = advisor("diff", *primes, "--policy", policy).stdout
    assert "because usr/bin/sample grew by 2.0 MB" in " ".join(text.split())
    assert "hdd-laptop" in text
    assert "nvme-laptop" not in text


def test_prime_directories_are_estimated_and_agree_with_snaps(
    primes: tuple[Path, Path], tmp_path: Path
) -> None:
    document = diff(*primes)
    assert document["new"]["origin"] == "estimated"
    snap = snap_pack(primes[1], tmp_path / "packed", compression="xz")
    estimate = document["new"]["image_bytes"]
    assert estimate["low"] <= snap.stat().st_size <= estimate["high"]
    mixed = diff(primes[0], snap)
    assert {each["path"] for each in mixed["files"]} == {
        each["path"] for each in document["files"]
    }


def test_other_compression_is_no_change_of_files(
    primes: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = (
        snap_pack(primes[0], tmp_path / codec, compression=codec)
        for codec in ("xz", "lzo")
    )
    document = diff(old, new)
    assert document["files"] == []
    assert document["repacked_bytes"]["mid"] > 0
    assert (document["old"]["compression"], document["new"]["compression"]) == (
        "xz",
        "lzo",
    )
    causes = document["launches"][0]["causes"]
    assert [each["path"] for each in causes] == [None]


def test_prime_directory_is_no_other_than_the_snap_packed_from_it(
    tmp_path: Path,
) -> None:
    prime = fill_prime(tmp_path / "prime")
    noise = random.Random(5)
    words = [noise.randbytes(6).hex() for _ in range(500)]
    program = prime / "usr/bin/sample"
    with program.open("ab") as file:
        file.write(" ".join(noise.choices(words, k=150_000)).encode())
    snap = snap_pack(prime, tmp_path / "packed", compression="xz")
    for sides in ((prime, snap), (snap, prime), (prime, prime)):
        document = diff(*sides)
        assert document["files"] == []
        for key in ("image_change_bytes", "tables_change_bytes", "repacked_bytes"):
            assert document[key] == {"low": 0, "mid": 0, "high": 0}
        for launch in document["launches"]:
            assert launch["change_s"] == {"low": 0, "mid": 0, "high": 0}
            assert launch["verdict"] == "same"
            assert launch["causes"] == []


def test_same_size_and_blocks_do_not_hide_other_contents(tmp_path: Path) -> None:
    prime = fill_prime(tmp_path / "prime")
    old = snap_pack(prime, tmp_path / "old", compression="xz")
    noise = prime / "usr/share/data/noise"
    noise.write_bytes(random.Random(9).randbytes(noise.stat().st_size))
    new = snap_pack(prime, tmp_path / "new", compression="xz")
    paths = {each["path"] for each in diff(old, new)["files"]}
    assert paths == {"usr/share/data/noise"}


@pytest.mark.parametrize(
    "options",
    [("-b", "1M", "-no-fragments"), ("-comp", "xz"), ("-comp", "zstd", "-b", "4K")],
)
def test_foreign_image_is_compared_but_for_launches(
    primes: tuple[Path, Path], tmp_path: Path, options: tuple[str, ...]
) -> None:
    old = mksquashfs(primes[0], tmp_path / "foreign.snap", *options)
    new = snap_pack(primes[1], tmp_path / "packed", compression="xz")
    document = diff(old, new)
    assert document["launches"] == []
    assert "the old image isn't built as 'snap pack' builds" in document["notes"][0]
    assert "usr/share/data/added" in {each["path"] for each in document["files"]}
    assert "usr/share/data/noise" not in {each["path"] for each in document["files"]}


def test_app_that_came_is_not_compared_and_one_of_neither_is_refused(
    primes: tuple[Path, Path],
) -> None:
    text = SNAP_YAML.replace("  other:", "  another:")
    (primes[1] / "meta/snap.yaml").write_text(text)
    document = diff(*primes, "--app", "another")
    assert document["launches"] == []
    assert document["notes"] == ["App another is new, so its launch isn't compared."]
    assert advisor("diff", *primes, "--app", "nobody").returncode == 64


def test_broken_and_foreign_files_are_clear_errors(
    primes: tuple[Path, Path], tmp_path: Path
) -> None:
    snap = snap_pack(primes[0], tmp_path / "packed", compression="xz")
    content = bytearray(snap.read_bytes())
    short = tmp_path / "short.snap"
    short.write_bytes(content[: len(content) // 2])
    content[200:4096] = bytes(3896)
    spoilt = tmp_path / "spoilt.snap"
    spoilt.write_bytes(content)
    other = shutil.copytree(primes[0], tmp_path / "other", symlinks=True)
    (other / "meta/snap.yaml").write_text(SNAP_YAML.replace("name: sample", "name: x"))
    for arguments, status, said in (
        ((snap, tmp_path / "nowhere"), 66, "No such file"),
        ((short, snap), 65, str(short)),
        ((primes[0], spoilt), 65, str(spoilt)),
        ((snap, other), 65, "The builds are of different snaps"),
        ((snap, "/dev/null"), 65, "neither a directory nor a file"),
    ):
        result = advisor("diff", *arguments, status=status)
        assert said in result.stderr
        assert result.stdout == ""


def test_answer_is_the_same_on_another_machine(
    primes: tuple[Path, Path], tmp_path: Path
) -> None:
    set_times(primes, 1_700_000_000)
    here = diff(*primes)
    set_times(primes, 1_600_000_000)
    assert diff(*primes, LC_ALL="C") == here
    target = tmp_path / "report.md"
    result = advisor("diff", *primes, "--format", "markdown", "-o", target)
    assert (result.returncode, result.stdout) == (0, "")
    assert target.read_text().startswith("### sample: the image ")
