"""xz through liblzma, as ``xz_wrapper.c`` of squashfs-tools calls it."""

from __future__ import annotations

import ctypes
import lzma
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from functools import lru_cache

from ..core.errors import ToolError
from ..core.units import Interval
from .codec import DATA_BLOCK_BYTES, KernelTime, broken_block
from .library import BoundCodec, Library

PRESET = 6
"""``LZMA_PRESET_DEFAULT`` of ``lzma/container.h``."""

_CHECK = 1
"""``LZMA_CHECK_CRC32`` of ``lzma/check.h``: the only check that the kernel has."""

_SUCCESS = 0
_ROOM_TOO_SMALL = 10
"""``LZMA_OK`` and ``LZMA_BUF_ERROR`` of ``lzma/base.h``."""

_LZMA2 = 0x21
_END_OF_FILTERS = 2**64 - 1
"""``LZMA_FILTER_LZMA2`` of ``lzma/lzma12.h``, ``LZMA_VLI_UNKNOWN`` of ``vli.h``."""

_OPTIONS_BYTES = 256
"""More than ``lzma_options_lzma`` of ``lzma/lzma12.h`` has: 112 on 64 bits."""

MEMORY_BYTES = 32 * 1024 * 1024
"""``MEMLIMIT`` of squashfs-tools' wrappers: far above a dictionary of 1 MiB."""


class _Filter(ctypes.Structure):
    """``lzma_filter`` of ``lzma/filter.h``."""

    _fields_ = (("id", c_uint64), ("options", c_void_p))


class Xz(BoundCodec):
    """xz with a dictionary of one block and CRC32; at preset 6 as mksquashfs calls it.

    Python's own lzma decompresses; streams that it writes are 4 bytes shorter.

    :param preset: another one gives sizes that tell about preset 6's, in less time.
    :param dictionary_bytes: for less than a block, a smaller one takes less time: its
        tables are cleared before each; by default of a block's length.
    """

    name = "xz"
    squashfs_id = 4
    shippable = True
    first_kernel = (2, 38)
    kernel_time = KernelTime(
        block_us=7.32, raw_us_per_kib=2.502, stored_us_per_kib=50.81
    )
    metadata_bytes_each = (11.9, 0.09, 5.4)
    in_launch = Interval(low=0.93, mid=1.09, high=1.27)
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

    def __init__(
        self, preset: int = PRESET, *, dictionary_bytes: int | None = None
    ) -> None:
        self._preset = preset
        self._dictionary_bytes = dictionary_bytes

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`; nothing may follow the stream."""
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_BYTES)
        # One byte more: with its output full, liblzma leaves the footer unread.
        contents = decompress_stream(stream, block, max_bytes + 1, name=self.name)
        if len(contents) > max_bytes:
            raise broken_block(self.name, f"more than {max_bytes} bytes")
        if not stream.eof:
            raise broken_block(self.name, "the stream is truncated")
        if stream.unused_data:
            raise broken_block(self.name, "bytes follow the stream")
        return contents

    def decompress_some(self, block: bytes, length: int) -> bytes:
        """Return the first bytes of a block; what follows them isn't checked.

        :param length: how many bytes; fewer if the contents are shorter.
        :raises BadDataError: if the block is broken before that.
        """
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_BYTES)
        return decompress_stream(stream, block, length, name=self.name)

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`."""
        room_bytes = max(block_bytes, len(block))
        output, length = ctypes.create_string_buffer(room_bytes), c_size_t()
        filters = _filters(self._dictionary_bytes or room_bytes, self._preset)
        encode = self.library.functions.lzma_stream_buffer_encode
        place = (block, len(block), output, byref(length), room_bytes)
        status = encode(filters.chain, _CHECK, None, *place)
        if status == _ROOM_TOO_SMALL:
            return block
        if status != _SUCCESS:
            details = f"lzma_stream_buffer_encode: {status}"
            message = "liblzma failed to compress"
            raise ToolError(message, details=details)
        if length.value >= len(block):
            return block
        return ctypes.string_at(output, length.value)


class _Filters:
    """LZMA2 alone; liblzma only reads it, so all threads share it."""

    def __init__(self, dictionary_bytes: int, preset: int) -> None:
        # The chain only holds their address.
        self._options = ctypes.create_string_buffer(_OPTIONS_BYTES)
        Xz.library.functions.lzma_lzma_preset(self._options, preset)
        c_uint32.from_buffer(self._options).value = dictionary_bytes  # the first field
        self.chain = (_Filter * 2)(
            _Filter(_LZMA2, ctypes.addressof(self._options)),
            _Filter(_END_OF_FILTERS, None),
        )


_filters = lru_cache(maxsize=16)(_Filters)


def decompress_stream(
    stream: lzma.LZMADecompressor, block: bytes, max_bytes: int, *, name: str
) -> bytes:
    """Return at most ``max_bytes`` of what a stream holds.

    :raises BadDataError: if liblzma finds the stream broken.
    """
    try:
        return stream.decompress(block, max_bytes)
    except lzma.LZMAError as error:
        raise broken_block(name, str(error)) from error
