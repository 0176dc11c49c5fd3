"""Quick looks at blocks: sizes that predict what the slow codecs make of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import Codec
from ..codecs.deflate import Gzip
from ..codecs.lzo import Lzo
from ..codecs.xz import Xz
from ..codecs.zstandard import Zstd
from ..core.errors import StorageError
from ..payload.layout import DataBlock, Layout
from ..payload.source import Payload

EXCERPT_BYTES = 32 * 1024
EXCERPT_PIECES = 16
"""Pieces spread over a block tell nearly as much as the block, in a quarter of the
time: 3 to 5 % of an xz block's size stay unexplained, and 2 to 3 % of an lzo block's
(500 blocks each of a browser, an office suite, a game and a Python application, with
LZO1X-1 beside zstd); with whole blocks 2 to 4 and 1 to 2 %. Fewer, longer pieces tell
less."""

_BATCH_BLOCKS = 16
Item = TypeVar("Item")
Result = TypeVar("Result")
_WAITING_PER_WORKER = 3
"""How many blocks wait for each worker: they bridge the time it takes to read more,
and the time that one slow block holds up the results behind it."""


def _fastest() -> Codec:
    """Return zstd's fastest level, which predicts better than lz4, or else gzip's."""
    zstd = Zstd(level=1)
    return zstd if zstd.available else Gzip(level=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickLook:
    """What a fast codec makes of an excerpt of a block, scaled to the block: one size.

    It takes some 0.2 ms, which every block of a census is worth.
    """

    codec: Codec = field(default_factory=_fastest)
    columns: ClassVar[int] = 1

    def at(self, contents: bytes) -> tuple[float, ...]:
        """Look at one block; zero if mksquashfs makes a hole of it."""
        if not contents.lstrip(b"\0"):
            return (0.0,)
        part = excerpt(contents)
        return (len(self.codec.compress(part)) * len(contents) / len(part),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CloserLook:
    """What faster levels of slow codecs make of a block, as far as it shows: some 2 ms.

    The size of the whole block with one of them is taken to be that with a fast codec,
    times what the two make of an excerpt.

    :param closer: the slow codecs at faster levels.
    :param with_fast: whether the size with the fast codec comes first.
    """

    fast: Codec
    closer: tuple[Codec, ...]
    with_fast: bool

    @property
    def columns(self) -> int:
        """How many sizes there are of a block."""
        return len(self.column_names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The fast codec, then each closer one with the fast one beside it."""
        closer = (f"{codec.name} by {self.fast.name}" for codec in self.closer)
        return (*([self.fast.name] if self.with_fast else ()), *closer)

    def at(self, contents: bytes) -> tuple[float, ...]:
        """Look at one block; nothing but zeros if mksquashfs makes a hole of it.

        No size is larger than the block.
        """
        if not contents.lstrip(b"\0"):
            return (0.0,) * self.columns
        part = excerpt(contents)
        fast_bytes = len(self.fast.compress(contents))
        scale = fast_bytes / len(self.fast.compress(part))
        sizes = (len(codec.compress(part)) * scale for codec in self.closer)
        found = (*([fast_bytes] if self.with_fast else ()), *sizes)
        return tuple(min(float(len(contents)), size) for size in found)


def excerpt(contents: bytes) -> bytes:
    """Return pieces of a block, evenly spread from its start to its end."""
    if len(contents) <= EXCERPT_BYTES:
        return contents
    length = EXCERPT_BYTES // EXCERPT_PIECES
    last = len(contents) - length
    starts = (last * piece // (EXCERPT_PIECES - 1) for piece in range(EXCERPT_PIECES))
    return b"".join(contents[start : start + length] for start in starts)


def closer_look(*, known: str | None = None) -> CloserLook:
    """Return the look that some blocks are worth.

    :param known: a codec whose sizes are known already, which tell more than those of
        the fastest one.
    """
    closer = (Xz(preset=1, dictionary_bytes=EXCERPT_BYTES), Lzo(level=4))
    return CloserLook(
        fast=_fastest(),
        closer=tuple(c for c in closer if c.available and c.name != known),
        with_fast=known is None,
    )


def look_at_blocks(
    payload: Payload,
    layout: Layout,
    numbers: NDArray[np.int64],
    look: QuickLook | CloserLook,
) -> NDArray[np.float64]:
    """Look at blocks on all cores, and return a row for each."""

    def rows(batch: Sequence[DataBlock]) -> list[tuple[float, ...]]:
        return [look.at(read_block(payload, place)) for place in batch]

    places = [layout.block(number) for number in numbers.tolist()]
    batches = [
        places[start : start + _BATCH_BLOCKS]
        for start in range(0, len(places), _BATCH_BLOCKS)
    ]
    found = [row for batch in map_in_order(rows, batches) for row in batch]
    return np.array(found, dtype=np.float64).reshape(len(numbers), look.columns)


def read_block(payload: Payload, block: DataBlock) -> bytes:
    """Return a block's contents.

    :raises StorageError: if the file isn't what was listed any more.
    """
    contents = payload.read(block.path, offset=block.offset, length=block.raw_bytes)
    if len(contents) == block.raw_bytes:
        return contents
    message = f"{block.path!r} became shorter while it was read"
    raise StorageError(message, resolution="Wait until the build ends and try again.")


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
) -> Generator[Result, None, None]:
    """Apply a function to items in threads, and yield results in the items' order.

    Items are taken from the iterable in the caller's thread and only a few for each
    worker at a time, so memory stays bounded. A caller that stops early closes it:
    items that wait are dropped, and the few that are being worked on are waited for.

    :param workers: number of threads; by default one for each usable core.
    """
    count = workers or len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(count, thread_name_prefix="codecs")
    left, waiting = iter(items), deque[Future[Result]]()

    def submit(most: int) -> None:
        for item in islice(left, most):
            waiting.append(pool.submit(function, item))

    try:
        submit(count * (1 + _WAITING_PER_WORKER))
        while waiting:
            result = waiting.popleft().result()
            submit(1)
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
