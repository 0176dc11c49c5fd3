"""``lint --resquash``, as a user meets them."""

import json
import mmap
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture

from image_sources import mksquashfs, noise, text
from mounts import small_disk
from real_payloads import SNAP_YAML, advisor, fill_prime, snap_pack
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.preflight.resquash import needed_bytes, resquash
from snapcraft_compression_advisor.squashfs.image import Image
from store_images import SNAP_OPTIONS, write_store_tree
from trees import fill

pytestmark = [pytest.mark.slow, pytest.mark.users]


@pytest.fixture(scope="module")
def snap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("resquash")
    prime = fill_prime(directory / "prime")
    return snap_pack(prime, directory / "packed", compression="lzo")


def findings(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert result.returncode in (0, 1), result.stderr
    (payload,) = json.loads(result.stdout)["payloads"]
    assert payload["error"] is None
    return list(payload["findings"])


def test_snap_of_snap_pack_comes_out_the_same(snap: Path, scratch: Path) -> None:
    options = ("--resquash", "--select", "SCA5", "--format", "json")
    result = advisor("lint", snap, *options, TMPDIR=str(scratch))
    assert not findings(result)
    assert "needs " in result.stderr
    assert f"{snap.name} is identical, byte for byte" in result.stderr


def test_what_differs_is_in_the_report(tmp_path: Path, scratch: Path) -> None:
    prime, image = fill_prime(tmp_path / "prime"), tmp_path / "odd.snap"
    mksquashfs(prime, image, *SNAP_OPTIONS, "-comp", "lzo", "-no-exports")
    options = ("--resquash", "--select", "SCA510", "--format", "json")
    result = advisor("lint", image, *options, TMPDIR=str(scratch), status=1)
    (finding,) = findings(result)
    assert finding["rule"] == "SCA510"
    assert "byte 24, in the superblock" in finding["message"]
    texts = [each["text"] for each in finding["evidence"]]
    assert any("not exportable (-no-exports)" in text for text in texts)
    assert "is not the same" in result.stderr


def test_prime_directory_has_nothing_to_pack_again(small_prime: Path) -> None:
    result = advisor("lint", small_prime, "--resquash", "--select", "SCA5", status=0)
    assert "isn't packed, so it can't be repacked" in result.stderr


@pytest.fixture(scope="module")
def slow_snap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a snap that takes xz some seconds."""
    directory = tmp_path_factory.mktemp("slow")
    parts = {f"{n}": noise(1_000_000, n) + text(50_000) for n in range(6)}
    tree = fill(directory / "tree", {"meta/snap.yaml": SNAP_YAML, **parts})
    mksquashfs(tree, directory / "slow.snap", *SNAP_OPTIONS, "-comp", "xz")
    return directory / "slow.snap"


@pytest.mark.mounts
def test_disk_that_fills_up_meanwhile_is_told(snap: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "size=500m,nr_inodes=8") as disk:
        result = advisor("lint", snap, "--resquash", TMPDIR=str(disk))
        assert not list(disk.iterdir())
    assert result.returncode == 74
    assert "The disk is full" in result.stdout


@pytest.mark.mounts
def test_room_is_looked_at_before_anything_is_written(
    snap: Path, temporary_directory: Path
) -> None:
    with Image.open(snap) as image:
        pages = -(-needed_bytes(image) // mmap.PAGESIZE)
        too_few, enough = (f"size={n * mmap.PAGESIZE}" for n in (pages - 1, pages))
        with small_disk(temporary_directory, too_few) as disk:
            with pytest.raises(StorageError, match="Not enough free space"):
                resquash(snap, image, snap_type="app", progress=lambda _: None)
            assert not list(disk.iterdir())
        with small_disk(temporary_directory, enough):
            again = resquash(snap, image, snap_type="app", progress=lambda _: None)
    assert again.equal


def test_damaged_data_are_bad_data(slow_snap: Path, scratch: Path) -> None:
    damaged = scratch.parent / "damaged.snap"
    contents = bytearray(slow_snap.read_bytes())
    with Image.open(slow_snap) as image:
        entry = next(each for each in image.walk() if each.path == "3")
        assert entry.blocks is not None
        blocks = [block for block in entry.blocks if not block.is_stored]
        position = blocks[0].position
    contents[position + 30 : position + 60] = b"\xff" * 30
    damaged.write_bytes(contents)
    advisor("lint", damaged, "--resquash", TMPDIR=str(scratch), status=65)


@pytest.mark.root
def test_base_keeps_its_owners_or_is_refused(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    tree, image = tmp_path / "tree", tmp_path / "image"
    write_store_tree(tree)
    options = ("-no-fragments", "-comp", "xz", "-xattrs", "-force-uid", "1234")
    mksquashfs(tree, image, *options, "-p", "null c 666 root root 1 3")
    with Image.open(image) as opened:
        again = resquash(image, opened, snap_type="base", progress=lambda _: None)
        assert again.equal
        assert "-all-root" not in again.options
        mocker.patch("os.geteuid", return_value=1000)
        with pytest.raises(ToolError, match="needs root"):
            resquash(image, opened, snap_type="base", progress=lambda _: None)
