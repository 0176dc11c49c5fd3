"""Deltas between builds."""

import json
import os
import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from payloads import make_payload
from real_payloads import advisor, fill_prime, snap_pack
from snapcraft_compression_advisor.core.errors import StorageError
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.refresh.delta import PLAIN, SNAP_AWARE, DeltaSize
from snapcraft_compression_advisor.refresh.estimate import DeltaMaker
from snapcraft_compression_advisor.refresh.xdelta3 import (
    HEADER_BYTES,
    Stream,
    make_plain_delta,
    make_snap_aware_delta,
)
from snapcraft_compression_advisor.report.document import schema_text

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


def refresh(*arguments: str | Path) -> dict[str, Any]:
    result = advisor("refresh", *arguments, "--format", "json", status=0)
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
            assert delta["origin"] == "measured"
        assert codec["full_measured"]
    first = document["files"][0]
    assert (first["path"], first["change"]) == ("usr/share/data/added", "added")


def test_small_builds_that_cannot_be_packed_are_estimated(
    primes: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "xdelta3").symlink_to(shutil.which("xdelta3") or "")
    command = ("refresh", *primes, "--format", "json")
    result = advisor(*command, PATH=str(tmp_path), status=0)
    for codec in json.loads(result.stdout)["codecs"].values():
        plain = codec["deltas"]["xdelta3"]
        assert plain["origin"] == "estimated"
        assert plain["bytes"]["low"] < len(ADDED) < plain["bytes"]["high"]


def test_month_is_by_the_policy(primes: tuple[Path, Path], tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "refresh: {per-month: 3, cold-launches-per-day: 1, deltas: none}\n"
    )
    assert refresh(*primes)["month"]["assumed"]
    month = refresh(*primes, "--policy", policy)["month"]
    assert (month["assumed"], month["refreshes"], month["deltas"]) == (False, 3, "none")


