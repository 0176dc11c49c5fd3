"""Squashfs images taken apart into their tables, and put together again.

So a test can change what a compressed table says: a byte that is changed in the image
itself mostly ends in an error of the codec, long before a table is looked at.
"""

import lzma
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from forged_image import ABSENT, METADATA_BYTES
from snapcraft_compression_advisor.codecs import CODECS, DECOMPRESSORS
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.codecs.zstandard import Zstd

Tables = dict[str, bytes]
SUPERBLOCK = struct.Struct("<5I6H8Q")
_FAST = {**CODECS, **{each.name: each for each in (Gzip(1), Lzo(1), Xz(0), Zstd(1))}}
_STORED = 1 << 15
_CODEC, _FLAGS, _USED = 5, 7, 12
_ID_START, _XATTR_START, _INODE_START, _DIRECTORY_START = 13, 14, 15, 16
_FRAGMENT_START, _EXPORT_START = 17, 18
_FRAGMENTS, _IDS, _INODES = 4, 8, 1
_INDEXED = (
    ("fragments", _FRAGMENT_START, _FRAGMENTS, 16),
    ("exports", _EXPORT_START, _INODES, 8),
    ("ids", _ID_START, _IDS, 4),
)
"""Tables with an index: name, its start's and its count's field, a record's bytes."""


@dataclass(kw_only=True)
class ImageParts:
    """An image's parts, all decompressed but its data.

    :param fields: of the superblock, in their order.
    :param data: from the superblock's end to the inode table.
    :param tables: by name: inodes, directories, fragments, exports, ids.
    :param overrides: fields of the superblock, by number, that lie on purpose.
    :param stored: whether tables are left uncompressed.
    :param shifts: added to positions in an index, by the table's name and the number.
    """

    fields: list[int]
    data: bytes
    tables: dict[str, bytes]
    stored: bool = False
    overrides: dict[int, int] = field(default_factory=dict)
    shifts: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def codec(self) -> str:
        """The codec by its name."""
        return DECOMPRESSORS[self.fields[_CODEC]].name


def take_apart(raw: bytes) -> ImageParts:
    """Return the parts of an image that is right as far as its tables go.

    :raises ValueError: if it isn't (or another error: its caller tries).
    """
    fields = list(SUPERBLOCK.unpack_from(raw))
    unpack = DECOMPRESSORS[fields[_CODEC]].decompress
    inodes, directories = fields[_INODE_START], fields[_DIRECTORY_START]
    if not SUPERBLOCK.size <= inodes <= directories <= len(raw):
        message = "its tables are out of order"
        raise ValueError(message)
    indexed: dict[str, bytes] = {}
    end = len(raw)
    for name, start, count, record in reversed(_INDEXED):
        indexed[name] = b""
        if fields[start] != ABSENT and fields[count]:
            blocks = -(-fields[count] * record // METADATA_BYTES)
            positions = struct.unpack_from(f"<{blocks}Q", raw, fields[start])
            indexed[name] = _run(raw, positions[0], fields[start], unpack)
            end = positions[0]
    return ImageParts(
        fields=fields,
        data=raw[SUPERBLOCK.size : inodes],
        tables={
            "inodes": _run(raw, inodes, directories, unpack),
            "directories": _run(raw, directories, end, unpack),
            **indexed,
        },
    )


def _run(raw: bytes, start: int, end: int, unpack: Callable[..., bytes]) -> bytes:
    """Return what the metadata blocks from start to end contain."""
    parts = []
    while start < end:
        (header,) = struct.unpack_from("<H", raw, start)
        body = raw[start + 2 : start + 2 + (header & ~_STORED)]
        stored = header & _STORED
        parts.append(body if stored else unpack(body, max_bytes=METADATA_BYTES))
        start += 2 + len(body)
        if not body:
            message = "an empty metadata block"
            raise ValueError(message)
    return b"".join(parts)


def put_together(parts: ImageParts) -> bytes:
    """Return an image of these parts, each table where it belongs."""
    fields = list(parts.fields)
    image = bytearray(SUPERBLOCK.size) + parts.data
    for name, start in (("inodes", _INODE_START), ("directories", _DIRECTORY_START)):
        fields[start] = len(image)
        image += b"".join(_blocks(parts, name))
    for name, start, _, _ in _INDEXED:
        contents = parts.tables[name]
        if contents or fields[start] != ABSENT:
            fields[start] = _add_indexed(image, parts, name)
    fields[_XATTR_START] = ABSENT
    fields[_USED] = len(image)
    for number, value in parts.overrides.items():
        fields[number] = value
    image[: SUPERBLOCK.size] = SUPERBLOCK.pack(*fields)
    return bytes(image)


def _add_indexed(image: bytearray, parts: ImageParts, name: str) -> int:
    """Add a table and its index; return the index's position."""
    positions = []
    for number, block in enumerate(_blocks(parts, name)):
        position = len(image) + parts.shifts.get((name, number), 0)
        positions.append(position & ABSENT)
        image += block
    index = len(image)
    image += struct.pack(f"<{len(positions)}Q", *positions)
    return index


def _blocks(parts: ImageParts, name: str) -> list[bytes]:
    """Return a table as metadata blocks, compressed where that makes them smaller."""
    contents = parts.tables[name]
    chunks = (
        contents[start : start + METADATA_BYTES]
        for start in range(0, len(contents), METADATA_BYTES)
    )
    return [_block(chunk, None if parts.stored else parts.codec) for chunk in chunks]


def _block(chunk: bytes, codec: str | None) -> bytes:
    compressed = chunk if codec is None else compress(chunk, codec)
    if len(compressed) < len(chunk):
        return struct.pack("<H", len(compressed)) + compressed
    return struct.pack("<H", len(chunk) | _STORED) + chunk


def compress(contents: bytes, codec: str) -> bytes:
    """Return contents compressed as blocks of an image are."""
    if codec in _FAST:
        return _FAST[codec].compress(contents, block_bytes=METADATA_BYTES)
    stream = lzma.compress(contents, lzma.FORMAT_ALONE, preset=0)
    return stream[:5] + struct.pack("<Q", len(contents)) + stream[13:]
