"""Images that are small and claim to be huge: of inodes, names, blocks and contents."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from forged_image import (
    ABSENT,
    DATA_START,
    METADATA_BYTES,
    STORED,
    directory_inode,
    extended_file_inode,
    file_inode,
    inode,
    listing,
)
from image_parts import ImageParts, compress, put_together
from snapcraft_compression_advisor.core.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from image_parts import Tables

CODEC_IDS = {"gzip": 1, "lzma": 2, "lzo": 3, "xz": 4, "lz4": 5, "zstd": 6}
ROOT_BYTES = 32
LARGE_ROOT_BYTES = 40
WORDS_BYTES = 15 * MIB
"""Size words in one inode: as many as pass for a table that isn't a bomb."""


def image(  # noqa: PLR0913 - what a superblock tells apart
    tables: Tables,
    *,
    data: bytes = b"",
    inodes: int,
    codec: str = "gzip",
    block_log: int = 17,
    inode_start: int | None = None,
    stored: bool = False,
) -> bytes:
    """Return an image of these tables, with one id."""
    fields = [0x73717368, inodes, 0, 1 << block_log, 0, CODEC_IDS[codec]]
    fields += [block_log, 0, 1, 4, 0, 0, 0, 0, ABSENT, 0, 0, 0, ABSENT]
    empty = {"fragments": b"", "exports": b"", "ids": bytes(4)}
    parts = ImageParts(fields=fields, data=data, tables={**empty, **tables})
    parts.stored = stored
    if inode_start is not None:
        parts.overrides = {15: inode_start, 16: DATA_START + len(data)}
    return put_together(parts)


def large_directory(number: int, *, listing_bytes: int) -> bytes:
    """Return an extended directory's inode, whose listing may exceed 64 KiB."""
    body = struct.pack("<4I2HI", 2, listing_bytes + 3, 0, 0, 0, 0, 0xFFFF_FFFF)
    return inode(8, number, body)


def names_of(count: int, offset: int) -> bytes:
    """Return the records of many names of one inode."""
    return b"".join(
        listing(
            *((b"%06d" % number, offset) for number in range(start, start + 256)),
        )
        for start in range(0, count, 256)
    )


def holes(*, block_log: int = 17, words_bytes: int = WORDS_BYTES) -> bytes:
    """Return an image with one sparse file, of millions of blocks."""
    count = words_bytes // 4
    record = extended_file_inode(2, size=count << block_log, words=[0] * count)
    records = listing((b"sparse", ROOT_BYTES))
    root = directory_inode(1, listing_bytes=len(records))
    tables = {"inodes": root + record, "directories": records}
    return image(tables, inodes=2, block_log=block_log)


def linked(*, words: int, names: int) -> bytes:
    """Return an image in which many names lead to an inode of many blocks."""
    records = names_of(names, LARGE_ROOT_BYTES)
    root = large_directory(1, listing_bytes=len(records))
    record = extended_file_inode(2, size=words << 17, words=[0] * words, links=names)
    return image({"inodes": root + record, "directories": records}, inodes=2)


def deep(*, names: int) -> bytes:
    """Return an image of long paths: many names in the last of nested directories."""
    inodes, directories = b"", b""
    depth = 15
    for level in range(1, depth + 1):
        records = listing((b"d" * 255, level * ROOT_BYTES))
        inodes += directory_inode(
            level, listing_bytes=len(records), offset=len(directories)
        )
        directories += records
    records = names_of(names, depth * ROOT_BYTES + LARGE_ROOT_BYTES)
    last = struct.pack(
        *("<4I2HI", 2, len(records) + 3, 0, 0, 0, len(directories), 0xFFFF_FFFF)
    )
    inodes += inode(8, depth + 1, last) + inode(6, depth + 2, struct.pack("<I", 1))
    tables = {"inodes": inodes, "directories": directories + records}
    return image(tables, inodes=depth + 2)


def overlapping(*, files: int) -> bytes:
    """Return an image whose files each begin a byte behind the one before."""
    size = 128 * KIB
    inodes, records = b"", b""
    for number in range(files):
        offset = LARGE_ROOT_BYTES + len(inodes)
        position = offset // METADATA_BYTES * (METADATA_BYTES + 2)
        name = b"%06d" % number
        records += listing((name, offset % METADATA_BYTES), block=position)
        inodes += file_inode(
            number + 2, start=DATA_START + number, size=size, words=[STORED | size]
        )
    root = large_directory(1, listing_bytes=len(records))
    tables = {"inodes": root + inodes, "directories": records}
    data = bytes(size + files)
    return image(tables, data=data, inodes=files + 1, stored=True)


def block(codec: str, *, claimed_bytes: int = 4096) -> bytes:
    """Return an image with a block that decompresses to a MiB, and claims a page."""
    data = compress(bytes(MIB), codec)
    records = listing((b"bomb", ROOT_BYTES))
    root = directory_inode(1, listing_bytes=len(records))
    record = file_inode(2, size=claimed_bytes, words=[min(len(data), 4096)])
    tables = {"inodes": root + record, "directories": records}
    return image(tables, data=data, inodes=2, codec=codec, block_log=12)


def metadata(codec: str) -> bytes:
    """Return an image whose inode table is a block that decompresses to a MiB."""
    body = compress(bytes(MIB), codec)[: 8 * KIB]
    data = struct.pack("<H", len(body)) + body
    tables = {"inodes": bytes(100), "directories": b""}
    return image(tables, data=data, inodes=1, codec=codec, inode_start=DATA_START)


def bombs() -> Iterator[tuple[str, bytes]]:
    """Yield all of them with names for messages."""
    yield "holes", holes()
    yield "holes-in-large-blocks", holes(block_log=20)
    yield "holes-without-end", holes(words_bytes=60 * MIB)
    yield "links-just-allowed", linked(words=1000, names=4000)
    yield "links", linked(words=4000, names=20_000)
    yield "paths-just-allowed", deep(names=7000)
    yield "paths", deep(names=50_000)
    yield "overlapping-just-allowed", overlapping(files=400)
    yield "overlapping", overlapping(files=900)
    for codec in CODEC_IDS:
        yield f"block-{codec}", block(codec)
        yield f"metadata-{codec}", metadata(codec)
