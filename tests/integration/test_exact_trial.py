"""The exact trial against the real ``snap pack``."""

from __future__ import annotations

import subprocess
import tempfile
from typing import TYPE_CHECKING

import pytest

from real_payloads import fill_prime, snap_pack
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.child import run_child
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.exact import run_exact_trial

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.trial.result import TrialResult


def run(path: Path, *, wanted: tuple[str, ...] = ()) -> TrialResult:
    with open_payload(path) as payload:
        return run_exact_trial(payload, wanted=wanted, progress=lambda _: None)


def size(result: TrialResult, codec: str) -> float:
    image_bytes = result.codecs[codec].image_bytes
    assert image_bytes is not None
    assert image_bytes.known
    return image_bytes.mid


@pytest.fixture
def temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty directory that temporary files go to."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return directory


@pytest.mark.parametrize("compression", ["xz", "lzo"])
@pytest.mark.parametrize("snap_type", ["app", "base"])
def test_sizes_are_those_of_snap_pack(
    tmp_path: Path, compression: str, snap_type: str
) -> None:
    prime = fill_prime(tmp_path / "prime")
    if snap_type == "base":
        (prime / "meta/snap.yaml").write_text(
            "name: sample\nversion: '1'\nsummary: s\ndescription: d\ntype: base\n"
        )
    snap = snap_pack(prime, tmp_path / "packed", compression=compression)
    assert size(run(prime), compression) == snap.stat().st_size


def test_small_payload_grows_to_the_size_of_the_smallest_snap(tmp_path: Path) -> None:
    (tmp_path / "prime/meta").mkdir(parents=True)
    (tmp_path / "prime/meta/snap.yaml").write_text("name: sample\nversion: '1'\n")
    result = run(tmp_path / "prime")
    snap = snap_pack(tmp_path / "prime", tmp_path / "packed", compression="xz")
    assert {size(result, codec) for codec in result.codecs} == {16384}
    # snapd before 2.58 (Debian 12's) doesn't grow small snaps yet.
    assert snap.stat().st_size in {4096, 16384}


def test_every_codec_packs_and_none_is_the_largest(small_prime: Path) -> None:
    result = run(small_prime)
    sizes = {codec: size(result, codec) for codec in result.codecs}
    assert list(sizes) == list(CODECS)
    assert min(sizes, key=sizes.__getitem__) == "xz"
    assert max(sizes, key=sizes.__getitem__) == "none"
    assert [c for c in result.codecs if result.codecs[c].shippable] == ["xz", "lzo"]


def test_blocks_are_those_of_the_image(small_prime: Path, tmp_path: Path) -> None:
    wanted = ("usr/bin/sample", "usr/share/data/noise", "usr/share/data/sparse")
    result = run(small_prime, wanted=wanted)
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    with Image.open(snap) as image:
        stored = {
            entry.path: [block.stored_bytes for block in entry.blocks or ()]
            for entry in image.walk()
            if entry.path in wanted
        }
    blocks = result.codecs["lzo"].blocks
    assert {
        path: [block.stored_bytes for block in blocks[path]] for path in wanted
    } == stored
    assert not any(block.compressed for block in blocks["usr/share/data/noise"])
    assert [b.stored_bytes for b in blocks["usr/share/data/sparse"]][1:7] == [0] * 6
    assert not any(b.compressed for b in result.codecs["none"].blocks[wanted[0]])


def test_built_snap_gives_the_sizes_of_its_prime_directory(
    small_prime: Path, tmp_path: Path
) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    of_prime, of_snap = run(small_prime), run(snap)
    for codec in of_prime.codecs:
        assert size(of_snap, codec) == size(of_prime, codec), codec
    assert size(of_snap, "lzo") == snap.stat().st_size


def test_codec_that_mksquashfs_lacks_is_not_available(
    small_prime: Path, mocker: MockerFixture
) -> None:
    def without_lz4(
        command: Sequence[str], *, directory: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        command = ["lz9" if word == "lz4" else word for word in command]
        return run_child(command, directory=directory)

    mocker.patch.object(mksquashfs, "run_child", without_lz4)
    result = run(small_prime)
    assert not result.codecs["lz4"].available
    assert result.codecs["zstd"].available


def test_missing_mksquashfs_is_a_tool_error(
    small_prime: Path, mocker: MockerFixture
) -> None:
    mocker.patch("shutil.which", return_value=None)
    with pytest.raises(ToolError, match="mksquashfs is not installed") as caught:
        run(small_prime)
    assert caught.value.retcode == 69


def test_failing_mksquashfs_is_a_tool_error_with_its_words(
    small_prime: Path, tmp_path: Path
) -> None:
    (tmp_path / "excludes").touch()
    with pytest.raises(ToolError, match="failed") as caught:
        mksquashfs.pack(
            small_prime,
            tmp_path / "no/such/directory/image",
            codec="xz",
            snap_type="app",
            exclude_file=tmp_path / "excludes",
        )
    assert "No such file" in str(caught.value.details)


def test_nothing_stays_behind(small_prime: Path, temporary_directory: Path) -> None:
    run(small_prime)
    assert list(temporary_directory.iterdir()) == []


def test_nothing_stays_behind_after_an_interruption(
    small_prime: Path, temporary_directory: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(mksquashfs, "pack", side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        run(small_prime)
    assert list(temporary_directory.iterdir()) == []


def test_free_space_is_checked_before_anything_is_written(
    small_prime: Path, temporary_directory: Path, mocker: MockerFixture
) -> None:
    mocker.patch("shutil.disk_usage").return_value.free = 1000
    pack = mocker.spy(mksquashfs, "pack")
    with pytest.raises(StorageError, match=r"needs up to .* MB, 1.0 kB are free"):
        run(small_prime)
    assert pack.call_count == 0
    assert list(temporary_directory.iterdir()) == []


def test_file_that_vanishes_while_it_is_packed_is_an_error(
    small_prime: Path, mocker: MockerFixture
) -> None:
    lost = "Failed to read file x, creating empty file\n"
    result = subprocess.CompletedProcess([], 0, stdout="", stderr=lost)
    with open_payload(small_prime) as payload:
        mocker.patch.object(mksquashfs, "run_child", return_value=result)
        mocker.patch.object(mksquashfs, "supports", return_value=True)
        with pytest.raises(StorageError, match="changed or vanished"):
            run_exact_trial(payload, wanted=(), progress=lambda _: None)


@pytest.mark.root
def test_full_disk_is_a_storage_error(
    small_prime: Path, tmp_path: Path, mocker: MockerFixture
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(full)], check=True
    )
    try:
        mocker.patch("shutil.disk_usage").return_value.free = 10**12
        mocker.patch("tempfile.gettempdir", return_value=str(full))
        with pytest.raises(StorageError, match="disk is full"):
            run(small_prime)
        assert list(full.iterdir()) == []
    finally:
        subprocess.run(["umount", str(full)], check=True)
