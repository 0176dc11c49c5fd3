"""The contents of files: data blocks, fragment blocks, and ranges over them."""

from __future__ import annotations

import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from ..core.errors import BadDataError
from ..core.units import KIB, MIB
from .entry import STORED_FLAG, SUPERBLOCK_BYTES, FileBlocks, ImageBlock
from .image_file import ImageFile, damaged
from .superblock import Superblock

Decompress = Callable[[bytes, int], bytes]
FRAGMENT_RECORD = struct.Struct("<Q2I")
"""A fragment block's position, its size word, and four unused bytes."""
_FRAGMENTS_KEPT = 4  # small reads one after the other mostly stay in the same one
KEPT_BYTES = 32 * MIB
"""Looking into the libraries of a browser goes to and fro between some 500 blocks, most
of which it wants a few KiB of."""
LEAST_BYTES = 4 * KIB
"""What is decompressed of a block at least."""
_PART_MARGIN = 1.1
_PART_BYTES = KIB
"""What the beginning of a block's contents is taken to need beyond its share of the
stored bytes; if that isn't enough, half as much again is read."""


class ContentsReader:
    """Reads data and fragment blocks of an image.

    :param decompress: returns a compressed block's contents, of at most so many bytes.
    :param decompress_some: returns the first so many bytes of these; ``None`` if a
        codec can't stop in the middle.
    """

    def __init__(
        self,
        file: ImageFile,
        superblock: Superblock,
        decompress: Decompress,
        *,
        decompress_some: Decompress | None,
        fragments: bytes,
    ) -> None:
        self._file = file
        self._decompress_some = decompress_some
        self._superblock = superblock
        self._decompress = decompress
        self._fragments = fragments
        self._kept_blocks = KeptBlocks(sparing=file.is_remote)
        # One tuple, so that threads find the three of one read.
        self._reached: tuple[FileBlocks | None, int, int] = (None, 0, 0)
        self._kept_fragment = lru_cache(maxsize=_FRAGMENTS_KEPT)(self._fragment)

    def block(self, block: ImageBlock) -> bytes:
        """Return a data block's contents, see ``Image.read_block``."""
        if not 0 <= block.raw_bytes <= self._superblock.block_bytes:
            raise damaged(self._file.where, f"a data block of {block.raw_bytes} bytes")
        if block.is_sparse:
            return bytes(block.raw_bytes)
        return self._whole(block, block.raw_bytes, self._decompress)

    def _whole(self, block: ImageBlock, length: int, decompress: Decompress) -> bytes:
        """Return so many bytes of a block's contents, no fewer."""
        contents = self._read(block, length, decompress)
        if len(contents) != length:
            reason = f"the block at {block.position} has {len(contents)} bytes"
            raise damaged(self._file.where, f"{reason} instead of {length}")
        return contents

    def _read(self, block: ImageBlock, max_bytes: int, decompress: Decompress) -> bytes:
        """Return the bytes of a data or fragment block."""
        position, stored_bytes = block.position, block.stored_bytes
        end = position + stored_bytes
        inside = position >= SUPERBLOCK_BYTES and end <= self._superblock.used_bytes
        if not inside or not 0 < stored_bytes <= self._superblock.block_bytes:
            reason = f"no block of {stored_bytes} bytes can be at {position}"
            raise damaged(self._file.where, reason)
        raw = self._file.read(position, stored_bytes)
        if block.is_stored:
            return raw
        try:
            return decompress(raw, max_bytes)
        except BadDataError as error:
            reason = f"the block at {position} doesn't decompress"
            raise damaged(self._file.where, reason, details=str(error)) from error

    def fragment_block(self, index: int) -> ImageBlock:
        """Return the place of a fragment block, see ``Image.fragment_block``."""
        if not 0 <= index < self._superblock.fragment_count:
            raise damaged(self._file.where, f"no fragment {index}")
        offset = index * FRAGMENT_RECORD.size
        position, word, _ = FRAGMENT_RECORD.unpack_from(self._fragments, offset)
        return ImageBlock(
            position=position,
            stored_bytes=word & ~STORED_FLAG,
            raw_bytes=self._superblock.block_bytes,
            is_stored=bool(word & STORED_FLAG),
        )

    def _fragment(self, index: int) -> bytes:
        """Return a fragment block's contents: several files' tails."""
        block = self.fragment_block(index)
        return self._read(block, block.raw_bytes, self._decompress)

    def file_range(self, blocks: FileBlocks, offset: int, length: int) -> bytes:
        """Return a range of a file's contents, see ``Image.read``."""
        end = min(offset + length, blocks.size_bytes)
        if offset >= end:
            return b""
        return b"".join(self._pieces(blocks, offset, end))

    def _pieces(self, blocks: FileBlocks, offset: int, end: int) -> Iterator[bytes]:
        """Yield the parts that a range of a file has in each of its blocks."""
        first = offset // blocks.block_bytes
        position = self._position(blocks, first)
        for index, block in enumerate(blocks.blocks(first, position=position), first):
            start = index * blocks.block_bytes
            if start >= end:
                return
            contents = self._kept_blocks.beginning(
                block,
                min(end - start, block.raw_bytes),
                read=partial(self._beginning, block),
            )
            yield contents[max(0, offset - start) : end - start]
        start = len(blocks) * blocks.block_bytes
        if end > start:
            yield self._tail(blocks)[max(0, offset - start) : end - start]

    def _position(self, blocks: FileBlocks, first: int) -> int:
        """Return a block's position, counted on from the last read if possible."""
        # Reading a large file piece by piece would else take the square of its length.
        reached, index, position = self._reached
        if reached is not blocks or index > first:
            index, position = 0, blocks.start
        position += blocks.bytes_between(index, first)
        self._reached = (blocks, first, position)
        return position

    def _beginning(self, block: ImageBlock, length: int) -> bytes:
        """Return the first bytes of a block's contents, all if that is as cheap."""
        some = self._decompress_some
        whole = block.is_stored or block.is_sparse or length == block.raw_bytes
        if some is None or whole:
            return self.block(block)
        share = block.stored_bytes * length / block.raw_bytes
        part_bytes = round(_PART_MARGIN * share) + _PART_BYTES
        # Of a store, no more is read than that takes, or little more.
        while self._file.is_remote and part_bytes < block.stored_bytes:
            part = block._replace(stored_bytes=part_bytes)
            contents = self._read(part, length, some)
            if len(contents) == length:
                return contents
            part_bytes += part_bytes // 2
        return self._whole(block, length, some)

    def _tail(self, blocks: FileBlocks) -> bytes:
        """Return the tail of a file that is in a fragment block."""
        tail = blocks.fragment
        if tail is None:
            reason = "a file has fewer blocks than its size requires"
            raise damaged(self._file.where, reason)
        contents = self._kept_fragment(tail.index)
        end = tail.offset + tail.size_bytes
        if end > len(contents):
            reason = f"fragment {tail.index} ends before byte {end}"
            raise damaged(self._file.where, reason)
        return contents[tail.offset : end]


