"""lz4 through liblz4, as ``lz4_wrapper.c`` of squashfs-tools calls it."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, string_at

from ..core.units import Interval
from .codec import DATA_BLOCK_BYTES, KernelTime, broken_block
from .library import BoundCodec, Library

_BLOCK_TO_BLOCK = (c_int, (c_char_p, c_char_p, c_int, c_int))


class Lz4(BoundCodec):
    """Plain lz4: what ``-comp lz4`` gives without ``-Xhc``."""

    name = "lz4"
    squashfs_id = 5
    first_kernel = (3, 19)
    keeps_literals = True
    # version 1, no flags (lz4_wrapper.h)
    default_options = bytes([1, 0, 0, 0, 0, 0, 0, 0])
    kernel_time = KernelTime(
        block_us=3.88, raw_us_per_kib=0.01126, stored_us_per_kib=0.4922
    )
    metadata_bytes_each = (23.7, 0.24, 6.2)
    in_launch = Interval(low=0.56, mid=1.34, high=3.23)
    title = "liblz4"
    library = Library(
        "liblz4.so.1",
        package="liblz4-1",
        version="LZ4_versionString",
        functions={
            "LZ4_compress_default": _BLOCK_TO_BLOCK,
            "LZ4_decompress_safe": _BLOCK_TO_BLOCK,
        },
    )

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`."""
        room_bytes = max(block_bytes, len(block))
        output = ctypes.create_string_buffer(room_bytes)
        liblz4 = self.library.functions
        length = liblz4.LZ4_compress_default(block, output, len(block), room_bytes)
        # Nothing is written if the room is too small.
        return string_at(output, length) if 0 < length < len(block) else block

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`."""
        output = ctypes.create_string_buffer(max_bytes)
        liblz4 = self.library.functions
        written_bytes = liblz4.LZ4_decompress_safe(block, output, len(block), max_bytes)
        if written_bytes < 0:
            raise broken_block(self.name, f"LZ4_decompress_safe: {written_bytes}")
        return string_at(output, written_bytes)
