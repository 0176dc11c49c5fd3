"""Quick looks at blocks: sizes that predict what the slow codecs make of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES, Codec
from ..codecs.deflate import Gzip
from ..codecs.lzo import Lzo
from ..codecs.xz import Xz
from ..codecs.zstandard import Zstd
from ..core.errors import StorageError
from ..core.frozen import frozen
from ..payload.layout import DataBlock, Layout
from ..payload.source import Payload

EXCERPT_BYTES = 32 * 1024
EXCERPT_PIECES = 16
"""A codec takes as long as what it is given is long. Pieces spread over a block tell
nearly as much as the block: 3 to 5 % of an xz block's size stay unexplained, and 2 to
3 % of an lzo block's (500 blocks each of a browser, an office suite, a game and a
Python application); with whole blocks 2 to 4 and 1 to 2 %, in four times the time.
Fewer, longer pieces tell less."""

_BATCH_BLOCKS = 16
_ZEROS = bytes(DATA_BLOCK_BYTES)
Item = TypeVar("Item")
Result = TypeVar("Result")
_WAITING_PER_WORKER = 3
"""How many blocks wait for each worker: they bridge the time it takes to read more,
and the time that one slow block holds up the results behind it."""


@frozen
class Predictor:
    """A fast codec that tries a block, and a closer one that tries an excerpt of it.

    The size that the closer one would make of the block is taken to be that of the fast
    one, times what the two make of the excerpt.
    """

    closer: Codec
    fast: Codec


@frozen
class QuickLook:
    """What a fast codec makes of an excerpt of a block, scaled to the block: one size.

    It takes a quarter of the time of the whole block.
    """

    codec: Codec
    columns: ClassVar[int] = 1

    def at(self, contents: bytes) -> tuple[float, ...]:
        """Look at one block; zero where mksquashfs makes a hole of it."""
        if _is_hole(contents):
            return (0.0,)
        part = excerpt(contents)
        return (len(self.codec.compress(part)) * len(contents) / len(part),)


@frozen
class CloserLook:
    """What a fast codec makes of a block, and what others would by an excerpt of it.

    :param fastest: the codec whose size comes first; ``None`` where that isn't asked
        for.
    """

    predictors: tuple[Predictor, ...]
    fastest: Codec | None

    @property
    def columns(self) -> int:
        """How many sizes there are of a block."""
        return len(self.column_names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The fastest codec, then which codec tells each size by which faster one."""
        first = () if self.fastest is None else (self.fastest.name,)
        return (
            *first,
            *(f"{each.closer.name} by {each.fast.name}" for each in self.predictors),
        )

    def at(self, contents: bytes) -> tuple[float, ...]:
        """Look at one block; nothing but zeros where mksquashfs makes a hole of it.

        No size is larger than the block.
        """
        if _is_hole(contents):
            return (0.0,) * self.columns
        part = excerpt(contents)
        closer = _lengths({each.closer for each in self.predictors}, part)
        fast = {each.fast for each in self.predictors}
        fast_part = _lengths(fast, part)
        first = () if self.fastest is None else (self.fastest,)
        whole = _lengths({*fast, *first}, contents)
        sizes = (
            *(whole[codec] for codec in first),
            *(
                whole[each.fast] * closer[each.closer] / fast_part[each.fast]
                for each in self.predictors
            ),
        )
        return tuple(min(float(len(contents)), size) for size in sizes)


def excerpt(contents: bytes) -> bytes:
    """Return pieces of a block, evenly spread from its start to its end."""
    if len(contents) <= EXCERPT_BYTES:
        return contents
    length = EXCERPT_BYTES // EXCERPT_PIECES
    last = len(contents) - length
    starts = (last * piece // (EXCERPT_PIECES - 1) for piece in range(EXCERPT_PIECES))
    return b"".join(contents[start : start + length] for start in starts)


def quick_look() -> QuickLook:
    """Return the look that every block of a census is worth: some 0.2 ms.

    zstd's fastest ordinary level: on Debian's packages a better predictor than lz4.
    Without libzstd, gzip's.
    """
    return QuickLook(codec=_fastest())


def closer_look(*, known: str | None = None) -> CloserLook:
    """Return the look that some blocks are worth: some 2 ms.

    :param known: a codec whose sizes are known already, which tell more than those of
        the fastest one.
    """
    fastest, closer_lzo = _fastest(), Lzo(level=4)
    closer_xz = Xz(preset=1, dictionary_bytes=EXCERPT_BYTES)
    predictors = []
    if closer_xz.available and known != closer_xz.name:
        predictors.append(Predictor(closer=closer_xz, fast=fastest))
    if closer_lzo.available and known != closer_lzo.name:
        predictors += [
            Predictor(closer=closer_lzo, fast=fast) for fast in (Lzo(level=0), fastest)
        ]
    return CloserLook(
        predictors=tuple(predictors), fastest=fastest if known is None else None
    )


def _fastest() -> Codec:
    zstd = Zstd(level=1)
    return zstd if zstd.available else Gzip(level=1)


def _is_hole(contents: bytes) -> bool:
    return contents == _ZEROS[: len(contents)]


def _lengths(codecs: Iterable[Codec], contents: bytes) -> dict[Codec, int]:
    return {codec: len(codec.compress(contents)) for codec in codecs}


def look_at_blocks(
    payload: Payload,
    layout: Layout,
    numbers: NDArray[np.int64],
    look: QuickLook | CloserLook,
) -> NDArray[np.float64]:
    """Look at blocks on all cores.

    :returns: a row for each.
    """

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

    :raises StorageError: where the file isn't what was listed any more.
    """
    contents = payload.read(block.path, offset=block.offset, length=block.raw_bytes)
    if len(contents) == block.raw_bytes:
        return contents
    message = f"{block.path!r} became shorter while it was read"
    raise StorageError(message, resolution="Wait until the build ends and try again.")


def compressed_bytes(payload: Payload, block: DataBlock, codec: Codec) -> int:
    """Return what a codec makes of a block, in bytes."""
    return len(codec.compress(read_block(payload, block)))


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int | None = None,
) -> Generator[Result, None, None]:
    """Apply a function, which compresses say, to items in threads.

    Results come in the order of the items and don't depend on the number of workers.
    Items are taken from the iterable in the caller's thread and only a few for each
    worker at a time, so memory stays bounded however many there are. Where an error or
    the end of the caller's interest stops the iteration, items that wait are dropped
    and the few that are being worked on are waited for.

    :param function: called in a worker's thread.
    :param workers: number of threads; by default one for each core that this process
        may use.
    :returns: a caller that stops early closes it.
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
