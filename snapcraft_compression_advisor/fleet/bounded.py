"""Worker processes, each ended if a snap takes too long, and started again.

A worker is given snaps through a socket and answers with rows.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ..core.child import END_S, end_child, ending_with_us
from ..core.errors import AdvisorError, ToolError
from .columns import Row
from .sources import Snap
from .task import FleetRequest, SnapTask, failure, identity_of

_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; "
    "from snapcraft_compression_advisor.fleet.bounded import main; main()"
)
_TRIES = 3
"""A worker that is killed need not be the snap's doing; three in a row are."""

_START_LIMIT_S = 120.0
_CHUNK_BYTES = 1 << 20
_NO_THREAD = "can't start new thread"
_STATM_DATA = 5  # proc(5): data and stack, in pages

_WAITING_IN_POOL = 2
"""Snaps for each worker, beyond the one that it has."""

Engine = Callable[[Sequence[Snap]], Iterator[Row]]
"""Makes a row of each snap, several at once, in the order in which they are ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one snap may take.

    :param seconds: time.
    :param memory_bytes: beyond what a worker has before it opens a snap.
    """

    seconds: float = 300.0
    memory_bytes: int = 1_000_000_000


class TimeLimitError(AdvisorError):
    """A snap takes longer than it may."""

    exit_status = os.EX_TEMPFAIL


class MemoryLimitError(AdvisorError):
    """A snap takes more memory than a worker may have."""

    exit_status = os.EX_OSERR


class _EndedError(Exception):
    """The worker is gone."""


class BoundedWorker:
    """A worker process; used by one thread at a time, which also starts it.

    :param processor: number of the processor that it stays on.
    """

    def __init__(
        self, request: FleetRequest, limits: Limits, *, processor: int = 0
    ) -> None:
        self._first = (request, limits.memory_bytes, processor)
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._busy = threading.Lock()

    def row(self, snap: Snap) -> Row:
        """Return a snap's row; that of an error if the worker doesn't survive it.

        :raises AdvisorError: if no worker can be started.
        """
        with self._busy:
            for _ in range(_TRIES):
                try:
                    if self._process is None:
                        self._start()
                    row = self._ask(snap, self._limits.seconds)
                except TimeoutError:
                    self.close()
                    message = f"takes longer than {self._limits.seconds:g} s"
                    return _lost(snap, TimeLimitError, message, "Raise --time-limit.")
                except _EndedError:
                    self.close()
                    if self._stopped:
                        break
                    continue
                if row.pop("spent", False):
                    self.close()  # what it has taken it may not give back
                return row
        resolution = "Check the system's log for lack of memory."
        return _lost(snap, ToolError, f"ended {_TRIES} workers in a row", resolution)

    def kill(self) -> bool:
        """Kill the process, as the system would; return whether there was one."""
        process = self._process
        if process is None:
            return False
        process.kill()
        return True

    def stop(self) -> None:
        """End the process for good, from any thread; the snap that it has fails."""
        self._stopped = True
        self.kill()
        with self._busy:  # by now a moment
            self.close()

    def close(self) -> None:
        """End the process; closing again does nothing."""
        if self._process is not None:
            self._socket.close()
            self._process.kill()
            end_child(self._process)
            self._process = None

    def _start(self) -> None:
        """Start the process.

        :raises ToolError: if it can't be started.
        :raises _EndedError: if it is killed meanwhile, or isn't wanted any more.
        """
        if self._stopped:
            raise _EndedError
        process = self._open()
        try:
            answer = self._ask(self._first, _START_LIMIT_S)
        except (TimeoutError, _EndedError) as error:
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            by_signal = (process.returncode or 0) < 0
            self.close()
            if by_signal:
                raise _EndedError from error
            message = "No worker process can be started"
            resolution = "Close other programs, or use fewer workers."
            raise ToolError(message, resolution=resolution) from error
        if "error" in answer:
            self.close()
            raise ToolError(str(answer["error"]))

    def _open(self) -> subprocess.Popen[bytes]:
        program = _PROGRAM.format(path=sys.path)
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                ending_with_us((sys.executable, "-c", program)),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for us, who then end it
            )
        return self._process

    def _ask(self, message: object, limit_s: float) -> dict[str, Any]:
        """Send a message and return the answer, a line.

        :raises TimeoutError: if none comes in time.
        :raises _EndedError: if the process has ended.
        """
        end = time.monotonic() + limit_s
        line = bytearray()
        try:
            self._socket.settimeout(limit_s)
            self._socket.sendall(pickle.dumps(message))
            while not line.endswith(b"\n"):
                left_s = end - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError
                self._socket.settimeout(left_s)
                part = self._socket.recv(_CHUNK_BYTES)
                if not part:
                    raise _EndedError
                line += part
        except ConnectionError as error:
            raise _EndedError from error
        answer: dict[str, Any] = json.loads(line)
        return answer


