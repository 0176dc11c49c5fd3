"""Whether data are where mksquashfs writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import forged_image as forged
from snapcraft_compression_advisor.preflight.packing import find_order_fault
from snapcraft_compression_advisor.squashfs.image import Image

if TYPE_CHECKING:
    from pathlib import Path

START = forged.DATA_START


def fault(
    path: Path, *starts: int, data: bytes = bytes(20), **changes: int
) -> tuple[str, str] | None:
    """Return what is found in an image of files of ten bytes, by their starts."""
    files = [
        (
            f"f{number}".encode(),
            forged.file_inode(
                number + 2, size=10, start=start, words=[10 | forged.STORED]
            ),
        )
        for number, start in enumerate(starts)
    ]
    built = forged.tree(*files, **changes)
    built.data = data
    path.write_bytes(built.build())
    with Image.open(path) as image:
        found = find_order_fault(image, list(image.walk()))
    return None if found is None else (found.path, found.text)


@pytest.mark.parametrize("starts", [(START, START + 10), (START, START + 10, START)])
def test_files_one_behind_the_other_are_in_order(
    tmp_path: Path, starts: tuple[int, ...]
) -> None:
    assert fault(tmp_path / "image", *starts) is None


def test_first_file_out_of_order_is_named(tmp_path: Path) -> None:
    found = fault(tmp_path / "image", START + 10, START)
    assert found == ("f0", "its data is at byte 106, mksquashfs writes it at 96")


def test_gap_between_files_is_found(tmp_path: Path) -> None:
    found = fault(tmp_path / "image", START, START + 15, data=bytes(25))
    assert found == ("f1", "its data is at byte 111, mksquashfs writes it at 106")


def test_gap_behind_the_last_file_is_found(tmp_path: Path) -> None:
    found = fault(tmp_path / "image", START, START + 10, data=bytes(27))
    assert found == ("", "7 bytes between the last file and the inode table")


def test_files_stand_behind_compressor_options(tmp_path: Path) -> None:
    options = b"\x04\x80\1\2\3\4"  # a stored metadata block of four bytes
    found = fault(
        tmp_path / "image",
        START + 6,
        START + 16,
        data=options + bytes(20),
        flags=1 << 10,
    )
    assert found is None


def test_images_with_fragments_are_not_looked_at(tmp_path: Path) -> None:
    built = forged.tree((b"f", forged.file_inode(2)))
    built.fragments = [(START, 5 | forged.STORED)]
    built.data = bytes(40)
    (tmp_path / "image").write_bytes(built.build())
    with Image.open(tmp_path / "image") as image:
        assert find_order_fault(image, list(image.walk())) is None
