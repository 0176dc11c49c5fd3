"""How much a compressor has to search in a payload's contents, told from some blocks.

Packing takes lzo five times as long for some programs as for text or pictures, and xz
half as long again. What decides is how many earlier places with the same first bytes
are looked at, over all places where a match is searched for: see :func:`search_work`.
xz also takes its time for each block, however short: it clears its tables.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.frozen import frozen
from .source import Payload

_LEAST_BLOCKS, _MOST_BLOCKS = 96, 192
"""With 80 of 1,291, the steps of one payload were off by 14 % for the draw alone."""
_BLOCKS_PER_DRAWN = 8
_WINDOW_BYTES = 48 * 1024
"""How far back lzo1x_999 looks (``SWD_N`` of liblzo2's ``lzo1x_9x.c``)."""
_PARTS_BYTES = 16 * 1024
_WINDOW_PARTS = _WINDOW_BYTES // _PARTS_BYTES
_BEGINNING_BYTES = _WINDOW_BYTES + _PARTS_BYTES
"""What is looked at of a block: the last part has a full window before it, as all that
come after it have. For 27 payloads the steps of whole blocks are within 8 % of what
that comes to, for one of 37 blocks 14 %; the draw alone is off by 5 to 20 %."""
_HASH_BITS = 14
"""Of its table by the first three bytes (``SWD_HSIZE``)."""
_KEY_BYTES = 8
_MOST_STEPS = 512
"""Steps of one search that tell the time best, of the 2,048 that level 8 may take: the
long chains are those of runs, and end with a match."""
_MOST_NEAR_STEPS = 48
"""What xz's default preset looks at (``depth`` of ``lzma_encoder.c`` in liblzma: 16 and
half of the ``nice_len`` of 64)."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing
_MARK = np.uint64(0xFFFF_FFFF << 32)  # the upper half, of which it makes a hash


@frozen
class SearchWork:
    """What a compressor has to do to pack some contents.

    :param raw_bytes: of the contents.
    :param steps: earlier places that lzo looks at, over all places where it searches
        for a match.
    :param near_steps: those that xz looks at.
    :param blocks: data blocks that it packs, whole ones and ends of files.
    """

    raw_bytes: float
    steps: float
    near_steps: float
    blocks: float


def search_work(payload: Payload, least_blocks: int = _LEAST_BLOCKS) -> SearchWork:
    """Estimate what packing a payload takes, from some of its blocks.

    The beginning of one of eight is looked at.

    :param least_blocks: to look at, where there are as many.
    """
    sizes = [entry.size_bytes for entry in payload.inventory.files()]
    raw_bytes = sum(sizes)
    blocks = sum(-(-size // DATA_BLOCK_BYTES) for size in sizes)
    count = min(raw_bytes // DATA_BLOCK_BYTES // _BLOCKS_PER_DRAWN, _MOST_BLOCKS)
    seen = steps = near_steps = 0.0
    for path, offset in drawn_blocks(payload, min(max(count, least_blocks), blocks)):
        beginning = payload.read(path, offset=offset, length=_BEGINNING_BYTES)
        size_bytes = payload.inventory.entries[path].size_bytes
        work = block_work(beginning, min(size_bytes - offset, DATA_BLOCK_BYTES))
        seen += 1
        steps += work.steps / work.raw_bytes
        near_steps += work.near_steps / work.raw_bytes
    per_seen = raw_bytes / max(1.0, seen)
    return SearchWork(
        raw_bytes=raw_bytes,
        steps=steps * per_seen,
        near_steps=near_steps * per_seen,
        blocks=blocks,
    )


def drawn_blocks(payload: Payload, count: int) -> Iterator[tuple[str, int]]:
    """Yield paths and offsets of blocks, drawn evenly along all contents."""
    files = sorted(
        (entry.path, entry.size_bytes)
        for entry in payload.inventory.files()
        if entry.size_bytes
    )
    ends = list(accumulate(length for _, length in files))
    for number in range(count if files else 0):
        point = (2 * number + 1) * ends[-1] // (2 * count)
        index = bisect_right(ends, point)
        path, length = files[index]
        inside = point - (ends[index] - length)
        yield path, inside - inside % DATA_BLOCK_BYTES


def block_work(beginning: bytes, block_bytes: int) -> SearchWork:
    """Return what packing one block takes, told from its beginning.

    lzo searches wherever no match goes on: a place is taken to be such a one where
    the eight bytes from the place before it on didn't come before. It also searches at
    the place after the one where a match begins, for a longer one. At each it goes
    through the earlier places whose first three bytes have the same hash; of these
    there are about as many as in the parts of the block within its window.

    :param block_bytes: of the whole block. What comes after the beginning is taken to
        be like its last part.
    """
    if len(beginning) <= _KEY_BYTES:
        return SearchWork(raw_bytes=block_bytes, steps=0.0, near_steps=0.0, blocks=1)
    fresh = np.ones(len(beginning) - _KEY_BYTES + 2, dtype=np.bool_)
    np.logical_not(_came_before(beginning), out=fresh[1:])
    fresh[1:] |= fresh[:-1].copy()
    chains = list(_chain_lengths(_hashes(beginning)[: len(fresh)], fresh))
    alike = 1 + (block_bytes - len(beginning)) / _PARTS_BYTES
    return SearchWork(
        raw_bytes=block_bytes,
        steps=_steps(chains, _MOST_STEPS, alike),
        near_steps=_steps(chains, _MOST_NEAR_STEPS, alike),
        blocks=1,
    )


def _steps(chains: Sequence[NDArray[np.float64]], most: int, alike: float) -> float:
    """Return the steps in all parts, of which so many are like the last one."""
    *sums, last = (float(np.minimum(part, most).sum()) for part in chains)
    return sum(sums) + alike * last


def _came_before(block: bytes) -> NDArray[np.bool_]:
    """Tell at which places the next eight bytes are in the window before it.

    Sorted as one number a place, of a hash and the place: numpy sorts numbers in half
    the time that it takes to sort their indices.
    """
    count = len(block) - _KEY_BYTES + 1
    keys = np.empty(count, dtype=np.uint64)
    for offset in range(min(_KEY_BYTES, count)):
        keys[offset::_KEY_BYTES] = np.frombuffer(
            block,
            dtype=np.uint64,
            count=(len(block) - offset) // _KEY_BYTES,
            offset=offset,
        )
    keys *= _GOLDEN
    keys &= _MARK
    keys |= np.arange(count, dtype=np.uint64)
    keys.sort()
    places = keys.astype(np.uint32)
    keys &= _MARK
    again = keys[1:] == keys[:-1]
    again &= places[1:] - places[:-1] <= _WINDOW_BYTES
    found = np.zeros(count, dtype=np.bool_)
    found[places[1:][again]] = True
    return found


def _hashes(block: bytes) -> NDArray[np.int64]:
    """Return the hash of the first three bytes at every place (``HEAD3``)."""
    octets = np.frombuffer(block, dtype=np.uint8).astype(np.uint32)
    mixed = ((octets[:-2] << 5 ^ octets[1:-1]) << 5) ^ octets[2:]
    hashes = (0x9F5F * mixed >> 5) & ((1 << _HASH_BITS) - 1)
    return hashes.astype(np.int64)


def _chain_lengths(
    hashes: NDArray[np.int64], wanted: NDArray[np.bool_]
) -> Iterator[NDArray[np.float64]]:
    """Yield how many places of the same hash are in the window before some places.

    One array for each part.
    """
    starts = range(0, len(hashes), _PARTS_BYTES)
    parts = [hashes[start : start + _PARTS_BYTES] for start in starts]
    counts = [np.bincount(part, minlength=1 << _HASH_BITS) for part in parts]
    for number, (start, part) in enumerate(zip(starts, parts, strict=True)):
        before: NDArray[np.float64] = counts[number] * np.float64(0.5)
        for back in range(1, _WINDOW_PARTS + 1):
            if number >= back:
                before += counts[number - back] * (0.5 if back == _WINDOW_PARTS else 1)
        yield before[part[wanted[start : start + len(part)]]]
