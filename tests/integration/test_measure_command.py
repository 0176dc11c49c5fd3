"""``measure`` on real mounts: what it reports, and that nothing is left of it."""

import json
import signal
from pathlib import Path

import pytest

from goldens import Document, read_document
from mounts import small_disk
from real_payloads import advisor, interrupt, snap_pack
from snapcraft_compression_advisor.codecs import CODECS

pytestmark = [pytest.mark.slow, pytest.mark.mounts, pytest.mark.bubblewrap]

READ_TEXT = ("--", "cat", "$SNAP/usr/share/data/text")


@pytest.fixture
def profile(small_prime: Path, tmp_path: Path) -> Path:
    data = small_prime / "usr/share/data"
    files = [
        {"path": f"usr/share/data/{name}", "size": (data / name).stat().st_size,
         "blocks": blocks}
        for name, blocks in (("noise", [[0, 0], [2, 2]]), ("text", [[0, 3]]))
    ]  # fmt: skip
    path = tmp_path / "launch.json"
    path.write_text(
        json.dumps(
            {"schema": 1, "source": "residency", "app": "sample", "files": files}
        )
    )
    return path


def measured(
    *arguments: str | Path, scratch: Path, options: tuple[str, ...] = ()
) -> Document:
    """Run ``measure`` with JSON output; options stand before a command."""
    result = advisor(
        "measure",
        "--format",
        "json",
        *options,
        *arguments,
        TMPDIR=str(scratch),
        status=0,
    )
    return read_document(result.stdout)


def runs(sample: Document | None) -> int:
    assert sample is not None
    assert len(sample.runs) == sample.n
    assert min(sample.runs) > 0
    return len(sample.runs)


def test_every_codec_is_mounted_and_replayed(
    small_prime: Path, profile: Path, scratch: Path
) -> None:
    report = measured(
        small_prime, "--launch-profile", profile, "--runs", "2",
        scratch=scratch,
    )  # fmt: skip
    assert list(report.codecs) == list(CODECS)
    assert (report.method, report.mount, report.dropped) == (
        "replay", "kernel", "system",
    )  # fmt: skip
    assert (report.read_ahead_kb, report.runs, report.unavailable) == (128, 2, {})
    for codec in report.codecs.values():
        counts = [runs(each) for each in (codec.cold_s, codec.warm_s)]
        assert counts == [2, 2]
    assert report.codecs["none"].image_bytes > report.codecs["xz"].image_bytes


def test_images_are_those_of_snap_pack(
    small_prime: Path, profile: Path, scratch: Path, tmp_path: Path
) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression="xz")
    for payload in (small_prime, snap):
        report = measured(
            payload, "--launch-profile", profile, "--runs", "1", "--codec", "xz",
            scratch=scratch,
        )  # fmt: skip
        assert list(report.codecs) == ["xz"]
        assert report.codecs["xz"].image_bytes == snap.stat().st_size


def test_command_is_started_from_each_image(small_prime: Path, scratch: Path) -> None:
    report = measured(
        small_prime, "--runs", "2", "--codec", "lzo", "--codec", "none", "--until",
        "exit", *READ_TEXT, scratch=scratch,
    )  # fmt: skip
    assert (report.method, report.read_ahead_kb) == ("launch", 128)
    assert list(report.codecs) == ["lzo", "none"]
    assert runs(report.codecs["lzo"].cold_s) == 2


def test_images_in_memory_are_said_to_be(
    small_prime: Path, profile: Path, scratch: Path
) -> None:
    options = ("--launch-profile", str(profile), "--runs", "1", "--codec", "none")
    with small_disk(scratch / "memory", "size=50%") as place:
        report = measured(small_prime, *options, scratch=place)
    place.rmdir()
    assert report.storage == "memory"


def test_text_has_a_row_and_a_plot_for_each_codec(
    small_prime: Path, profile: Path, scratch: Path
) -> None:
    result = advisor(
        "measure", small_prime, "--launch-profile", profile, "--runs", "3", "--codec",
        "lzo", "--codec", "zstd", TMPDIR=str(scratch), status=0,
    )  # fmt: skip
    lines = result.stdout.splitlines()
    assert sum(line.startswith("  zstd *") for line in lines) == 1
    assert max(map(len, lines)) <= 80


def test_launch_that_fails_is_a_clear_error(small_prime: Path, scratch: Path) -> None:
    result = advisor(
        "measure", small_prime, "--codec", "none", "--until", "exit", "--", "cat",
        "$SNAP/nowhere", TMPDIR=str(scratch), status=69,
    )  # fmt: skip
    assert "nowhere" in result.stderr


def test_profile_of_another_payload_is_bad_data(
    small_prime: Path, tmp_path: Path, scratch: Path
) -> None:
    profile = tmp_path / "other.json"
    files = [{"path": "bin/other", "size": 1, "blocks": [[0, 0]]}]
    profile.write_text(json.dumps({"source": "static", "app": "x", "files": files}))
    result = advisor(
        "measure",
        small_prime,
        "--launch-profile",
        profile,
        TMPDIR=str(scratch),
        status=65,
    )
    assert "contains none of the files in the launch profile" in result.stderr


@pytest.mark.parametrize("codec", ["xz", "none"])
def test_full_disk_is_a_storage_error(
    small_prime: Path, profile: Path, scratch: Path, codec: str
) -> None:
    with small_disk(scratch / "small", "size=200k") as place:
        result = advisor(
            "measure", small_prime, "--launch-profile", profile, "--codec", codec,
            TMPDIR=str(place),
        )  # fmt: skip
        left = list(place.iterdir())
    place.rmdir()
    assert result.returncode == 74, result.stderr
    assert "TMPDIR" in result.stderr
    assert "on a larger disk" in result.stderr
    assert left == []


MOMENTS = (
    "Packing with xz",
    "Packing with none",
    "Launching: xz (round 1 ",
    "Launching: none (round 2 ",
)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("interruption", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_nothing_behind(
    small_prime: Path,
    profile: Path,
    scratch: Path,
    moment: str,
    interruption: signal.Signals,
) -> None:
    words = ("measure", small_prime, "--launch-profile", profile, "--runs", "1000")
    interrupt(*words, at=moment, by=interruption, TMPDIR=str(scratch))
