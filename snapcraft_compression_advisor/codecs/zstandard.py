"""zstd through libzstd, as ``zstd_wrapper.c`` of squashfs-tools calls it."""

from __future__ import annotations

import threading
import weakref
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_void_p, string_at
from functools import cached_property

from ..core.errors import ToolError
from ..core.units import Interval
from .codec import KernelTime, broken_block
from .library import OUTPUT, BoundCodec, Buffer, Library

_LEVEL = 15
"""``ZSTD_DEFAULT_COMPRESSION_LEVEL`` of ``zstd_wrapper.h``."""

_ROOM_TOO_SMALL = 70
"""``ZSTD_error_dstSize_tooSmall`` of ``zstd_errors.h``."""

_LIBZSTD = Library(
    "libzstd.so.1",
    package="libzstd1",
    version="ZSTD_versionString",
    functions={
        "ZSTD_createCCtx": (c_void_p, ()),
        "ZSTD_freeCCtx": (c_size_t, (c_void_p,)),
        "ZSTD_compressCCtx": (
            c_size_t,
            (c_void_p, c_char_p, c_size_t, c_char_p, c_size_t, c_int),
        ),
        "ZSTD_createDCtx": (c_void_p, ()),
        "ZSTD_freeDCtx": (c_size_t, (c_void_p,)),
        "ZSTD_decompressDCtx": (
            c_size_t,
            (c_void_p, c_char_p, c_size_t, c_char_p, c_size_t),
        ),
        "ZSTD_isError": (c_uint, (c_size_t,)),
        "ZSTD_getErrorCode": (c_int, (c_size_t,)),
        "ZSTD_getErrorName": (c_char_p, (c_size_t,)),
    },
)


class _Context:
    """A context of libzstd: its tables are allocated once and used again."""

    def __init__(self, kind: str) -> None:
        libzstd = _LIBZSTD.functions
        self.address: int | None = getattr(libzstd, f"ZSTD_create{kind}")()
        if self.address is None:
            message = "libzstd ran out of memory"
            raise ToolError(message, details=f"ZSTD_create{kind}")
        weakref.finalize(self, getattr(libzstd, f"ZSTD_free{kind}"), self.address)


class _Contexts(threading.local):
    """The contexts of each thread: made at first use, freed when it ends."""

    @cached_property
    def compression(self) -> _Context:
        return _Context("CCtx")

    @cached_property
    def decompression(self) -> _Context:
        return _Context("DCtx")


_CONTEXTS = _Contexts()


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
    library = _LIBZSTD

    def __init__(self, level: int = _LEVEL) -> None:
        self._level = level

    def _encode(self, block: bytes, output: Buffer, room_bytes: int) -> int:
        libzstd = self.library.functions
        result = libzstd.ZSTD_compressCCtx(
            _CONTEXTS.compression.address,
            *(output, room_bytes, block, len(block), self._level),
        )
        if not libzstd.ZSTD_isError(result):
            return int(result)
        if libzstd.ZSTD_getErrorCode(result) == _ROOM_TOO_SMALL:
            return 0
        message = "libzstd failed to compress"
        raise ToolError(message, details=_error_name(result))

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`."""
        if not block:  # to libzstd no frame at all is fine
            raise broken_block(self.name, "the block is empty")
        output = OUTPUT.at_least(max_bytes)
        libzstd = self.library.functions
        context = _CONTEXTS.decompression.address
        result = libzstd.ZSTD_decompressDCtx(
            context, output, max_bytes, block, len(block)
        )
        if libzstd.ZSTD_isError(result):
            raise broken_block(self.name, _error_name(result))
        return string_at(output, result)


def _error_name(result: int) -> str:
    name: bytes = _LIBZSTD.functions.ZSTD_getErrorName(result)
    return name.decode("ascii", "replace")
