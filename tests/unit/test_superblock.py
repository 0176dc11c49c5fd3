"""The superblock: read, and refused where it contradicts itself."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from forged_image import ABSENT, superblock
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.squashfs.superblock import (
    SUPERBLOCK_BYTES,
    parse_superblock,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_every_field_is_read_from_its_place() -> None:
    parsed = parse_superblock(
        superblock(inodes=17, fragments=5, flags=1232, no_ids=3, root=0x1234_0056),
        image_bytes=4096,
        where="some.snap",
    )
    assert parsed.inode_count == 17
    assert parsed.modified_s == 1_600_000_000
    assert parsed.block_bytes == 4096
    assert parsed.fragment_count == 5
    assert parsed.codec == "gzip"
    assert parsed.id_count == 3
    assert parsed.root_inode_reference == 0x1234_0056
    assert parsed.used_bytes == 1000
    assert parsed.inode_table_start == 200
    assert parsed.directory_table_start == 300
    assert parsed.fragment_table_start == 400
    assert parsed.id_table_start == 900
    assert parsed.xattr_table_start == parsed.export_table_start == ABSENT


@pytest.mark.parametrize(
    ("identifier", "name"),
    [(1, "gzip"), (2, "lzma"), (3, "lzo"), (4, "xz"), (5, "lz4"), (6, "zstd")],
)
def test_compression_ids_are_named_as_mksquashfs_spells_them(
    identifier: int, name: str
) -> None:
    raw = superblock(compression=identifier)
    assert parse_superblock(raw, image_bytes=1000, where="x").codec == name


@pytest.mark.parametrize(
    ("bit", "flag"),
    [
        (1, "uncompressed_data"),
        (10, "has_compressor_options"),
    ],
)
def test_each_flag_is_its_own_bit(bit: int, flag: str) -> None:
    alone = parse_superblock(superblock(flags=1 << bit), image_bytes=1000, where="x")
    rest = superblock(flags=0xFFFF & ~(1 << bit))
    others = parse_superblock(rest, image_bytes=1000, where="x")
    assert getattr(alone, flag) is True
    assert getattr(others, flag) is False


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


def test_image_behind_something_else_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "app.snap"
    path.write_bytes(b"\x7fELF hsqs" + bytes(200_000) + superblock() + bytes(2_000))
    with pytest.raises(BadDataError, match="begins at byte 200,009, so it is no snap"):
        Image.open(path)
    path.write_bytes(b"\x7fELF hsqs" + bytes(200_000))
    with pytest.raises(BadDataError, match="not a squashfs image"):
        Image.open(path)
