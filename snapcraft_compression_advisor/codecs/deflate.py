"""gzip: zlib's format, through Python's own zlib."""

from __future__ import annotations

import zlib

from ..core.units import Interval
from .codec import DATA_BLOCK_BYTES, Codec, KernelTime, broken_block
from .library import Library

_LEVEL = 9
"""``GZIP_DEFAULT_COMPRESSION_LEVEL`` of squashfs-tools' ``gzip_wrapper.h``.

Its other parameters, a window of 15 bits and a memory level of 8, are zlib's own.
"""


class Gzip(Codec):
    """Deflate in a zlib stream; at level 9 as mksquashfs calls it.

    :param level: another one gives sizes that tell about level 9's, in less time.
    """

    name = "gzip"
    squashfs_id = 1
    first_kernel = (2, 29)
    kernel_time = KernelTime(
        block_us=2.83, raw_us_per_kib=2.178, stored_us_per_kib=3.656
    )
    in_launch = Interval(low=1.02, mid=1.22, high=1.48)
    available = True
    # Only asked for its version: a Python may carry a zlib of its own.
    library = Library(
        "libz.so.1", package="zlib1g", version="zlibVersion", functions={}
    )

    def __init__(self, level: int = _LEVEL) -> None:
        self._level = level

    @property
    def exact(self) -> bool:
        """Whether Python's zlib is the one that mksquashfs links, by its version."""
        library = self.library
        return library.available and library.version == zlib.ZLIB_RUNTIME_VERSION

    @property
    def implementation(self) -> str:
        """See :class:`Codec`."""
        own = "" if self.exact else ", Python's own"
        return f"zlib {zlib.ZLIB_RUNTIME_VERSION}{own}"

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`."""
        del block_bytes  # zlib's output doesn't depend on the room it has
        compressed = zlib.compress(block, self._level)
        return compressed if len(compressed) < len(block) else block

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`; what follows the stream is ignored, as there."""
        stream = zlib.decompressobj()
        try:
            # One byte more, since for zlib a limit of 0 means none.
            contents = stream.decompress(block, max_bytes + 1)
        except zlib.error as error:
            raise broken_block(self.name, str(error)) from error
        if len(contents) > max_bytes:
            raise broken_block(self.name, f"more than {max_bytes} bytes")
        if not stream.eof:
            raise broken_block(self.name, "the stream is truncated")
        return contents
