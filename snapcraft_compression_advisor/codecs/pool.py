"""Many blocks, on all cores."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from snapcraft_compression_advisor.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future


Item = TypeVar("Item")
Result = TypeVar("Result")

_WAITING_PER_WORKER = 3
"""How many blocks wait for each worker: they bridge the time it takes to read more,
and the time that one slow block holds up the results behind it."""


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
