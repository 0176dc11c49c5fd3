"""xz through liblzma, as ``xz_wrapper.c`` of squashfs-tools calls it."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.bound import BoundCodec
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.codecs.library import Library
from snapcraft_compression_advisor.codecs.lzma_stream import decompress_xz
from snapcraft_compression_advisor.codecs.xz_stream import xz_stream
from snapcraft_compression_advisor.core.errors import ToolError

if TYPE_CHECKING:
    from snapcraft_compression_advisor.codecs.library import Buffer

_PRESET = 6
"""``LZMA_PRESET_DEFAULT`` of ``lzma/container.h``."""

_CHECK = 1
"""``LZMA_CHECK_CRC32`` of ``lzma/check.h``: the only check that the kernel has."""

_SUCCESS = 0
_ROOM_TOO_SMALL = 10
"""``LZMA_OK`` and ``LZMA_BUF_ERROR`` of ``lzma/base.h``."""

_LZMA2 = 0x21
_END_OF_FILTERS = 2**64 - 1
"""``LZMA_FILTER_LZMA2`` of ``lzma/lzma12.h``, ``LZMA_VLI_UNKNOWN`` of ``vli.h``."""


class _Options(ctypes.Structure):
    """``lzma_options_lzma`` of ``lzma/lzma12.h``."""

    _fields_ = (
        ("dict_size", c_uint32),
        ("preset_dict", c_void_p),
        ("preset_dict_size", c_uint32),
        ("lc_lp_pb", c_uint32 * 3),
        ("mode", c_int),
        ("nice_len", c_uint32),
        ("mf", c_int),
        ("depth", c_uint32),
        ("reserved_ints", c_uint32 * 8),
        ("reserved_enums", c_int * 4),
        ("reserved_pointers", c_void_p * 2),
    )


class _Filter(ctypes.Structure):
    """``lzma_filter`` of ``lzma/filter.h``."""

    _fields_ = (("id", c_uint64), ("options", c_void_p))


class Xz(BoundCodec):
    """xz with a dictionary of one block and CRC32; at preset 6 as mksquashfs calls it.

    Without liblzma, Python's own lzma serves. It gives the same bytes where it is of
    the same version, which can't be known.

    :param preset: another one gives sizes that tell about preset 6's, in less time.
    """

    name = "xz"
    shippable = True
    title = "liblzma"
    library = Library(
        "liblzma.so.5",
        package="liblzma5",
        version="lzma_version_string",
        functions={
            "lzma_lzma_preset": (ctypes.c_ubyte, (c_void_p, c_uint32)),
            "lzma_stream_buffer_encode": (
                c_int,
                (
                    *(c_void_p, c_int, c_void_p),
                    *(c_char_p, c_size_t, c_char_p, c_void_p, c_size_t),
                ),
            ),
        },
    )

    def __init__(self, preset: int = _PRESET) -> None:
        self._preset = preset

    @property
    def available(self) -> bool:
        """Always: Python brings an lzma of its own."""
        return True

    @property
    def implementation(self) -> str:
        """See :class:`Codec`."""
        if not self.library.available:
            return "Python's own lzma, of an unknown version"
        return super().implementation

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`."""
        if self.library.available:
            return super().compress(block, block_bytes=block_bytes)
        if not block:
            return block
        room_bytes = max(block_bytes, len(block))
        compressed = xz_stream(block, preset=self._preset, dictionary_bytes=room_bytes)
        return compressed if len(compressed) < len(block) else block

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`."""
        return decompress_xz(block, max_bytes=max_bytes)

    def _encode(self, block: bytes, output: Buffer, room_bytes: int) -> int:
        written_bytes = c_size_t()
        filters = _filters(room_bytes, self._preset)
        status = self.library.functions().lzma_stream_buffer_encode(
            *(filters.chain, _CHECK, None),
            *(block, len(block), output, byref(written_bytes), room_bytes),
        )
        if status == _ROOM_TOO_SMALL:
            return 0
        if status != _SUCCESS:
            details = f"lzma_stream_buffer_encode: {status}"
            message = "liblzma failed to compress"
            raise ToolError(message, details=details)
        return written_bytes.value


class _Filters:
    """LZMA2 alone; liblzma only reads it, so all threads share it."""

    def __init__(self, dictionary_bytes: int, preset: int) -> None:
        self._options = _Options()  # the chain only holds its address
        Xz.library.functions().lzma_lzma_preset(byref(self._options), preset)
        self._options.dict_size = dictionary_bytes
        self.chain = (_Filter * 2)(
            _Filter(_LZMA2, ctypes.addressof(self._options)),
            _Filter(_END_OF_FILTERS, None),
        )


@lru_cache(maxsize=16)
def _filters(dictionary_bytes: int, preset: int) -> _Filters:
    return _Filters(dictionary_bytes, preset)
