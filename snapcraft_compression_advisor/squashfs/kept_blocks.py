"""Contents of blocks that were read, kept for the next small read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Callable

    from snapcraft_compression_advisor.squashfs.entry import ImageBlock

KEPT_BYTES = 32 * MIB
"""Looking into the libraries of a browser goes to and fro between some 500 blocks, most
of which it wants a few KiB of."""

LEAST_BYTES = 4 * KIB
"""What is decompressed of a block at least."""


class KeptBlocks:
    """The beginnings of the blocks that were read last.

    A block is decompressed only as far as it is wanted, and again, then twice as far at
    least, where more of it is. Several threads may ask at once.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[ImageBlock, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()

    def beginning(
        self,
        block: ImageBlock,
        wanted_bytes: int,
        *,
        read: Callable[[int], bytes],
    ) -> bytes:
        """Return the beginning of a block, as long as wanted or longer.

        :param read: returns as many bytes of its contents as it is asked for.
        """
        with self._lock:
            kept = self._kept.get(block, b"")
            if len(kept) >= wanted_bytes and kept:
                self._kept.move_to_end(block)
                return kept
        length = max(LEAST_BYTES, wanted_bytes, 2 * len(kept))
        if 2 * length > block.raw_bytes:
            length = block.raw_bytes
        contents = read(length)
        with self._lock:
            self._keep(block, contents)
        return contents

    def _keep(self, block: ImageBlock, contents: bytes) -> None:
        before = self._kept.pop(block, b"")
        contents = max(before, contents, key=len)  # another thread may have wanted more
        self._kept[block] = contents
        self._kept_bytes += len(contents) - len(before)
        while self._kept_bytes > KEPT_BYTES:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= len(dropped)
