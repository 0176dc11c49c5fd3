"""Who takes turns in a measurement, and what is refused before anything is packed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from machine import no_right_to_mount, write_script
from payloads import make_payload
from snapcraft_compression_advisor.capture.images import packed_images
from snapcraft_compression_advisor.capture.measure import in_turns
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.payload.source import open_payload
from trees import fill

PAYLOAD = make_payload({"bin/hello": b"x" * 1000})
UNSUPPORTED = 'echo "FATAL ERROR: Compressor \\"x\\" is not supported!"; exit 1'


def test_codecs_take_turns_and_each_round_begins_with_the_next() -> None:
    assert list(in_turns(("xz", "lzo", "none"), 4)) == [
        ("xz", "lzo", "none"),
        ("lzo", "none", "xz"),
        ("none", "xz", "lzo"),
        ("xz", "lzo", "none"),
    ]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    directory = tmp_path / "scratch"
    directory.mkdir()
    return directory


@pytest.fixture
def prime(tmp_path: Path, mocker: MockerFixture) -> Path:
    """Return a prime directory with a file that the disk has no room for."""
    mocker.patch("shutil.disk_usage").return_value.free = 1_000
    text = "name: large\nversion: '1'\n"
    directory = fill(tmp_path / "prime", {"meta/snap.yaml": text})
    with (directory / "hole").open("wb") as file:
        file.truncate(1_000_000)
    return directory


@pytest.fixture(autouse=True)
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what is there once mksquashfs was called; it has no codec at all."""
    called, programs = tmp_path / "called", tmp_path / "programs"
    programs.mkdir()
    write_script(programs / "mksquashfs", f"echo >> {called}; {UNSUPPORTED}")
    monkeypatch.setenv("PATH", str(programs))
    return called


def pack(
    path: Path, codecs: Sequence[str], *, scratch: Path, to_mount: bool = False
) -> None:
    with (
        open_payload(path) as payload,
        packed_images(
            payload,
            codecs,
            scratch=scratch,
            progress=lambda _: None,
            to_mount=to_mount,
        ),
    ):
        pytest.fail("packed")


def test_no_codec_left_is_an_error_with_every_reason(
    prime: Path, scratch: Path, called: Path
) -> None:
    with pytest.raises(ToolError) as caught:
        pack(prime, ("xz", "lzo"), scratch=scratch)
    details = (caught.value.details or "").splitlines()
    assert [line.partition(" ")[0] for line in details] == ["xz:", "lzo:"]
    assert "lzo: This mksquashfs" in details[1]
    assert called.exists()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("to_mount", "said"),
    [(True, "may not mount images"), (False, "No image could be packed")],
)
def test_right_to_mount_is_needed_before_packing_what_is_mounted(
    prime: Path, scratch: Path, called: Path, said: str, *, to_mount: bool
) -> None:
    with no_right_to_mount(), pytest.raises(ToolError, match=said):
        pack(prime, ("xz",), scratch=scratch, to_mount=to_mount)
    assert called.exists() is not to_mount


def test_disk_that_is_plainly_too_small_is_refused_before_packing(
    prime: Path, scratch: Path, called: Path
) -> None:
    with pytest.raises(StorageError, match="Not enough free space"):
        pack(prime, ("xz", "none"), scratch=scratch)
    assert not called.exists()
    # What xz makes of the files isn't known, so that is tried.
    with pytest.raises(ToolError, match="No image could be packed"):
        pack(prime, ("xz",), scratch=scratch)
    assert called.exists()


def test_missing_scratch_directory_is_a_storage_error(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="Cannot write"),
        packed_images(
            PAYLOAD,
            ("xz",),
            scratch=tmp_path / "no",
            progress=lambda _: None,
            to_mount=False,
        ),
    ):
        pytest.fail("packed")
