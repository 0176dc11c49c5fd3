"""The exact trial against the real ``snap pack``."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from machine import write_script
from made_blocks import sizes_of_file
from mounts import small_disk
from real_payloads import fill_prime, snap_pack
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.exact import run_exact_trial
from snapcraft_compression_advisor.trial.result import TrialResult
from trees import fill


def run(path: Path) -> TrialResult:
    with open_payload(path) as payload:
        return run_exact_trial(payload, progress=lambda _: None)


def size(result: TrialResult, codec: str) -> float:
    image_bytes = result.codecs[codec].image_bytes
    assert image_bytes is not None
    assert image_bytes.known
    return image_bytes.mid


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what puts a script before mksquashfs, which it goes on to."""
    programs = tmp_path / "programs"
    programs.mkdir()
    real = shutil.which("mksquashfs")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    def put(text: str) -> None:
        write_script(programs / "mksquashfs", f'{text}\nexec {real} "$@"')

    return put


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
    fill(tmp_path, {"prime/meta/snap.yaml": "name: sample\nversion: '1'\n"})
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
    result = run(small_prime)
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    with Image.open(snap) as image:
        stored = {
            entry.path: [block.stored_bytes for block in entry.blocks or ()]
            for entry in image.walk()
            if entry.path in wanted
        }
    blocks = result.codecs["lzo"].blocks
    assert {path: sizes_of_file(blocks, path) for path in wanted} == stored
    assert sizes_of_file(blocks, "usr/share/data/sparse")[1:7] == [0] * 6
    noise = blocks.places("usr/share/data/noise")
    assert not blocks.compressed[noise.start : noise.stop].any()
    assert not result.codecs["none"].blocks.compressed.any()


def test_built_snap_gives_the_sizes_of_its_prime_directory(
    small_prime: Path, tmp_path: Path
) -> None:
    snap = snap_pack(small_prime, tmp_path / "packed", compression="lzo")
    of_prime, of_snap = run(small_prime), run(snap)
    for codec in of_prime.codecs:
        assert size(of_snap, codec) == size(of_prime, codec), codec
    assert size(of_snap, "lzo") == snap.stat().st_size


def test_codec_that_mksquashfs_lacks_is_not_available(
    small_prime: Path, tool: Callable[[str], None]
) -> None:
    tool('case "$*" in *"-comp lz4"*) set -- "$1" "$2" -comp lz9;; esac')
    result = run(small_prime)
    assert not result.codecs["lz4"].available
    assert result.codecs["zstd"].available


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


def test_free_space_is_checked_before_anything_is_written(
    small_prime: Path,
    temporary_directory: Path,
    tmp_path: Path,
    tool: Callable[[str], None],
    mocker: MockerFixture,
) -> None:
    mocker.patch("shutil.disk_usage").return_value.free = 1_000
    tool(f"case \"$*\" in *-comp*) echo >> '{tmp_path}/called'; exit 1;; esac")
    with pytest.raises(StorageError, match=r"about .*B are needed, .*B are free"):
        run(small_prime)
    assert not (tmp_path / "called").exists()
    assert list(temporary_directory.iterdir()) == []


def test_file_that_vanishes_while_it_is_packed_is_an_error(
    small_prime: Path, tool: Callable[[str], None]
) -> None:
    lost = "Failed to read file x, creating empty file"
    tool(f'case "$*" in *-wildcards*) echo "{lost}" >&2;; esac')
    with pytest.raises(StorageError, match="changed or vanished"):
        run(small_prime)


@pytest.mark.mounts
def test_full_disk_is_a_storage_error(
    small_prime: Path, temporary_directory: Path
) -> None:
    """A disk with room for data, but not for as many files, is noticed late."""
    with small_disk(temporary_directory, "size=500m,nr_inodes=3") as full:
        with pytest.raises(StorageError, match="disk is full"):
            run(small_prime)
        assert list(full.iterdir()) == []
