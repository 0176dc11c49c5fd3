"""Disks that fail or are full, and too little memory: a clear error, nothing left."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from image_sources import mksquashfs
from mounts import small_disk
from snapcraft_compression_advisor.squashfs.image import Image
from trees import fill

PAD = "# this compresses well\n" * 400
SNAP_YAML = f"""\
name: sample
version: '1'
summary: A snap
description: A snap
architectures: [all]
apps:
  sample:
    command: run
{PAD}"""
OPTIONS = ("-no-fragments", "-all-root", "-comp", "xz")
LITTLE_MEMORY_BYTES = 600_000_000
"""Address space: enough for all that is imported, not for threads of 256 MiB.

Where it ends in the middle of an import, the interpreter itself may fail to say so.
"""

_VARIABLES = {
    "COLUMNS": "500",
    "OPENBLAS_NUM_THREADS": "1",  # numpy's own threads would fail before ours
}

pytestmark = [pytest.mark.slow, pytest.mark.mounts]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an image of a disk with a project, a prime directory and a snap."""
    place = tmp_path_factory.mktemp("disk")
    prime = place / "disk/prime"
    text = "".join(f"line {number}\n" for number in range(100_000))
    run = f"#!/bin/sh\n{PAD}"
    fill(prime, {"meta/snap.yaml": SNAP_YAML, "run": run, "text": text})
    (place / "disk/snapcraft.yaml").write_text(f"name: sample\ncompression: xz\n{PAD}")
    # What is in the snap isn't compressed, so that the disk's blocks of it are.
    mksquashfs(prime, place / "disk/sample.snap", *OPTIONS, "-noI", "-noD")
    return mksquashfs(place / "disk", place / "image", *OPTIONS)


def broken(image: Path, path: str, blocks: slice) -> bytes:
    """Return a disk's image in which blocks of one file can't be decompressed."""
    content = bytearray(image.read_bytes())
    with Image.open(image) as opened:
        (entry,) = (each for each in opened.walk() if each.path == path)
        assert entry.blocks is not None
        for _, block in list(entry.blocks.filled_blocks())[blocks]:
            assert not block.is_stored
            end = block.position + block.stored_bytes
            content[block.position : end] = b"Z" * block.stored_bytes
    return bytes(content)


@contextmanager
def attached(image: Path, root: Path) -> Iterator[Path]:
    root.mkdir()
    subprocess.run(["mount", "-o", "loop,ro", image, root], check=True)
    try:
        yield root
    finally:
        subprocess.run(["umount", root], check=True)


def run(scratch: Path, *words: object, little_memory: bool = False) -> tuple[int, str]:
    """Run a command line; return its status and what it says."""

    def limit() -> None:
        sizes = (LITTLE_MEMORY_BYTES, LITTLE_MEMORY_BYTES)
        resource.setrlimit(resource.RLIMIT_AS, sizes)
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 28, 1 << 28))

    scratch.mkdir(exist_ok=True)
    result = subprocess.run(
        [sys.executable, "-m", "snapcraft_compression_advisor", *map(str, words)],
        env={**os.environ, **_VARIABLES, "TMPDIR": str(scratch)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit if little_memory else None,
    )
    said = result.stdout + result.stderr
    assert "Traceback" not in said
    assert list(scratch.iterdir()) == []
    return result.returncode, said


ALL, REST = slice(None), slice(1, None)


@pytest.mark.parametrize(
    ("path", "blocks", "words"),
    [
        ("prime/text", ALL, "advise prime"),
        ("prime/text", REST, "lint prime"),
        ("prime/text", REST, "advise --exact prime"),
        ("prime/meta/snap.yaml", ALL, "lint prime"),
        ("prime/run", ALL, "advise prime"),
        ("snapcraft.yaml", ALL, "set . --compression lzo"),
        ("sample.snap", ALL, "advise sample.snap"),
        ("sample.snap", slice(1, -1), "lint sample.snap"),
        ("sample.snap", slice(1, -1), "advise --exact sample.snap"),
    ],
)
def test_disk_that_cannot_be_read_is_a_storage_error(
    path: str, blocks: slice, words: str, disk: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(broken(disk, path, blocks))
    with attached(bad, tmp_path / "root") as root:
        places = {name: root / name for name in ("prime", "sample.snap", ".")}
        status, said = run(
            tmp_path / "scratch", *(places.get(word, word) for word in words.split())
        )
    assert status == os.EX_IOERR, said
    assert "disk" in said
    assert path.rpartition("/")[2] in said


@pytest.mark.parametrize("words", ["advise --exact", "lint --resquash"])
def test_full_scratch_disk_is_a_storage_error(
    words: str, disk: Path, tmp_path: Path
) -> None:
    with (
        small_disk(tmp_path / "small", "size=64k,nr_inodes=64") as small,
        attached(disk, tmp_path / "root") as root,
    ):
        status, said = run(small, *words.split(), root / "sample.snap")
    assert status == os.EX_IOERR, said
    assert "space" in said
    assert "TMPDIR" in said


@pytest.mark.parametrize("words", ["advise", "lint"])
def test_full_disk_for_the_report_is_a_storage_error(
    words: str, disk: Path, tmp_path: Path
) -> None:
    with attached(disk, tmp_path / "root") as root:
        status, said = run(
            tmp_path / "scratch", words, root / "prime", "-o", "/dev/full"
        )
    assert status == os.EX_IOERR, said
    assert "No space left on device" in said
    assert Path("/dev/full").is_char_device()


def test_too_little_memory_is_said(disk: Path, tmp_path: Path) -> None:
    with attached(disk, tmp_path / "root") as root:
        status, said = run(
            tmp_path / "scratch", "advise", root / "prime", little_memory=True
        )
    assert status == os.EX_OSERR, said
    assert "Not enough memory" in said
