"""Where in the old build contents were that are elsewhere in the new one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..core.units import MIB
from .contents import Chunk, Contents
from .matching import KEY_BYTES, hashed, keys_of

_STEP = 64
"""Every so manieth place of an old chunk is in the table: a match of a few dozen bytes
is found by chance, one of 71 surely."""
_MOST_BYTES = 32 * MIB
"""So much of the old build is read; of more, chunks are left out evenly."""
_LEAST_HITS = 2

Source = tuple[str, int]
"""A file's path and which of its chunks."""


class MovedContents:
    """Tells which chunks of the old build a piece of the new one has most of.

    Only chunks that the new build doesn't have are looked at: what is there still was
    hardly made of another. Compressed blocks have nothing in common but when equal.
    """

    def __init__(self, old: Contents, new: Contents) -> None:
        kept = {chunk.digest for chunk in new.chunks}
        gone = [chunk for chunk in old.chunks if chunk.digest not in kept]
        if not old.unpacked:
            gone = []
        length = sum(chunk.length for chunk in gone)
        self._chunks = gone[:: length // _MOST_BYTES + 1]
        parts = list(self._keys(old))
        self._of = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
        self._known = np.concatenate([np.zeros(0, dtype=np.uint64), *parts])
        self._bits = max(8, len(self._known).bit_length() + 1)
        self._table = np.full(1 << self._bits, -1, dtype=np.int32)
        numbers = np.arange(len(self._known), dtype=np.int32)
        self._table[hashed(self._known, self._bits)] = numbers

    def _keys(self, old: Contents) -> Iterator[NDArray[np.uint64]]:
        for chunk in self._chunks:
            keys = keys_of(old.read(chunk.path, chunk.number), step=KEY_BYTES)
            yield keys[:: _STEP // KEY_BYTES]

    def sources(
        self, piece: bytes, near: Chunk, reach_bytes: float
    ) -> Iterator[Source]:
        """Yield old chunks that have something of a piece; those with most first.

        :param near: the chunk that the piece is of.
        :param reach_bytes: how far away they may be in their stream.
        """
        if not self._chunks:
            return
        keys = keys_of(piece)
        found = self._table[hashed(keys, self._bits)]
        hits = self._of[found[(found >= 0) & (self._known[found] == keys)]]
        counts = np.bincount(hits, minlength=len(self._chunks))
        for number in np.argsort(-counts, kind="stable").tolist():
            if counts[number] < _LEAST_HITS:
                return
            chunk = self._chunks[number]
            if abs(chunk.start - near.start) <= reach_bytes:
                yield chunk.path, chunk.number
