"""What the reader says of right images, made byte by byte."""

from __future__ import annotations

import os
import struct
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from forged_image import (
    DATA_START,
    STORED,
    ForgedImage,
    extended_file_inode,
    file_inode,
    inode,
    listing,
    symlink_inode,
    tree,
)
from snapcraft_compression_advisor.squashfs.entry import (
    EntryKind,
    FragmentTail,
    ImageBlock,
    ImageEntry,
)
from snapcraft_compression_advisor.squashfs.image import Image

CONTENTS = bytes(range(256)) * 20
WHOLE = CONTENTS[:4096] + bytes(4096) + CONTENTS[4096:4106] + b"tail!"


DEVICES = EntryKind.BLOCK_DEVICE, EntryKind.CHARACTER_DEVICE
PIPES = EntryKind.FIFO, EntryKind.SOCKET


def whole_file() -> ForgedImage:
    """Return an image with a file of a stored, a sparse block and a tail."""
    record = file_inode(
        2, size=8192 + 15, words=[STORED | 4096, 0], fragment=1, offset=3
    )
    image = tree((b"file", record))
    image.data = CONTENTS[:4096] + b"..." + WHOLE[8192:]
    image.fragments = [(DATA_START, STORED | 1), (DATA_START + 4096, STORED | 18)]
    return image


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Image]:
    path = tmp_path / "x.snap"
    path.write_bytes(whole_file().build())
    with Image.open(path) as opened:
        yield opened


def only_file(image: Image) -> ImageEntry:
    (entry,) = (entry for entry in image.walk() if entry.path)
    return entry


def entry_of(path: Path, record: bytes, **changes: int) -> ImageEntry:
    path.write_bytes(tree((b"name", record), **changes).build())
    with Image.open(path) as image:
        return only_file(image)


def test_the_blocks_of_a_file_say_where_they_are(image: Image) -> None:
    blocks = only_file(image).blocks
    assert blocks is not None
    assert list(blocks) == [
        ImageBlock(
            position=DATA_START, stored_bytes=4096, raw_bytes=4096, is_stored=True
        ),
        ImageBlock(
            position=DATA_START + 4096, stored_bytes=0, raw_bytes=4096, is_stored=False
        ),
    ]
    assert [block.is_sparse for block in blocks] == [False, True]
    assert len(blocks) == 2
    assert blocks.stored_bytes == 4096
    assert blocks.fragment == FragmentTail(index=1, offset=3, size_bytes=15)
    assert list(blocks.blocks(1)) == list(blocks)[1:]


def test_a_fragment_block_is_found_without_reading_it(image: Image) -> None:
    assert image.fragment_block(1) == ImageBlock(
        position=DATA_START + 4096, stored_bytes=18, raw_bytes=4096, is_stored=True
    )


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(offset=st.integers(0, 9000), length=st.integers(0, 9000))
def test_any_range_of_a_file_reads_as_from_a_plain_file(
    image: Image, offset: int, length: int
) -> None:
    read = image.read(only_file(image), offset, length)
    assert read == WHOLE[offset : offset + length]


@pytest.mark.parametrize(("offset", "length"), [(-1, 5), (0, -1)])
def test_negative_ranges_are_the_callers_fault(
    image: Image, offset: int, length: int
) -> None:
    with pytest.raises(ValueError, match="of a FILE"):
        image.read(only_file(image), offset, length)
    with pytest.raises(ValueError, match="of a DIRECTORY"):
        image.read(next(image.walk()), 0, 1)


def test_neighbouring_small_reads_read_their_block_once(
    image: Image, mocker: MockerFixture
) -> None:
    entry = only_file(image)
    image.read(entry, 0, 1)
    reads = mocker.spy(os, "pread")
    for offset in range(0, 4096, 64):
        image.read(entry, offset, 64)
    assert reads.call_count == 0


def test_a_huge_sparse_file_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.snap"
    size = 1000 * 4096
    record = extended_file_inode(2, size=size, words=[0] * 1000)
    path.write_bytes(tree((b"sparse", record)).build())
    with Image.open(path) as image:
        entry = only_file(image)
        tracemalloc.start()
        assert image.read(entry, size - 5, 100) == bytes(5)
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert entry.size_bytes == size
    assert peak_bytes < 200_000


@pytest.mark.parametrize(
    ("form", "kind"),
    [(n, kind) for m in (4, 11) for n, kind in enumerate(DEVICES, m)],
)
def test_device_numbers_are_those_of_the_system(
    tmp_path: Path, form: int, kind: EntryKind
) -> None:
    encoded = 0x123 << 8 | 0x45 | 0x678 << 20
    body = struct.pack("<3I", 1, encoded, 0xFFFF_FFFF)
    entry = entry_of(tmp_path / "x", inode(form, 2, body))
    assert entry.kind is kind
    assert entry.device == os.makedev(0x123, 0x67845)


@pytest.mark.parametrize(
    ("form", "kind"), [(n, kind) for m in (6, 13) for n, kind in enumerate(PIPES, m)]
)
def test_pipes_and_sockets_have_their_kind(
    tmp_path: Path, form: int, kind: EntryKind
) -> None:
    entry = entry_of(tmp_path / "x", inode(form, 2, struct.pack("<2I", 1, 0)))
    assert (entry.kind, entry.size_bytes, entry.links) == (kind, 0, 1)


def test_the_extended_forms_say_what_the_basic_ones_say(tmp_path: Path) -> None:
    path = tmp_path / "x"
    link = entry_of(path, symlink_inode(2, b"to"))
    extended_link = entry_of(path, inode(10, 2, symlink_inode(2, b"to")[16:] + b"\xff"))
    assert link == extended_link
    assert (link.link_target, link.size_bytes) == ("to", 2)
    file = entry_of(path, file_inode(2, size=4097, words=[0, 0]))
    assert file == entry_of(path, extended_file_inode(2, size=4097, words=[0, 0]))


def test_an_extended_directory_is_walked_as_a_basic_one_is(tmp_path: Path) -> None:
    records = listing((b"pipe", 40))
    body = struct.pack("<4I2HI", 2, len(records) + 3, 0, 1, 0, 0, 0xFFFF_FFFF)
    raw = ForgedImage(
        inodes=inode(8, 1, body) + inode(6, 2, struct.pack("<I", 1)),
        directories=records,
        inode_count=2,
    ).build()
    path = tmp_path / "x.snap"
    path.write_bytes(raw)
    with Image.open(path) as image:
        root, pipe = image.walk()
    assert (root.path, root.links, root.size_bytes) == ("", 2, len(records) + 3)
    assert (pipe.path, pipe.kind) == ("pipe", EntryKind.FIFO)


def test_names_that_are_not_utf8_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "x.snap"
    path.write_bytes(tree((b"caf\xe9", symlink_inode(2, b"\xff"))).build())
    with Image.open(path) as image:
        entry = only_file(image)
    assert os.fsencode(entry.path) == b"caf\xe9"
    assert entry.link_target == "\udcff"
