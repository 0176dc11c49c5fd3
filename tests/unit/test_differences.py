"""Where two images differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import forged_image as forged
from snapcraft_compression_advisor.core.files import first_difference
from snapcraft_compression_advisor.preflight.differences import (
    list_differences,
    part_at,
)
from snapcraft_compression_advisor.squashfs.image import Image

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024 * 1024


def written(path: Path, contents: bytes) -> Path:
    path.write_bytes(contents)
    return path


@pytest.mark.parametrize(
    ("left", "right", "position"),
    [
        (b"", b"", None),
        (b"abc", b"abc", None),
        (b"abc", b"abd", 2),
        (b"abc", b"ab", 2),
        (bytes(MIB) + b"a", bytes(MIB) + b"b", MIB),
        (bytes(MIB), bytes(MIB) + b"b", MIB),
        (bytes(2 * MIB), bytes(MIB) + b"\1" + bytes(MIB - 1), MIB),
    ],
)
def test_first_byte_that_differs_is_found(
    tmp_path: Path, left: bytes, right: bytes, position: int | None
) -> None:
    one, other = written(tmp_path / "a", left), written(tmp_path / "b", right)
    assert first_difference(one, other) == position


def image_bytes(data: bytes, *, name: bytes = b"file", **changes: int) -> bytes:
    """Return an image of one file, whose data are stored."""
    record = forged.file_inode(2, size=len(data), words=[len(data) | forged.STORED])
    built = forged.tree((name, record), **changes)
    built.data = data
    return built.build()


def differences(tmp_path: Path, first: bytes, second: bytes) -> list[tuple[str, str]]:
    one, other = written(tmp_path / "a", first), written(tmp_path / "b", second)
    with Image.open(one) as image, Image.open(other) as again:
        found = list_differences(one, image, other, again)
    return [(each.part, f"{each.path or ''}|{each.text}") for each in found]


def test_block_that_differs_is_named_with_its_file(tmp_path: Path) -> None:
    found = differences(tmp_path, image_bytes(b"one"), image_bytes(b"two"))
    assert found == [
        ("first difference", "|byte 96, in block 0 of 'file'"),
        (
            "data",
            "file|block 0: stored in 3 bytes, in the repack stored in 3 bytes",
        ),
    ]


def test_field_of_the_superblock_is_named(tmp_path: Path) -> None:
    found = differences(
        tmp_path, image_bytes(b"one", mkfs_time=7), image_bytes(b"one", mkfs_time=9)
    )
    assert found == [
        ("first difference", "|byte 8, in the superblock"),
        ("superblock", "|modified_s 7, in the repack 9"),
    ]


def test_file_that_is_in_one_only_is_named(tmp_path: Path) -> None:
    found = differences(
        tmp_path, image_bytes(b"one"), image_bytes(b"one", name=b"filf")
    )
    assert ("file", "file|is missing in the repack") in found
    assert ("file", "filf|is only in the repack") in found
    assert "in the directory table" in found[0][1]


def test_length_of_the_file_is_told(tmp_path: Path) -> None:
    image = image_bytes(b"one")
    found = differences(tmp_path, image + b"\0", image)
    assert found[0][1].endswith("in the padding")
    assert found[1] == (
        "size of the file",
        f"|{len(image) + 1} bytes, in the repack {len(image)}",
    )


def test_every_byte_of_an_image_has_its_part(tmp_path: Path) -> None:
    path = written(tmp_path / "a", image_bytes(b"one") + b"\0")
    with Image.open(path) as image:
        entries = {entry.path: entry for entry in image.walk()}
        parts = [part_at(image, entries, at) for at in range(image.image_bytes)]
    assert list(dict.fromkeys(parts)) == [
        "the superblock",
        "block 0 of 'file'",
        "the inode table",
        "the directory table or the next one",
        "the fragment table or the next one",
        "the id table",
        "the padding",
    ]
