"""What codecs make of blocks, kept for later runs by the blocks' contents.

A result depends on a block's contents and on how it was found (:data:`METHODS` names
libraries and their versions), and on nothing else: not on a file's name, time or place.
So a run has the same results with kept ones as without, whatever changed in between.
"""

from __future__ import annotations

import hashlib
import math
import struct
import sys
from collections.abc import Callable
from functools import cached_property

from .. import __version__
from ..codecs.codec import DATA_BLOCK_BYTES, Codec
from ..core.errors import StorageError
from ..core.result_store import ResultStore, kept_results
from ..payload.layout import DataBlock
from ..payload.source import DirectoryPayload, Payload, SnapPayload

Sizes = tuple[float, ...]

_CODE = f"{__version__} {sys.version}\0"
"""Of another version of this program a method might mean something else, and Python
brings some codecs of its own."""


def method_of(codec: Codec) -> str:
    """Return what a codec's results depend on beside a block's contents."""
    return f"{codec.name} {sorted(vars(codec).items())} {codec.implementation}"


class Block:
    """A data block, read as far as what is asked of it isn't known."""

    def __init__(self, payload: Payload, block: DataBlock) -> None:
        self._payload = payload
        self._block = block

    @cached_property
    def contents(self) -> bytes:
        """Its contents.

        :raises StorageError: where the file isn't what was listed any more.
        """
        block = self._block
        path, wanted = block.path, block.raw_bytes
        contents = self._payload.read(path, offset=block.offset, length=wanted)
        if len(contents) == wanted:
            return contents
        message = f"{path!r} became shorter while it was read"
        raise StorageError(
            message, resolution="Wait until the build ends and try again."
        )

    @cached_property
    def _name(self) -> bytes:
        """A digest of its contents, or of what they are decompressed from."""
        payload, block = self._payload, self._block
        if isinstance(payload, SnapPayload) and _in_own_blocks(payload):
            compressed = payload.compressed_block(block.path, block.offset)
            if compressed is not None:
                form = f"{payload.packed_with} {block.raw_bytes}\0"
                return hashlib.sha256(form.encode() + compressed).digest()
        return self._digest()

    def _digest(self) -> bytes:
        """Return a digest of its contents, unread where its file is as it was."""
        known = self._known_digest()
        if known is not None:
            return known
        payload, block = self._payload, self._block
        found = hashlib.sha256(self.contents).digest()
        if not isinstance(payload, DirectoryPayload):
            return found
        return payload.digests.put(block.path, block.offset, found)

    def _known_digest(self) -> bytes | None:
        payload, block = self._payload, self._block
        if not isinstance(payload, DirectoryPayload):
            return None
        return payload.digests.get(block.path, block.offset)

    def known_sizes(self, method: str, *, columns: int = 1) -> Sizes | None:
        """Return what an earlier run found by a method, where nothing has to be read.

        See :meth:`sizes`.
        """
        store, digest = kept_results(), self._known_digest()
        if store is None or digest is None:
            return None
        return self._kept(store, _key(digest, method), columns)

    def _kept(self, store: ResultStore, key: bytes, columns: int) -> Sizes | None:
        kept = _unpacked(store.get(key), columns)
        plausible = kept is not None and _is_plausible(kept, self._block.raw_bytes)
        return kept if plausible else None

    def sizes(
        self, method: str, measure: Callable[[bytes], Sizes], *, columns: int = 1
    ) -> Sizes:
        """Return what a method finds of the block; sizes in bytes.

        :param method: names it, with all that its results depend on.
        :param measure: finds it from the block's contents.
        :param columns: how many sizes there are.
        """
        store = kept_results()
        if store is None:
            return measure(self.contents)
        key = _key(self._name, method)
        kept = self._kept(store, key, columns)
        if kept is not None:
            return kept
        found = measure(self.contents)
        if _is_plausible(found, self._block.raw_bytes):
            store.put(key, struct.pack(f"<{len(found)}d", *found))
        return found


def _key(name: bytes, method: str) -> bytes:
    """Return what a result is kept by."""
    return hashlib.sha256(name + f"{_CODE}{method}".encode()).digest()


def _in_own_blocks(payload: SnapPayload) -> bool:
    """Tell whether an image has the blocks that are asked about."""
    return payload.image.superblock.block_bytes == DATA_BLOCK_BYTES


def compressed_bytes(block: Block, codec: Codec) -> int:
    """Return what a codec makes of a block, in bytes."""

    def measure(contents: bytes) -> Sizes:
        return (float(len(codec.compress(contents))),)

    (size,) = block.sizes(method_of(codec), measure)
    return int(size)


def _unpacked(value: bytes | None, columns: int) -> Sizes | None:
    """Return kept sizes; ``None`` where there aren't that many."""
    form = struct.Struct(f"<{columns}d")
    return None if value is None or len(value) != form.size else form.unpack(value)


def _is_plausible(sizes: Sizes, most: int) -> bool:
    """Tell whether sizes are of a block that isn't zeros, and no larger than it."""
    return all(math.isfinite(size) and 0 < size <= most for size in sizes)
