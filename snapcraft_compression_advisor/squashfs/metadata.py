"""Metadata blocks, and the tables that are made of them.

A metadata block is a 16-bit header (bit 15: stored uncompressed; else its length in
the image) and up to 8 KiB of contents. The inode and directory tables are runs of
such blocks; the id, fragment and export tables are found through an index of
positions (kernel ``fs/squashfs/{cache,block,id,fragment,export}.c``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from ..codecs.codec import METADATA_BLOCK_BYTES
from ..core.errors import BadDataError
from ..core.units import MIB
from .image_file import ImageFile, damaged

HEADER_BYTES = 2
TABLE_LIMIT_BYTES = 64 * MIB
"""The most that one table may come to: some two million inodes.

A snap of 13,500 files has inode and directory tables of less than 2 MiB; the limit
is there for images that were made to exhaust memory.
"""

GROWTH_FREE_BYTES = 16 * MIB
GROWTH_LIMIT = 32
"""How far a table may grow when decompressed, beyond :data:`GROWTH_FREE_BYTES`.

Inodes and names of real trees come to 3 to 10 times their length in the image; a bomb
of zeros to 100 (xz) or 300 times (gzip)."""

_STORED_FLAG = 1 << 15
_POSITION = struct.Struct("<Q")


class MetadataTable(NamedTuple):
    """The contents of a run of metadata blocks.

    :param offsets: a block's position, counted from the table's start in the image,
        to its offset in ``contents``.
    """

    contents: bytes
    offsets: dict[int, int]

    def locate(self, block: int, offset: int) -> int | None:
        """Return the position in ``contents`` of a reference of the format, if any."""
        start = self.offsets.get(block)
        if start is None or offset >= min(
            METADATA_BLOCK_BYTES, len(self.contents) - start
        ):
            return None
        return start + offset


class MetadataReader:
    """Reads metadata blocks of an image.

    :param decompress: contents of a compressed block, of at most ``max_bytes``.
    :param end: used bytes of the image, behind which nothing may be.
    """

    def __init__(
        self, file: ImageFile, decompress: Callable[[bytes, int], bytes], end: int
    ) -> None:
        self._file = file
        self._decompress = decompress
        self._end = end

    def _contents(self, header: int, body: bytes) -> bytes:
        """Return the contents of a metadata block."""
        if header & _STORED_FLAG:
            return body
        try:
            return self._decompress(body, METADATA_BLOCK_BYTES)
        except BadDataError as error:
            reason = "a metadata block doesn't decompress"
            raise damaged(self._file.where, reason, details=str(error)) from error

    def block(self, position: int) -> bytes:
        """Return the contents of the metadata block at a position in the image.

        :raises BadDataError: if there is none, or a broken one.
        """
        if position + HEADER_BYTES > self._end:
            reason = f"metadata block at {position} is outside the image"
            raise damaged(self._file.where, reason)
        header = int.from_bytes(self._file.read(position, HEADER_BYTES), "little")
        length = self._stored_bytes(header, position)
        if position + HEADER_BYTES + length > self._end:
            reason = f"metadata block at {position} extends past the end of the image"
            raise damaged(self._file.where, reason)
        return self._contents(header, self._file.read(position + HEADER_BYTES, length))

    def _stored_bytes(self, header: int, position: int) -> int:
        """Return a metadata block's length in the image, without its header."""
        length = header & ~_STORED_FLAG
        if not 0 < length <= METADATA_BLOCK_BYTES:
            reason = f"metadata block at {position} claims {length} bytes"
            raise damaged(self._file.where, reason)
        return length

    def run(self, name: str, start: int, end: int) -> MetadataTable:
        """Return the table that the metadata blocks from start to end make up.

        :raises BadDataError: if the blocks don't fill the range exactly, one but the
            last isn't full, or the table is too large.
        """
        self._check_size(name, end - start)
        raw = self._file.read(start, end - start)
        parts: list[bytes] = []
        offsets: dict[int, int] = {}
        position = 0
        while position < len(raw):
            body = position + HEADER_BYTES
            header = int.from_bytes(raw[position:body], "little")
            after = body + self._stored_bytes(header, start + position)
            if after > len(raw) or (parts and len(parts[-1]) != METADATA_BLOCK_BYTES):
                raise damaged(
                    self._file.where, f"the blocks of its {name} aren't contiguous"
                )
            offsets[position] = len(parts) * METADATA_BLOCK_BYTES
            self._check_size(name, offsets[position] + METADATA_BLOCK_BYTES)
            parts.append(self._contents(header, raw[body:after]))
            self._check_growth(name, offsets[position] + len(parts[-1]), after)
            position = after
        return MetadataTable(b"".join(parts), offsets)

    def _check_size(self, name: str, size_bytes: int) -> None:
        """Refuse a table that no honest image has."""
        if size_bytes > TABLE_LIMIT_BYTES:
            reason = f"its {name} exceeds {TABLE_LIMIT_BYTES // MIB} MiB"
            raise damaged(self._file.where, reason)

    def _check_growth(self, name: str, size_bytes: int, stored_bytes: int) -> None:
        """Refuse a table that is far larger than its blocks in the image."""
        if size_bytes > GROWTH_FREE_BYTES + GROWTH_LIMIT * stored_bytes:
            reason = f"its {name} of {stored_bytes} bytes is implausibly large unpacked"
            raise damaged(self._file.where, reason)

    def index(self, name: str, start: int, size_bytes: int) -> tuple[int, ...]:
        """Return the positions of an indexed table's metadata blocks.

        :raises BadDataError: if the index isn't inside of the image, or its
            positions don't ascend as blocks that stand side by side do.
        """
        self._check_size(name, size_bytes)
        count = -(-size_bytes // METADATA_BLOCK_BYTES)
        if start + count * _POSITION.size > self._end:
            raise damaged(self._file.where, f"its {name} is outside the image")
        raw = self._file.read(start, count * _POSITION.size)
        positions = struct.unpack(f"<{count}Q", raw)
        longest = HEADER_BYTES + METADATA_BLOCK_BYTES
        for block, following in pairwise((*positions, start)):
            if not HEADER_BYTES < following - block <= longest:
                raise damaged(self._file.where, f"its {name} points to {block}")
        self._check_growth(name, size_bytes, start - min(positions, default=start))
        return positions

    def indexed(self, name: str, start: int, size_bytes: int) -> bytes:
        """Return the contents of a table that is found through an index.

        :raises BadDataError: if the table is broken or of another size.
        """
        positions = self.index(name, start, size_bytes)
        contents = b"".join(map(self.block, positions))
        if len(contents) != size_bytes:
            reason = f"its {name} has {len(contents)} of {size_bytes} bytes"
            raise damaged(self._file.where, reason)
        return contents
