"""Metadata blocks of an image, and what is read of its contents."""

import os
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from forged_image import (
    ABSENT,
    DATA_START,
    STORED,
    ForgedImage,
    extended_file_inode,
    file_inode,
    inode,
    listing,
    metadata_blocks,
    superblock,
    symlink_inode,
    tree,
)
from snapcraft_compression_advisor import codecs
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.squashfs import metadata
from snapcraft_compression_advisor.squashfs.entry import (
    SUPERBLOCK_BYTES,
    EntryKind,
    FragmentTail,
    ImageBlock,
    ImageEntry,
)
from snapcraft_compression_advisor.squashfs.image import Image
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


CONTENTS = bytes(range(256)) * 20
WHOLE = CONTENTS[:4096] + bytes(4096) + CONTENTS[4096:4106] + b"tail!"


SPECIAL_FILES = (
    EntryKind.BLOCK_DEVICE,
    EntryKind.CHARACTER_DEVICE,
    EntryKind.FIFO,
    EntryKind.SOCKET,
)


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
    [(n, kind) for m in (4, 11) for n, kind in enumerate(SPECIAL_FILES, m)],
)
def test_special_files_have_their_kind(
    tmp_path: Path, form: int, kind: EntryKind
) -> None:
    entry = entry_of(tmp_path / "x", inode(form, 2, struct.pack("<3I", 1, 0, 0)))
    assert (entry.kind, entry.size_bytes) == (kind, 0)


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
    assert (root.path, root.size_bytes) == ("", len(records) + 3)
    assert (pipe.path, pipe.kind) == ("pipe", EntryKind.FIFO)


def test_names_that_are_not_utf8_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "x.snap"
    path.write_bytes(tree((b"caf\xe9", symlink_inode(2, b"\xff"))).build())
    with Image.open(path) as image:
        entry = only_file(image)
    assert os.fsencode(entry.path) == b"caf\xe9"
    assert entry.link_target == "\udcff"
