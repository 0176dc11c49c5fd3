"""Where the snaps are analysed: a pool of processes on this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import count, islice

from .bounded import BoundedWorker, Limits
from .columns import Row
from .sources import Snap
from .task import FleetRequest

_WAITING_IN_POOL = 2
"""Snaps for each worker, beyond the one that it has."""

Engine = Callable[[Sequence[Snap]], Iterator[Row]]
"""Makes a row of each snap, several at once, in the order in which they are ready."""


class Pool:
    """A pool of worker processes on this machine.

    :param workers: number of processes.
    """

    def __init__(self, request: FleetRequest, limits: Limits, *, workers: int) -> None:
        self._request, self._limits, self._count = request, limits, workers
        self._numbers = count()
        self._mine = threading.local()
        self._started: list[BoundedWorker] = []

    def rows(self, snaps: Sequence[Snap]) -> Iterator[Row]:
        """Yield a row for each snap, as they become ready."""
        with ThreadPoolExecutor(self._count, thread_name_prefix="fleet") as pool:
            left = iter(snaps)
            most = self._count * (1 + _WAITING_IN_POOL)
            running: set[Future[Row]] = set()
            try:
                while True:
                    for snap in islice(left, most - len(running)):
                        running.add(pool.submit(self._row, snap))
                    if not running:
                        break
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in done)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                while self._started:
                    self._started.pop().stop()

    def workers(self) -> Sequence[BoundedWorker]:
        """Return the workers that have been started so far."""
        return tuple(self._started)

    def _row(self, snap: Snap) -> Row:
        worker: BoundedWorker | None = getattr(self._mine, "worker", None)
        if worker is None:
            number = next(self._numbers)
            worker = BoundedWorker(self._request, self._limits, processor=number)
            self._mine.worker = worker
            self._started.append(worker)
        return worker.row(snap)
