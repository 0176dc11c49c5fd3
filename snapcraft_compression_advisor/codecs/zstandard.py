"""zstd through libzstd, as ``zstd_wrapper.c`` of squashfs-tools calls it."""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_size_t, c_uint, string_at

from ..core.errors import ToolError
from ..core.units import Interval
from .codec import DATA_BLOCK_BYTES, KernelTime, broken_block
from .library import BoundCodec, Library

_LEVEL = 15
"""``ZSTD_DEFAULT_COMPRESSION_LEVEL`` of ``zstd_wrapper.h``."""

_ROOM_TOO_SMALL = 70
"""``ZSTD_error_dstSize_tooSmall`` of ``zstd_errors.h``."""

_FROM_TO = (c_char_p, c_size_t, c_char_p, c_size_t)


class Zstd(BoundCodec):
    """zstd; at level 15 as mksquashfs calls it.

    :param level: another one gives sizes that tell about other codecs', in less time.
    """

    name = "zstd"
    squashfs_id = 6
    first_kernel = (4, 14)
    kernel_time = KernelTime(
        block_us=16.5, raw_us_per_kib=0.7452, stored_us_per_kib=1.75
    )
    metadata_bytes_each = (12.1, 0.11, 5.6)
    in_launch = Interval(low=0.52, mid=1.1, high=2.34)
    title = "libzstd"
    library = Library(
        "libzstd.so.1",
        package="libzstd1",
        version="ZSTD_versionString",
        functions={
            "ZSTD_compress": (c_size_t, (*_FROM_TO, c_int)),
            "ZSTD_decompress": (c_size_t, _FROM_TO),
            "ZSTD_isError": (c_uint, (c_size_t,)),
            "ZSTD_getErrorCode": (c_int, (c_size_t,)),
            "ZSTD_getErrorName": (c_char_p, (c_size_t,)),
        },
    )

    def __init__(self, level: int = _LEVEL) -> None:
        self._level = level

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`."""
        room_bytes = max(block_bytes, len(block))
        output = ctypes.create_string_buffer(room_bytes)
        libzstd = self.library.functions
        place = (output, room_bytes, block, len(block))
        result = libzstd.ZSTD_compress(*place, self._level)
        if not libzstd.ZSTD_isError(result):
            return string_at(output, result) if result < len(block) else block
        if libzstd.ZSTD_getErrorCode(result) == _ROOM_TOO_SMALL:
            return block
        message = "libzstd failed to compress"
        raise ToolError(message, details=self._error_name(result))

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`."""
        if not block:  # to libzstd no frame at all is fine
            raise broken_block(self.name, "the block is empty")
        output = ctypes.create_string_buffer(max_bytes)
        libzstd = self.library.functions
        result = libzstd.ZSTD_decompress(output, max_bytes, block, len(block))
        if libzstd.ZSTD_isError(result):
            raise broken_block(self.name, self._error_name(result))
        return string_at(output, result)

    def _error_name(self, result: int) -> str:
        name: bytes = self.library.functions.ZSTD_getErrorName(result)
        return name.decode("ascii", "replace")
