"""Decompression of xz and of legacy lzma blocks, through Python's own lzma."""

from __future__ import annotations

import lzma

from snapcraft_compression_advisor.codecs.bound import broken_block

_MEMORY_BYTES = 32 * 1024 * 1024
"""``MEMLIMIT`` of squashfs-tools' wrappers: far above a dictionary of 1 MiB."""

_PROPERTIES_BYTES = 5
_HEADER_BYTES = 13
"""An LZMA-alone header: 5 bytes of properties, the contents' length in 8."""

_XZ = "xz"
_LENGTH_UNKNOWN = b"\xff" * 8


def decompress_xz(block: bytes, *, max_bytes: int) -> bytes:
    """Return the contents of a block that is one .xz stream.

    :param block: the compressed block; nothing may follow the stream.
    :param max_bytes: the most that the contents may come to.
    :raises BadDataError: where the block is broken, cut short or comes to more.
    """
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY_BYTES)
    # One byte more: with its output full, liblzma leaves the footer unread.
    contents = _decompress(stream, block, max_bytes + 1, name=_XZ)
    if len(contents) > max_bytes:
        raise broken_block(_XZ, f"more than {max_bytes} bytes")
    if not stream.eof:
        raise broken_block(_XZ, "the stream is cut short")
    if stream.unused_data:
        raise broken_block(_XZ, "bytes follow the stream")
    return contents


def decompress_xz_some(block: bytes, length: int) -> bytes:
    """Return the first bytes of a block that is one .xz stream.

    What follows them isn't looked at, the check sum of all least of all.

    :param length: how many bytes; fewer come where the contents are shorter.
    :raises BadDataError: where the block is broken before that.
    """
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY_BYTES)
    return _decompress(stream, block, length, name=_XZ)


class LegacyLzma:
    """LZMA-alone, id 2 in the superblock: written by old tools, never for snaps."""

    name = "lzma"

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`.

        The header gives the contents' length, and old liblzma takes that to mean
        that no end marker follows; mksquashfs writes both. So liblzma isn't told
        the length (``lzma_xz_wrapper.c`` does the same).
        """
        if len(block) < _HEADER_BYTES:
            raise broken_block(self.name, "the header is cut short")
        length = int.from_bytes(block[_PROPERTIES_BYTES:_HEADER_BYTES], "little")
        if length > max_bytes:
            raise broken_block(self.name, f"more than {max_bytes} bytes")
        unmeasured = block[:_PROPERTIES_BYTES] + _LENGTH_UNKNOWN + block[_HEADER_BYTES:]
        stream = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=_MEMORY_BYTES)
        contents = _decompress(stream, unmeasured, length, name=self.name)
        if len(contents) < length:
            raise broken_block(self.name, "the stream is cut short")
        return contents


def _decompress(
    stream: lzma.LZMADecompressor, block: bytes, max_bytes: int, *, name: str
) -> bytes:
    try:
        return stream.decompress(block, max_bytes)
    except lzma.LZMAError as error:
        raise broken_block(name, str(error)) from error
