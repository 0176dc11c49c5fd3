"""Compressed blocks are the very bytes that mksquashfs writes."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import shake_128
from io import BytesIO
from pathlib import Path
from struct import unpack

import pytest

from snapcraft_compression_advisor.codecs import CODECS, READERS
from snapcraft_compression_advisor.codecs.codec import METADATA_BLOCK_BYTES, Codec
from snapcraft_compression_advisor.squashfs.image import Image

NO_COMPRESSION = ("-comp", "gzip", "-noI", "-noD", "-noF", "-noX")
REAL_FILES = (
    *("/usr/bin/bash", "/usr/bin/openssl", "/usr/bin/mksquashfs"),
    *("/usr/share/common-licenses/GPL-3", "/usr/share/dict/words", "/etc/services"),
)
NOISE = shake_128(b"noise").digest(300_000)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tree of programs, text, generated data and many small files: 5 MB."""
    root = tmp_path_factory.mktemp("tree")
    for path in map(Path, (*REAL_FILES, os.__file__)):
        if path.is_file():
            shutil.copyfile(path, root / path.name)
    (root / "noise").write_bytes(NOISE)
    (root / "noise-and-zeros").write_bytes(NOISE[:100_000] + bytes(100_000))
    # Around where a block stops shrinking: after some zeros, for lz4 and lzo 580.
    for zeros in (*range(0, 200, 40), *range(500, 620, 12)):
        (root / f"barely-{zeros}").write_bytes(NOISE[zeros : 2**17] + bytes(zeros))
        (root / f"tail-{zeros}").write_bytes(NOISE[:1500] + b"-" * zeros)
    (root / "many").mkdir()
    for number in range(600):
        (root / "many" / f"file-{number * number}").write_text(f"number {number}\n" * 9)
    return root


def exact(name: str) -> Codec:
    codec = CODECS[name]
    if not codec.exact:
        pytest.skip(f"{name} is not exact here: {codec.implementation}")
    return codec


def pack(tree: Path, codec: str, image: Path, *, block_bytes: int) -> Path:
    mksquashfs = shutil.which("mksquashfs")
    if mksquashfs is None:
        pytest.skip("mksquashfs is not installed")
    compression = NO_COMPRESSION if codec == "none" else ("-comp", codec)
    command = (
        *(mksquashfs, str(tree), str(image), "-noappend", "-no-fragments"),
        *("-no-progress", "-b", str(block_bytes), *compression),
    )
    subprocess.run(command, check=True, capture_output=True)
    return image


def data_blocks(image: Path, tree: Path) -> Iterator[tuple[bytes, bytes, bool]]:
    """Yield each block's contents, its bytes in the image, and whether it's stored."""
    raw = image.read_bytes()
    with Image.open(image) as opened:
        for entry in opened.walk():
            if entry.blocks is None:
                continue
            contents = BytesIO((tree / entry.path).read_bytes())
            for block in entry.blocks:
                end = block.position + block.stored_bytes
                written = raw[block.position : end]
                expected = contents.read(block.raw_bytes)
                if not block.is_sparse:
                    yield expected, written, block.is_stored


def inode_blocks(image: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield each inode table block's bytes in the image, and whether it's stored."""
    with Image.open(image) as opened:
        start = opened.superblock.inode_table_start
        end = opened.superblock.directory_table_start
    table = BytesIO(image.read_bytes()[start:end])
    while header := table.read(2):
        (word,) = unpack("<H", header)
        yield table.read(word & 0x7FFF), bool(word & 0x8000)


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("block_bytes", [4096, 131072, 1048576])
def test_data_blocks_are_those_of_mksquashfs(
    name: str, block_bytes: int, tree: Path, tmp_path: Path
) -> None:
    codec = exact(name)
    image = pack(tree, name, tmp_path / "image", block_bytes=block_bytes)
    kinds = set()
    for contents, written, stored in data_blocks(image, tree):
        assert codec.compress(contents, block_bytes=block_bytes) == written
        assert stored == (len(written) == len(contents))
        kinds.add(stored)
    assert kinds == ({True} if name == "none" else {True, False})


@pytest.mark.parametrize("name", [name for name in CODECS if name != "none"])
@pytest.mark.parametrize("block_bytes", [4096, 131072])
def test_metadata_blocks_are_those_of_mksquashfs(
    name: str, block_bytes: int, tree: Path, tmp_path: Path
) -> None:
    codec = exact(name)
    image = pack(tree / "many", name, tmp_path / "image", block_bytes=block_bytes)
    lengths = []
    for written, stored in inode_blocks(image):
        assert not stored
        contents = codec.decompress(written, max_bytes=METADATA_BLOCK_BYTES)
        again = codec.compress(contents, block_bytes=METADATA_BLOCK_BYTES)
        assert again == written
        lengths.append(len(contents))
    assert lengths[:-1] == [METADATA_BLOCK_BYTES] * (len(lengths) - 1)
    assert len(lengths) > 1


def test_legacy_lzma_blocks_are_read(tree: Path, tmp_path: Path) -> None:
    try:
        image = pack(tree, "lzma", tmp_path / "image", block_bytes=131072)
    except subprocess.CalledProcessError:
        pytest.skip("this mksquashfs is built without lzma")
    reader = READERS["lzma"]
    compressed = [block for block in data_blocks(image, tree) if not block[2]]
    assert compressed
    for contents, written, _ in compressed:
        assert reader.decompress(written, max_bytes=131072) == contents
