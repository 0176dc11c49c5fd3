"""The contents of files: data blocks, fragment blocks, and ranges over them."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.errors import BadDataError
from snapcraft_compression_advisor.squashfs.damage import damaged
from snapcraft_compression_advisor.squashfs.entry import STORED_FLAG, FragmentBlock
from snapcraft_compression_advisor.squashfs.superblock import SUPERBLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from snapcraft_compression_advisor.squashfs.entry import FileBlocks
    from snapcraft_compression_advisor.squashfs.image_file import ImageFile
    from snapcraft_compression_advisor.squashfs.superblock import Superblock

FRAGMENT_RECORD = struct.Struct("<Q2I")
"""A fragment block's position, its size word, and four unused bytes."""
_BLOCKS_KEPT = 4  # small reads one after the other mostly stay in the same block


class ContentsReader:
    """Reads data and fragment blocks of an image.

    :param file: the image's file.
    :param decompress: contents of a compressed block, of at most ``max_bytes``.
    :param fragments: the fragment table's contents.
    """

    def __init__(
        self,
        file: ImageFile,
        superblock: Superblock,
        decompress: Callable[[bytes, int], bytes],
        *,
        fragments: bytes,
    ) -> None:
        self._file = file
        self._superblock = superblock
        self._decompress = decompress
        self._fragments = fragments
        self._kept_block = lru_cache(maxsize=_BLOCKS_KEPT)(self.block)
        self._kept_fragment = lru_cache(maxsize=_BLOCKS_KEPT)(self.fragment)

    def block(
        self, *, position: int, stored_bytes: int, is_stored: bool, raw_bytes: int
    ) -> bytes:
        """Return a data block's contents, see ``Image.read_block``."""
        if not 0 <= raw_bytes <= self._superblock.block_bytes:
            raise damaged(self._file.where, f"a data block of {raw_bytes} bytes")
        if stored_bytes == 0:
            return bytes(raw_bytes)
        contents = self._read(position, stored_bytes, raw_bytes, is_stored=is_stored)
        if len(contents) != raw_bytes:
            reason = f"the block at {position} has {len(contents)} bytes"
            raise damaged(self._file.where, f"{reason} instead of {raw_bytes}")
        return contents

    def _read(
        self, position: int, stored_bytes: int, max_bytes: int, *, is_stored: bool
    ) -> bytes:
        """Return what a data or fragment block contains."""
        end = position + stored_bytes
        inside = position >= SUPERBLOCK_BYTES and end <= self._superblock.used_bytes
        if not inside or not 0 < stored_bytes <= self._superblock.block_bytes:
            reason = f"no block of {stored_bytes} bytes can be at {position}"
            raise damaged(self._file.where, reason)
        raw = self._file.read(position, stored_bytes)
        if is_stored:
            return raw
        try:
            return self._decompress(raw, max_bytes)
        except BadDataError as error:
            reason = f"the block at {position} doesn't decompress"
            raise damaged(self._file.where, reason, details=str(error)) from error

    def fragment_block(self, index: int) -> FragmentBlock:
        """Return where a fragment block is, see ``Image.fragment_block``."""
        if not 0 <= index < self._superblock.fragment_count:
            raise damaged(self._file.where, f"no fragment {index}")
        offset = index * FRAGMENT_RECORD.size
        position, word, _ = FRAGMENT_RECORD.unpack_from(self._fragments, offset)
        return FragmentBlock(
            position=position,
            stored_bytes=word & ~STORED_FLAG,
            is_stored=bool(word & STORED_FLAG),
        )

    def fragment(self, index: int) -> bytes:
        """Return a fragment block's contents, see ``Image.read_fragment``."""
        block = self.fragment_block(index)
        return self._read(
            block.position,
            block.stored_bytes,
            self._superblock.block_bytes,
            is_stored=block.is_stored,
        )

    def file_range(self, blocks: FileBlocks, offset: int, length: int) -> bytes:
        """Return a range of a file's contents, see ``Image.read``."""
        end = min(offset + length, blocks.size_bytes)
        if offset >= end:
            return b""
        return b"".join(self._pieces(blocks, offset, end))

    def _pieces(self, blocks: FileBlocks, offset: int, end: int) -> Iterator[bytes]:
        """Yield the parts that a range of a file has in each of its blocks."""
        first = offset // blocks.block_bytes
        for index, block in enumerate(blocks.blocks(first), first):
            start = index * blocks.block_bytes
            if start >= end:
                return
            contents = self._kept_block(
                position=block.position,
                stored_bytes=block.stored_bytes,
                is_stored=block.is_stored,
                raw_bytes=block.raw_bytes,
            )
            yield contents[max(0, offset - start) : end - start]
        start = len(blocks) * blocks.block_bytes
        if end > start:
            yield self._tail(blocks)[max(0, offset - start) : end - start]

    def _tail(self, blocks: FileBlocks) -> bytes:
        """Return the tail of a file that is in a fragment block."""
        tail = blocks.fragment
        if tail is None:
            raise damaged(self._file.where, "a file has fewer blocks than its size")
        contents = self._kept_fragment(tail.index)
        end = tail.offset + tail.size_bytes
        if end > len(contents):
            reason = f"fragment {tail.index} ends before byte {end}"
            raise damaged(self._file.where, reason)
        return contents[tail.offset : end]