class KeptBlocks:
    """The beginnings of the blocks that were read last.

    A block is decompressed only as far as it is wanted, and again, then twice as far at
    least, if more of it is. Several threads may ask at once.

    :param sparing: whether reading costs more than decompressing again: then no more of
        a block is read than is wanted.
    """

    def __init__(self, *, sparing: bool = False) -> None:
        self._sparing = sparing
        self._kept: OrderedDict[ImageBlock, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()

    def beginning(
        self,
        block: ImageBlock,
        wanted_bytes: int,
        *,
        read: Callable[[int], bytes],
    ) -> bytes:
        """Return the beginning of a block, as long as wanted or longer."""
        with self._lock:
            kept = self._kept.get(block, b"")
            if len(kept) >= wanted_bytes and kept:
                self._kept.move_to_end(block)
                return kept
        if self._sparing:
            wanted_bytes = -(-wanted_bytes // LEAST_BYTES) * LEAST_BYTES
        else:
            wanted_bytes = max(wanted_bytes, 2 * len(kept))
        contents = read(min(block.raw_bytes, max(LEAST_BYTES, wanted_bytes)))
        with self._lock:
            before = self._kept.pop(block, b"")  # another thread may have wanted more
            longest = self._kept[block] = max(before, contents, key=len)
            self._kept_bytes += len(longest) - len(before)
            while self._kept_bytes > KEPT_BYTES:
                _, dropped = self._kept.popitem(last=False)
                self._kept_bytes -= len(dropped)
        return contents
