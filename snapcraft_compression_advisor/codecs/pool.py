"""Many blocks through many codecs, on all cores."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from snapcraft_compression_advisor.codecs.codec import Codec

Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING_PER_WORKER = 3
"""How many blocks wait for each worker: they bridge the time it takes to read more,
and the time that one slow block holds up the results behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSize:
    """What a block takes in the image."""

    stored_bytes: int
    stored: bool
    """Whether it is left uncompressed, since compressing doesn't make it smaller."""


def compress_sizes(
    blocks: Iterable[bytes],
    codecs: Sequence[Codec],
    *,
    workers: int | None = None,
    block_bytes: int = DATA_BLOCK_BYTES,
) -> Generator[tuple[StoredSize, ...], None, None]:
    """Return what each block takes with each codec, as mksquashfs would store it.

    Results come in the order of the blocks and don't depend on the number of
    workers. Blocks are taken from the iterable in the caller's thread and only a few
    for each worker at a time, so memory stays bounded however many there are. Where
    an error or the end of the caller's interest stops the iteration, blocks that wait
    are dropped and the few that are being compressed are waited for.

    A block of zeros is compressed as any other: that mksquashfs leaves it out of a
    file altogether is a matter of the layout.

    :param blocks: data blocks, or metadata blocks with their ``block_bytes``.
    :param codecs: the codecs to try on each block.
    :param workers: number of threads; by default one for each core that this process
        may use.
    :param block_bytes: see :meth:`Codec.compress`.
    :returns: for each block one size per codec, in the codecs' order; a caller that
        stops early closes it.
    :raises UsageError: for fewer than one worker.
    :raises ToolError: while iterating, where a codec's library is missing or fails.
    """
    return map_in_order(
        lambda block: _sizes(block, codecs, block_bytes), blocks, workers=workers
    )


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
) -> Generator[Result, None, None]:
    """Apply a function to items in threads; see :func:`compress_sizes`.

    :param function: called in a worker's thread.
    :param items: taken in the caller's thread, a few at a time.
    :param workers: number of threads; by default one for each core that this process
        may use.
    :returns: results in the order of the items.
    :raises UsageError: for fewer than one worker.
    """
    count = len(os.sched_getaffinity(0)) if workers is None else workers
    if count < 1:
        message = f"{count} workers can't compress anything"
        raise UsageError(message, resolution="Give 1 worker or more.")
    return _map_in_order(function, iter(items), count)


def _map_in_order(
    function: Callable[[Item], Result], items: Iterator[Item], workers: int
) -> Generator[Result, None, None]:
    pool = ThreadPoolExecutor(workers, thread_name_prefix="codecs")
    waiting: deque[Future[Result]] = deque()

    def submit(count: int) -> None:
        for item in islice(items, count):
            waiting.append(pool.submit(function, item))

    try:
        submit(workers * (1 + _WAITING_PER_WORKER))
        while waiting:
            result = waiting.popleft().result()
            submit(1)
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _sizes(
    block: bytes, codecs: Sequence[Codec], block_bytes: int
) -> tuple[StoredSize, ...]:
    return tuple(_size(block, codec, block_bytes) for codec in codecs)


def _size(block: bytes, codec: Codec, block_bytes: int) -> StoredSize:
    stored_bytes = len(codec.compress(block, block_bytes=block_bytes))
    return StoredSize(stored_bytes=stored_bytes, stored=stored_bytes == len(block))