def test_exact_packs_and_applies(
    images: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    document = refresh(*images["xz"], "--exact")
    adds = {each["path"]: each["plain_bytes"] for each in document["files"]}
    for codec, found in document["codecs"].items():
        assert found["full_bytes"]["mid"] == images[codec][1].stat().st_size
        real = make_plain_delta(*images[codec], tmp_path / f"{codec}.delta")
        plain = found["deltas"]["xdelta3"]["bytes"]["mid"]
        assert plain == pytest.approx(real, abs=64)
        assert {each["origin"] for each in found["deltas"].values()} == {"measured"}
        assert found["rebuild"] == {"equal": True, "reason": None}
        more = adds["usr/share/data/more"][codec]
        assert more == pytest.approx(len(FRESH), rel=0.05)


def test_another_codec_stands_beside_those_that_may_ship(
    primes: tuple[Path, Path],
) -> None:
    codecs = refresh(*primes, "--codec", "zstd")["codecs"]
    assert list(codecs) == ["xz", "lzo", "zstd"]
    sizes = {name: found["full_bytes"]["mid"] for name, found in codecs.items()}
    assert sizes["xz"] < sizes["zstd"] < sizes["lzo"]


def test_refresh_to_the_same_snap_downloads_nothing_with_any_codec(
    images: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    old = images["xz"][0]
    again = shutil.copy(old, tmp_path / "again.snap")
    for options in ((), ("--exact",)):
        document = refresh(old, again, *options)
        sizes = [
            delta["bytes"]["mid"]
            for codec in document["codecs"].values()
            for delta in codec["deltas"].values()
        ]
        assert sizes == [0.0] * 4
        assert not document["files"]


def test_builds_of_different_snaps_are_refused(primes: tuple[Path, Path]) -> None:
    metadata = primes[1] / "meta/snap.yaml"
    metadata.write_text(metadata.read_text().replace("name: ", "name: other-", 1))
    result = advisor("refresh", *primes, status=os.EX_DATAERR)
    assert "different snaps" in result.stderr


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_reports_for_people_name_the_file(
    primes: tuple[Path, Path], form: str, tmp_path: Path
) -> None:
    target, scratch = tmp_path / "report", tmp_path / "scratch"
    scratch.mkdir()
    arguments = ("--format", form, "-v", "-o", target)
    advisor("refresh", *primes, *arguments, TMPDIR=str(scratch), status=0)
    text = target.read_text()
    assert "usr/share/data/added" in text
    assert not list(scratch.iterdir())


NOISE = random.Random(3).randbytes(600_000)
FRESH = random.Random(4).randbytes(100_000)
BEFORE = {"usr/bin/app": NOISE, "usr/share/text": b"a text\n" * 9_000}


def deltas(
    after: Mapping[str, bytes], before: Mapping[str, bytes] = BEFORE, codec: str = "lzo"
) -> tuple[DeltaSize, DeltaSize]:
    """Return the plain and the snap-aware delta between two prime directories."""
    found = DeltaMaker(make_payload(before), make_payload(after)).deltas(codec)
    return found[PLAIN], found[SNAP_AWARE]


def test_equal_contents_take_next_to_nothing() -> None:
    plain, snap_aware = deltas(dict(reversed(BEFORE.items())))
    assert plain.size_bytes.mid == 0
    assert not plain.size_bytes.known
    assert snap_aware.size_bytes.mid < 300
    assert snap_aware.size_bytes.known


def test_what_is_inserted_changes_all_compressed_blocks_behind_it() -> None:
    letters = NOISE.translate(bytes(b"abcdefgh"[n % 8] for n in range(256)))
    after = {"text": letters[:1_000] + FRESH + letters[1_000:]}
    plain, snap_aware = deltas(after, {"text": letters})
    assert len(FRESH) < snap_aware.size_bytes.mid < 1.05 * len(FRESH)
    assert plain.size_bytes.mid > 2 * snap_aware.size_bytes.mid


def test_copies_are_sent_once() -> None:
    after = {**BEFORE, "usr/bin/more": FRESH, "usr/bin/copy": FRESH}
    assert all(each.size_bytes.mid < 1.05 * len(FRESH) for each in deltas(after))


def test_hole_of_the_new_build_is_sent_as_nothing() -> None:
    plain, _ = deltas({**BEFORE, "more": b"\0" * 400_000})
    assert plain.size_bytes.mid < 2_000


def test_blocks_that_look_like_an_archive_are_not_unpacked() -> None:
    # xdelta3 runs xz for a file that begins as one, and blocks with xz do.
    letters = NOISE.translate(bytes(b"abcdefgh"[n % 8] for n in range(256)))
    plain, _ = deltas({"text": b"A" + letters}, {"text": letters}, codec="xz")
    assert plain.size_bytes.mid > 200_000


def test_options_in_the_environment_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = deltas({**BEFORE, "usr/bin/more": FRESH})
    monkeypatch.setenv("XDELTA", "-S none -9")
    assert deltas({**BEFORE, "usr/bin/more": FRESH}) == usual


def test_lz4_has_no_snap_aware_delta() -> None:
    new = make_payload(BEFORE)
    assert list(DeltaMaker(new, new).deltas("lz4")) == [PLAIN]


def test_build_that_changes_meanwhile_ends_the_delta(tmp_path: Path) -> None:
    old, new = make_payload(BEFORE), make_payload({**BEFORE, "more": FRESH})

    def read(path: str, *, offset: int, length: int) -> bytes:
        message = f"Cannot read {path} {offset} {length}"
        raise StorageError(message, resolution="")

    new.read = read  # type: ignore[method-assign]
    with pytest.raises(StorageError, match="Cannot read"):
        make_snap_aware_delta(Stream(old), Stream(new), tmp_path / "delta")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Return two successive builds, packed with each codec."""
    root = tmp_path_factory.mktemp("builds")
    primes = [fill_prime(root / name) for name in ("old", "new")]
    data = primes[1] / "usr/share/data"
    text = (data / "text").read_bytes()
    (data / "text").write_bytes(text[:100_000] + b"inserted\n" * 9 + text[100_000:])
    (data / "more").write_bytes(FRESH)
    return {
        codec: tuple(  # type: ignore[misc]
            snap_pack(prime, root / f"{prime.name}-{codec}.snap", compression=codec)
            for prime in primes
        )
        for codec in ("xz", "lzo")
    }


def snap_aware_bytes(old: Path, new: Path, folder: Path) -> int:
    """Return the size of the delta that snapd makes of what unsquashfs writes."""
    streams = [folder / "old", folder / "new"]
    for stream, image in zip(streams, (old, new), strict=True):
        subprocess.run(
            ["unsquashfs", "-no-progress", "-pf", stream, image],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    files = map(str, (*streams, folder / "made"))
    command = ["xdelta3", "-7", "-e", "-f", "-A", "-s", *files]
    subprocess.run(command, check=True)
    return (folder / "made").stat().st_size + HEADER_BYTES


@pytest.mark.parametrize("codec", ["xz", "lzo"])
def test_deltas_are_those_of_snapd(
    codec: str, images: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    delta = tmp_path / "delta"
    real = {
        PLAIN: make_plain_delta(*images[codec], delta),
        SNAP_AWARE: snap_aware_bytes(*images[codec], tmp_path),
    }
    other = images["lzo" if codec == "xz" else "xz"]
    for builds in (images[codec], other):
        with open_payload(builds[0]) as old, open_payload(builds[1]) as new:
            found = DeltaMaker(old, new).deltas(codec)
        aware, plain = (found[each].size_bytes for each in (SNAP_AWARE, PLAIN))
        assert aware.known
        assert aware.mid == pytest.approx(real[SNAP_AWARE], abs=64)
        assert plain.known == (builds == images[codec])
        assert plain.low <= real[PLAIN] <= plain.high
        assert plain.mid == pytest.approx(real[PLAIN], rel=0.05)
        assert list(found[PLAIN].files)
        assert "usr/share/data/more" in found[SNAP_AWARE].files