class Pool:
    """A pool of worker processes on this machine, for one run.

    :param workers: number of processes.
    :ivar workers: all of them; each starts with its first snap.
    """

    def __init__(self, request: FleetRequest, limits: Limits, *, workers: int) -> None:
        self.workers = [
            BoundedWorker(request, limits, processor=number)
            for number in range(workers)
        ]
        self._idle = SimpleQueue[BoundedWorker]()
        for worker in self.workers:
            self._idle.put(worker)

    def rows(self, snaps: Sequence[Snap]) -> Iterator[Row]:
        """Yield a row for each snap, as they become ready."""
        with ThreadPoolExecutor(len(self.workers)) as pool:
            left = iter(snaps)
            most = len(self.workers) * (1 + _WAITING_IN_POOL)
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
                for worker in self.workers:
                    worker.stop()

    def _row(self, snap: Snap) -> Row:
        worker = self._idle.get()
        try:
            return worker.row(snap)
        finally:
            self._idle.put(worker)


def main() -> None:
    """Answer with rows, as the worker process, until no more snaps come.

    The first message is the request with what bounds the worker.
    """
    with (
        socket.socket(fileno=sys.stdin.fileno()) as ours,
        ours.makefile("rwb") as stream,
        ExitStack() as until,
    ):

        def answer(row: Row) -> None:
            # Not pickled: this process has read what strangers made.
            stream.write(json.dumps(row).encode() + b"\n")
            stream.flush()

        request, limit_bytes, processor = pickle.load(stream)  # noqa: S301 # of the process that started this one
        # With one processor for each worker, codecs need no further threads.
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[processor % len(allowed)]})
        try:
            task = SnapTask(request, until)
        except AdvisorError as error:
            answer(failure({}, error))
            return
        answer({})
        _bound(limit_bytes)
        with suppress(EOFError):
            while True:
                answer(_row(task, pickle.load(stream), limit_bytes))  # noqa: S301 # as above


def _row(task: SnapTask, snap: Snap, limit_bytes: int) -> Row:
    try:
        return task.row(snap)
    except MemoryError:
        pass
    except Exception as error:  # noqa: BLE001 # one snap's, of any kind
        if not (isinstance(error, RuntimeError) and _NO_THREAD in str(error)):
            message = f"Internal error: {type(error).__name__}: {error}"
            fault = AdvisorError(message, resolution="Please report it.")
            return failure(identity_of(snap), fault)
    message = f"takes more than {limit_bytes / 1e6:.0f} MB of memory"
    spent = _lost(snap, MemoryLimitError, message, "Raise --memory-limit.")
    return {**spent, "spent": True}


def _lost(snap: Snap, kind: type[AdvisorError], message: str, resolution: str) -> Row:
    """Return the row of a snap that no worker could finish; it isn't read again."""
    error = kind(f"{snap.path!r} {message}", resolution=resolution)
    return failure(identity_of(snap), error)


def _bound(limit_bytes: int) -> None:
    """Let the process have so much more memory, beyond its code and what it has now."""
    statm = Path("/proc/self/statm").read_text(encoding="ascii").split()
    most = int(statm[_STATM_DATA]) * resource.getpagesize() + limit_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
