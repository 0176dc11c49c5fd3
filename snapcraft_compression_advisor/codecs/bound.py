"""What all codecs bound to a C library have in common."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.codecs.library import ThreadBuffer
from snapcraft_compression_advisor.core.errors import BadDataError

if TYPE_CHECKING:
    from snapcraft_compression_advisor.codecs.library import Buffer, Library

OUTPUT = ThreadBuffer()
"""What the codecs' libraries write to; it is free again when a call returns."""


def broken_block(name: str, details: str) -> BadDataError:
    """Return the error for a block that a codec can't decompress.

    :param name: the codec's name.
    :param details: what its library said.
    """
    return BadDataError(
        f"A block is not valid {name} data",
        details=details,
        resolution="The image is damaged or cut short: build or download it again.",
    )


class BoundCodec(ABC):
    """A codec whose blocks come from a shared library.

    A subclass says how the library is called; buffers, and what is done about a
    block that doesn't shrink, are the same for all.
    """

    name: str
    shippable = False
    title: str
    """The library's name, for the report."""
    library: Library

    @property
    def available(self) -> bool:
        """See :class:`Codec`."""
        return self.library.available

    @property
    def exact(self) -> bool:
        """See :class:`Codec`."""
        return self.library.available

    @property
    def implementation(self) -> str:
        """See :class:`Codec`."""
        if not self.library.available:
            return f"{self.title}, missing"
        return f"{self.title} {self.library.version}"

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """See :class:`Codec`; the decision is ``mangle2`` of ``mksquashfs.c``."""
        room_bytes = max(block_bytes, len(block))
        output = OUTPUT.at_least(self._output_bytes(room_bytes))
        written_bytes = self._encode(block, output, room_bytes) if block else 0
        if not 0 < written_bytes < len(block):
            return block
        return ctypes.string_at(output, written_bytes)

    @abstractmethod
    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """See :class:`Decompressor`."""

    @staticmethod
    def _output_bytes(room_bytes: int) -> int:
        """Return how long the buffer must be for a room of so many bytes."""
        return room_bytes

    @abstractmethod
    def _encode(self, block: bytes, output: Buffer, room_bytes: int) -> int:
        """Compress into the buffer; return the length, 0 where the room ends.

        :raises ToolError: where the library is missing or fails for another cause.
        """
