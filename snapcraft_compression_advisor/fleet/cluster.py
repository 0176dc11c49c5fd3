"""The same tasks on Dask: on a cluster that is there, or a local one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import count, islice
from typing import Any
from uuid import uuid4

from ..core.errors import AdvisorError, ToolError
from .bounded import BoundedWorker, Limits
from .columns import Row
from .extra import imported
from .sources import Snap
from .task import FleetRequest, lost

_WAITING_PER_WORKER = 4
_mine: dict[tuple[str, int], BoundedWorker] = {}
"""Of a Dask worker: its processes, by run and thread."""

_numbers = count()


class Cluster:
    """A Dask cluster; each thread of a Dask worker has a bounded process of its own.

    :param address: of its scheduler; ``None`` to start a cluster on this machine.
    :param workers: how many snaps at once, where one is started.
    :param progress: told where the dashboard is.
    """

    def __init__(
        self,
        request: FleetRequest,
        limits: Limits,
        *,
        address: str | None,
        workers: int,
        progress: Callable[[str], None],
    ) -> None:
        self._request, self._limits = request, limits
        self._address, self._workers = address, workers
        self._progress = progress

    def rows(self, snaps: Sequence[Snap]) -> Iterator[Row]:
        """Yield a row for each snap, in whichever order they are ready.

        :raises ToolError: where the scheduler can't be reached, or no longer.
        """
        distributed = imported("distributed")
        # What it raises where the scheduler goes depends on the moment; so does what
        # closing the client raises then.
        gone = (OSError, asyncio.TimeoutError, distributed.CancelledError)
        try:
            with ExitStack() as until:
                client = self._client(distributed, until)
                self._progress(f"Dask dashboard: {client.dashboard_link}")
                run = uuid4().hex
                until.callback(_stop, client, run)
                yield from self._gathered(distributed, client, run, snaps)
        except gone as error:
            raise _gone(error) from error

    def _client(self, distributed: Any, until: ExitStack) -> Any:  # noqa: ANN401 # of Dask
        address: Any = self._address
        if address is None:
            address = until.enter_context(
                distributed.LocalCluster(
                    n_workers=1,
                    threads_per_worker=self._workers,
                    processes=False,  # what is bounded has its own processes anyway
                    dashboard_address=":0",
                )
            )
        try:
            return until.enter_context(distributed.Client(address))
        except (OSError, ValueError) as error:
            message = f"No Dask scheduler answers at {self._address!r}"
            raise ToolError(
                message, details=str(error), resolution="Check --scheduler."
            ) from error

    def _gathered(
        self,
        distributed: Any,  # noqa: ANN401 # of Dask
        client: Any,  # noqa: ANN401 # likewise
        run: str,
        snaps: Sequence[Snap],
    ) -> Iterator[Row]:
        (shared,) = client.scatter([(self._request, self._limits)], broadcast=True)
        threads = sum(client.nthreads().values()) or 1
        left = iter(snaps)
        waiting: dict[str, Snap] = {}

        def submit(most: int) -> Iterator[Any]:
            for snap in islice(left, most):
                future = client.submit(_row, run, shared, snap, pure=False)
                waiting[future.key] = snap
                yield future

        ready = distributed.as_completed(submit(threads * _WAITING_PER_WORKER))
        for future in ready:
            snap = waiting.pop(future.key)
            try:
                yield future.result()
            except distributed.KilledWorker as error:
                yield lost(snap, _killed(snap, error))
            for more in submit(1):
                ready.add(more)


def _gone(error: Exception) -> ToolError:
    return ToolError(
        "The Dask scheduler is gone",
        details=f"{type(error).__name__}: {error}",
        resolution="Start it, and run the same command again: it continues with what "
        "is missing.",
    )


def _killed(snap: Snap, error: Exception) -> AdvisorError:
    message = f"{snap.path!r} ended several Dask workers in a row"
    return ToolError(message, details=str(error), resolution="Check their logs.")


def _row(run: str, shared: tuple[FleetRequest, Limits], snap: Snap) -> Row:
    """Make a snap's row, in a thread of a Dask worker."""
    key = run, threading.get_ident()
    if key not in _mine:
        request, limits = shared
        _mine[key] = BoundedWorker(request, limits, processor=next(_numbers))
    return _mine[key].row(snap)


def _stop(client: Any, run: str) -> None:  # noqa: ANN401 # of Dask
    """End the processes of a run, on all workers that still answer."""
    with suppress(OSError, ValueError, RuntimeError):
        client.run(stop_processes, run)


def stop_processes(run: str) -> None:
    """End the processes of a run on this Dask worker."""
    for key in [key for key in _mine if key[0] == run]:
        _mine.pop(key).stop()
