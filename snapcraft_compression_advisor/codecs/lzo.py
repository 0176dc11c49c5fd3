"""lzo through liblzo2, as ``lzo_wrapper.c`` of squashfs-tools calls it."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p, string_at

from ..core.errors import ToolError
from ..core.units import MIB, Interval
from .codec import DATA_BLOCK_BYTES, KernelTime, broken_block
from .library import BoundCodec, Library

_LEVEL = 8
"""``SQUASHFS_LZO1X_999_COMP_DEFAULT`` of ``lzo_wrapper.h``."""

_WORK_BYTES = 14 * 16384 * 2
"""``LZO1X_999_MEM_COMPRESS`` of ``lzo1x.h``: counted in shorts of two bytes."""

_COMPRESS = "lzo1x_999_compress_level"
_OPTIMIZE = "lzo1x_optimize"

_SUCCESS = 0
"""``LZO_E_OK``."""
_TRUNCATED = (-4, -7)
"""``LZO_E_INPUT_OVERRUN`` and ``LZO_E_EOF_NOT_FOUND`` of ``lzoconf.h``."""
_LONGEST_BLOCK_BYTES = MIB
"""Of a squashfs image."""

_FROM_TO = (c_char_p, c_size_t, c_char_p, c_void_p)


class Lzo(BoundCodec):
    """lzo1x_999, then optimised for faster decompression; at level 8 as in mksquashfs.

    :param level: 1 to 9: lower ones take less time.
    """

    name = "lzo"
    squashfs_id = 3
    shippable = True
    keeps_literals = True
    first_kernel = (2, 36)
    kernel_time = KernelTime(
        block_us=3.42, raw_us_per_kib=0.2098, stored_us_per_kib=1.339
    )
    metadata_bytes_each = (18.8, 0.21, 5.4)
    in_launch = Interval(low=0.64, mid=1.14, high=2.05)
    title = "liblzo2"
    # lzo_uint is an unsigned long or size_t; on Linux both are of one size.
    library = Library(
        "liblzo2.so.2",
        package="liblzo2-2",
        version="lzo_version_string",
        functions={
            _COMPRESS: (
                c_int,
                (*_FROM_TO, c_char_p, c_char_p, c_size_t, c_void_p, c_int),
            ),
            _OPTIMIZE: (c_int, (*_FROM_TO, c_void_p)),
            "lzo1x_decompress_safe": (c_int, (*_FROM_TO, c_void_p)),
        },
    )

    def __init__(self, level: int = _LEVEL) -> None:
        self._level = level

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`."""
        del block_bytes  # lzo takes no limit of room, and never gives up
        expanded_bytes = len(block) + len(block) // 16 + 64 + 3  # LZO_MAX_EXPANSION
        output, length = ctypes.create_string_buffer(expanded_bytes), c_size_t()
        work = ctypes.create_string_buffer(_WORK_BYTES)
        place = (block, len(block), output, byref(length), work)
        self._call(_COMPRESS, *place, None, 0, None, self._level)
        if length.value >= len(block):
            return block
        if self._level == _LEVEL:  # it changes bytes, not the length
            # It decompresses on the way. mksquashfs lets it write over the block, but
            # ours is immutable and may be in use in other threads.
            again = c_size_t(len(block))
            original = ctypes.create_string_buffer(len(block))
            self._call(_OPTIMIZE, output, length.value, original, byref(again), None)
            if again.value != len(block):
                raise _failure(_OPTIMIZE, _SUCCESS)
        return string_at(output, length.value)

    def _call(self, function: str, *arguments: object) -> None:
        status = getattr(self.library.functions, function)(*arguments)
        if status != _SUCCESS:
            raise _failure(function, status)

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`."""
        status, contents = self._decode(block, max_bytes)
        if status != _SUCCESS:
            raise broken_block(self.name, f"lzo1x_decompress_safe: {status}")
        return contents

    def decompress_some(self, block: bytes, length: int) -> bytes:
        """Return the first bytes of a block, of which the end may be missing.

        :param length: how many bytes; fewer if the block doesn't have them.
        :raises BadDataError: if the block is broken before that.
        """
        status, contents = self._decode(block, _LONGEST_BLOCK_BYTES)
        if status not in (_SUCCESS, *_TRUNCATED):
            raise broken_block(self.name, f"lzo1x_decompress_safe: {status}")
        return contents[:length]

    def _decode(self, block: bytes, max_bytes: int) -> tuple[int, bytes]:
        """Return the library's status, and what it wrote until then."""
        output = ctypes.create_string_buffer(max_bytes)
        length = c_size_t(max_bytes)
        status: int = self.library.functions.lzo1x_decompress_safe(
            block, len(block), output, byref(length), None
        )
        return status, string_at(output, min(length.value, max_bytes))


def _failure(function: str, status: int) -> ToolError:
    return ToolError("liblzo2 failed to compress", details=f"{function}: {status}")
