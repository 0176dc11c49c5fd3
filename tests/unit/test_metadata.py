"""The superblock and the tables of an image."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forged_image import ABSENT, metadata_blocks, superblock
from snapcraft_compression_advisor import codecs
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.squashfs import metadata
from snapcraft_compression_advisor.squashfs.entry import SUPERBLOCK_BYTES
from snapcraft_compression_advisor.squashfs.image_file import ImageFile
from snapcraft_compression_advisor.squashfs.metadata import MetadataReader
from snapcraft_compression_advisor.squashfs.superblock import parse_superblock

MakeReader = Callable[[bytes], MetadataReader]


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"magic": 0x464C457F}, "not a squashfs image"),
        ({"major": 3, "minor": 1}, "squashfs version 3.1 isn't supported"),
        ({"minor": 1}, "squashfs version 4.1 isn't supported"),
        ({"block_size": 5000}, "block size 5000 isn't 2.12"),
        ({"block_log": 17}, "block size 4096 isn't 2.17"),
        ({"block_log": 11, "block_size": 2048}, "block log 11"),
        ({"block_log": 21, "block_size": 1 << 21}, "block log 21"),
        ({"block_log": 65535}, "block log 65535"),
        ({"compression": 7}, "unknown compression id 7"),
        ({"inodes": 0}, "no inodes or no ids"),
        ({"no_ids": 0}, "no inodes or no ids"),
        ({"used": 1001}, "truncated to 1000 of 1001 bytes"),
        ({"used": ABSENT}, "truncated"),
        ({"inode_start": 95}, "inode table .95. is before its superblock"),
        ({"directory_start": 199}, "directory table .199. is before its inode"),
        ({"directory_start": 901}, "id table .900. is before its directory"),
        ({"id_start": 1001}, "end .1000. is before its id table"),
        ({"fragments": 1, "fragment_start": 901}, "before its fragment table"),
        ({"fragments": 1, "fragment_start": 299}, "before its directory table"),
        ({"export_start": 901}, "before its export table"),
        ({"export_start": 299}, "before its directory table"),
    ],
)
def test_a_superblock_that_contradicts_itself_is_refused(
    changes: dict[str, int], finding: str
) -> None:
    with pytest.raises(BadDataError, match=rf"^bad\.snap: .*{finding}") as caught:
        parse_superblock(superblock(**changes), image_bytes=1000, where="bad.snap")
    assert caught.value.retcode == 65
    assert caught.value.resolution


def test_the_place_of_an_absent_fragment_table_does_not_matter() -> None:
    raw = superblock(fragments=0, fragment_start=ABSENT)
    assert parse_superblock(raw, image_bytes=1000, where="x").fragment_count == 0


@pytest.mark.parametrize("length", [0, 1, SUPERBLOCK_BYTES - 1])
def test_fewer_than_96_bytes_are_no_superblock(length: int) -> None:
    with pytest.raises(BadDataError, match=rf"too short.*\({length} bytes\)"):
        parse_superblock(superblock()[:length], image_bytes=length, where="x")


def test_a_big_endian_image_is_named_as_such() -> None:
    raw = bytearray(superblock())
    struct.pack_into(">I", raw, 0, 0x73717368)
    struct.pack_into(">2H", raw, 28, 3, 1)
    with pytest.raises(BadDataError, match=r"big-endian squashfs version 3\.1"):
        parse_superblock(bytes(raw), image_bytes=1000, where="x")


@pytest.fixture
def reader_of(tmp_path: Path) -> Iterator[MakeReader]:
    """Yield a function that returns a reader of given bytes."""
    path = tmp_path / "image"
    files: list[ImageFile] = []

    def decompress(block: bytes, max_bytes: int) -> bytes:
        return codecs.READERS["gzip"].decompress(block, max_bytes=max_bytes)

    def make(raw: bytes) -> MetadataReader:
        path.write_bytes(raw)
        files.append(ImageFile(path))
        return MetadataReader(files[-1], decompress, len(raw))

    yield make
    for file in files:
        file.close()


def compressed(contents: bytes) -> bytes:
    body = zlib.compress(contents)
    return struct.pack("<H", len(body)) + body


def test_stored_and_compressed_blocks_have_their_contents(
    reader_of: MakeReader,
) -> None:
    stored = metadata_blocks(b"abc")
    reader = reader_of(stored + compressed(b"d" * 8192))
    assert reader.block(0) == b"abc"
    assert reader.block(len(stored)) == b"d" * 8192


def test_a_run_joins_its_blocks_and_finds_references(reader_of: MakeReader) -> None:
    first = compressed(bytes(8192))
    table = reader_of(first + metadata_blocks(b"tail")).run(
        "inode table", 0, len(first) + 6
    )
    assert table.contents == bytes(8192) + b"tail"
    assert table.locate(0, 8191) == 8191
    assert table.locate(len(first), 3) == 8195
    assert table.locate(0, 8192) is None
    assert table.locate(len(first), 4) is None
    assert table.locate(1, 0) is None


@pytest.mark.parametrize(
    ("raw", "finding"),
    [
        (b"\x00", "outside"),
        (b"\x00\x00", "claims 0 bytes"),
        (b"\x00\x80", "claims 0 bytes"),
        (b"\x01\xa0" + bytes(8193), "claims 8193 bytes"),
        (b"\x05\x80abcd", "past the end of the image"),
        (b"\x04\x00abcd", "doesn't decompress"),
        (compressed(bytes(8193)), "doesn't decompress"),
        (compressed(bytes(5_000_000)), "doesn't decompress"),
    ],
)
def test_a_broken_block_is_refused(
    reader_of: MakeReader, raw: bytes, finding: str
) -> None:
    with pytest.raises(BadDataError, match=finding):
        reader_of(raw).block(0)


@pytest.mark.parametrize(
    "raw",
    [
        metadata_blocks(b"short") + metadata_blocks(b"more"),
        metadata_blocks(b"whole")[:-1],
        metadata_blocks(bytes(8192)) + b"\x01",
    ],
    ids=["a block in the middle is short", "the last is cut", "half a header"],
)
def test_a_run_whose_blocks_do_not_fill_it_is_refused(
    reader_of: MakeReader, raw: bytes
) -> None:
    with pytest.raises(BadDataError, match=r"aren't contiguous|claims 0"):
        reader_of(raw).run("inode table", 0, len(raw))


def test_a_table_past_the_limit_is_refused_before_it_takes_memory(
    reader_of: MakeReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "TABLE_LIMIT_BYTES", 2**20)
    bomb = compressed(bytes(8192)) * 1000
    with pytest.raises(BadDataError, match="inode table exceeds 1 MiB"):
        reader_of(bomb).run("inode table", 0, len(bomb))


def test_an_indexed_table_is_joined_from_its_blocks(reader_of: MakeReader) -> None:
    contents = bytes(8192) + b"more"
    blocks = metadata_blocks(contents)
    raw = blocks + struct.pack("<2Q", 0, 8194)
    assert reader_of(raw).indexed("id table", len(blocks), 8196) == contents


@pytest.mark.parametrize(
    ("index", "size_bytes", "finding"),
    [
        ((0,), 4, "has 8 of 4 bytes"),
        ((0,), 12, "has 8 of 12 bytes"),
        ((0, 0), 8200, "points to 0"),
        ((10**9,), 8, "points to 1000000000"),
        ((2**64 - 1,), 8, "points to 18446744073709551615"),
        ((8,), 8, "points to 8"),
        ((0,), 8200, "outside the image"),
        ((0,), 2**36, "exceeds 64 MiB"),
    ],
)
def test_an_index_that_does_not_fit_its_table_is_refused(
    reader_of: MakeReader, index: tuple[int, ...], size_bytes: int, finding: str
) -> None:
    blocks = metadata_blocks(b"8 bytes!")
    raw = blocks + struct.pack(f"<{len(index)}Q", *index)
    with pytest.raises(BadDataError, match=finding):
        reader_of(raw).indexed("id table", len(blocks), size_bytes)
