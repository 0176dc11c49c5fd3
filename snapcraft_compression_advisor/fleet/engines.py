"""Where the snaps are analysed: a pool on this machine, or Dask."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from itertools import count, islice
from typing import Any
from uuid import uuid4

from ..core.errors import ToolError
from . import imported
from .bounded import BoundedWorker, Limits
from .columns import Row
from .sources import Snap
from .task import FleetRequest, lost

_WAITING_IN_POOL = 2
_WAITING_ON_DASK = 4
"""Snaps for each worker, beyond the one that it has."""

_of_dask: dict[tuple[str, int], BoundedWorker] = {}
"""Of a Dask worker: its processes, by run and thread."""

_numbers = count()


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


def dask_rows(  # noqa: PLR0913 # keywords of one call
    snaps: Sequence[Snap],
    request: FleetRequest,
    limits: Limits,
    *,
    address: str | None,
    workers: int,
    progress: Callable[[str], None],
) -> Iterator[Row]:
    """Yield a row for each snap from Dask, as they become ready.

    Each thread of a Dask worker has a bounded process of its own.

    :param address: of the scheduler; ``None`` to start a cluster on this machine.
    :param workers: number of snaps at once, if one is started.
    :param progress: takes the dashboard's address.
    :raises ToolError: if the scheduler can't be reached, or no longer.
    """
    distributed = imported("distributed")
    # What it raises if the scheduler goes depends on the moment; so does what closing
    # the client raises then.
    gone = (OSError, asyncio.TimeoutError, distributed.CancelledError)
    try:
        with ExitStack() as until:
            place: Any = address or until.enter_context(
                distributed.LocalCluster(
                    n_workers=1,
                    threads_per_worker=workers,
                    processes=False,  # what is bounded has its own processes anyway
                    dashboard_address=":0",
                )
            )
            try:
                client = until.enter_context(distributed.Client(place))
            except (OSError, ValueError) as error:
                message = f"No Dask scheduler answers at {address!r}"
                raise ToolError(
                    message, details=str(error), resolution="Check --scheduler."
                ) from error
            progress(f"Dask dashboard: {client.dashboard_link}")
            run = uuid4().hex
            until.callback(_stop, client, run)
            (shared,) = client.scatter([(request, limits)], broadcast=True)
            yield from _gathered(distributed, client, (run, shared), snaps)
    except gone as error:
        message = "The Dask scheduler is gone"
        raise ToolError(
            message,
            details=f"{type(error).__name__}: {error}",
            resolution="Start it, and run the same command again: it continues "
            "with what is missing.",
        ) from error


def _gathered(
    distributed: Any,  # noqa: ANN401 # of Dask
    client: Any,  # noqa: ANN401 # of Dask
    run: tuple[object, ...],
    snaps: Sequence[Snap],
) -> Iterator[Row]:
    """Yield the rows of snaps of which few for each worker are handed out at once."""
    left = iter(snaps)
    waiting: dict[str, Snap] = {}

    def submit(most: int) -> Iterator[Any]:
        for snap in islice(left, most):
            future = client.submit(_row, *run, snap, pure=False)
            waiting[future.key] = snap
            yield future

    threads = sum(client.nthreads().values()) or 1
    ready = distributed.as_completed(submit(threads * _WAITING_ON_DASK))
    for future in ready:
        snap = waiting.pop(future.key)
        try:
            yield future.result()
        except distributed.KilledWorker as error:
            message = f"{snap.path!r} ended several Dask workers in a row"
            resolution = "Check their logs."
            failed = ToolError(message, details=str(error), resolution=resolution)
            yield lost(snap, failed)
        for more in submit(1):
            ready.add(more)


def _row(run: str, shared: tuple[FleetRequest, Limits], snap: Snap) -> Row:
    """Make a snap's row, in a thread of a Dask worker."""
    key = run, threading.get_ident()
    if key not in _of_dask:
        _of_dask[key] = BoundedWorker(*shared, processor=next(_numbers))
    return _of_dask[key].row(snap)


def _stop(client: Any, run: str) -> None:  # noqa: ANN401 # of Dask
    """End the processes of a run, on all workers that still answer."""
    with suppress(OSError, ValueError, RuntimeError):
        client.run(stop_processes, run)


def stop_processes(run: str) -> None:
    """End the processes of a run on this Dask worker."""
    for key in [key for key in _of_dask if key[0] == run]:
        _of_dask.pop(key).stop()
