"""Decompression of legacy lzma blocks, through Python's own lzma."""

from __future__ import annotations

import lzma

from .codec import Decompressor, broken_block
from .xz import MEMORY_BYTES, decompress_stream

_PROPERTIES_BYTES = 5
_HEADER_BYTES = 13
"""An LZMA-alone header: 5 bytes of properties, the contents' length in 8."""

_LENGTH_UNKNOWN = b"\xff" * 8


class LegacyLzma(Decompressor):
    """LZMA-alone, id 2 in the superblock: written by old tools, never for snaps."""

    name = "lzma"
    squashfs_id = 2

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`.

        The header gives the contents' length, and old liblzma takes that to mean
        that no end marker follows; mksquashfs writes both. So liblzma doesn't
        get the length (``lzma_xz_wrapper.c`` does the same).
        """
        if len(block) < _HEADER_BYTES:
            raise broken_block(self.name, "the header is truncated")
        length = int.from_bytes(block[_PROPERTIES_BYTES:_HEADER_BYTES], "little")
        if length > max_bytes:
            raise broken_block(self.name, f"more than {max_bytes} bytes")
        unmeasured = block[:_PROPERTIES_BYTES] + _LENGTH_UNKNOWN + block[_HEADER_BYTES:]
        stream = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=MEMORY_BYTES)
        contents = decompress_stream(stream, unmeasured, length, name=self.name)
        if len(contents) < length:
            raise broken_block(self.name, "the stream is truncated")
        return contents
