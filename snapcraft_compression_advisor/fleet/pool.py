"""Where tasks run: on this machine, a worker process for each thread of a pool."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Protocol

from .bounded import BoundedWorker, Limits
from .columns import Row
from .sources import Snap
from .task import FleetRequest

_WAITING_PER_WORKER = 2


class Engine(Protocol):
    """What makes rows of snaps, several at once."""

    def rows(self, snaps: Sequence[Snap]) -> Iterator[Row]:
        """Yield a row for each snap, in whichever order they are ready.

        :raises AdvisorError: where no worker can be started.
        """


class Pool:
    """A pool of worker processes on this machine.

    :param workers: how many at once.
    """

    def __init__(self, request: FleetRequest, limits: Limits, *, workers: int) -> None:
        self._request, self._limits, self._count = request, limits, workers
        self._numbers = itertools.count()
        self._mine = threading.local()
        self._started: list[BoundedWorker] = []

    def rows(self, snaps: Sequence[Snap]) -> Iterator[Row]:
        """Yield a row for each snap, in whichever order they are ready."""
        with ThreadPoolExecutor(self._count, thread_name_prefix="fleet") as pool:
            left = iter(snaps)
            running: set[Future[Row]] = set()
            try:
                while True:
                    for snap in itertools.islice(left, self._most - len(running)):
                        running.add(pool.submit(self._row, snap))
                    if not running:
                        break
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from _results(done)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                while self._started:
                    self._started.pop().stop()

    def workers(self) -> Sequence[BoundedWorker]:
        """Return the workers that have been started so far."""
        return tuple(self._started)

    @property
    def _most(self) -> int:
        return self._count * (1 + _WAITING_PER_WORKER)

    def _row(self, snap: Snap) -> Row:
        worker: BoundedWorker | None = getattr(self._mine, "worker", None)
        if worker is None:
            number = next(self._numbers)
            worker = BoundedWorker(self._request, self._limits, processor=number)
            self._mine.worker = worker
            self._started.append(worker)
        return worker.row(snap)


def _results(done: Iterable[Future[Row]]) -> Iterator[Row]:
    return (each.result() for each in done)
