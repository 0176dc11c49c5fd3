"""A worker process that is ended where a snap takes too long, and started again."""

from __future__ import annotations

import json
import os
import pickle
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from ..core.child import END_S, end_child, ending_with_us
from ..core.errors import AdvisorError, ToolError
from ..core.frozen import frozen
from .columns import Row
from .sources import Snap
from .task import FleetRequest, lost
from .worker import LENGTH

_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; "
    "from snapcraft_compression_advisor.fleet.worker import main; main({0}, {1})"
)
_TRIES = 3
"""As Dask's ``allowed-failures``: a worker that is killed need not be the snap's doing,
three in a row are."""

_STARTS = 32
"""Of a worker that is killed while it starts: that says nothing of any snap."""

_START_LIMIT_S = 120.0
_CHUNK_BYTES = 1 << 20


@frozen
class Limits:
    """What one snap may take.

    :param seconds: of time.
    :param memory_bytes: beyond what a worker has before it opens a snap.
    """

    seconds: float = 300.0
    memory_bytes: int = 1_000_000_000


class TimeLimitError(AdvisorError):
    """A snap takes longer than it may."""

    exit_status = os.EX_TEMPFAIL


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
        self._tasks, self._rows = -1, -1
        self._stopped = False
        self._busy = threading.Lock()

    def row(self, snap: Snap) -> Row:
        """Return a snap's row; that of an error where the worker doesn't survive it.

        :raises AdvisorError: where no worker can be started.
        """
        with self._busy:
            return self._tried(snap)

    def _tried(self, snap: Snap) -> Row:
        for _ in range(_TRIES):
            try:
                if self._process is None:
                    self._start()
                row = self._ask(snap, self._limits.seconds)
            except TimeoutError:
                self.close()
                return self._too_long(snap)
            except _EndedError:
                self.close()
                if self._stopped:
                    break
                continue
            if row.pop("spent", False):
                self.close()  # what it has taken it may not give back
            return row
        return _killed(snap)

    def kill(self) -> bool:
        """Kill the process, as the system would; tell whether there was one."""
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
            os.close(self._tasks)
            os.close(self._rows)
            self._process.kill()
            end_child(self._process)
            self._process = None

    def _start(self) -> None:
        """Start the process, again where it is killed meanwhile.

        :raises ToolError: where it can't be started.
        :raises _EndedError: where it isn't wanted any more.
        """
        for _ in range(_STARTS):
            if self._stopped:
                raise _EndedError
            process = self._open()
            try:
                said = self._ask(self._first, _START_LIMIT_S)
            except TimeoutError as error:
                self.close()
                raise _no_start() from error
            except _EndedError as error:
                by_signal = _was_killed(process)
                self.close()
                if not by_signal:
                    raise _no_start() from error
                continue
            if "error" in said:
                self.close()
                raise ToolError(str(said["error"]))
            return
        raise _no_start()

    def _open(self) -> subprocess.Popen[bytes]:
        inward, self._tasks = os.pipe()
        self._rows, outward = os.pipe()
        program = _PROGRAM.format(inward, outward, path=sys.path)
        try:
            self._process = subprocess.Popen(
                ending_with_us((sys.executable, "-c", program)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(inward, outward),
                start_new_session=True,  # Ctrl-C is for us, who then end it
            )
        finally:
            os.close(inward)
            os.close(outward)
        return self._process

    def _ask(self, message: object, limit_s: float) -> dict[str, Any]:
        """Send a message and return the answer.

        :raises TimeoutError: where none comes in time.
        :raises _EndedError: where the process has ended.
        """
        end = time.monotonic() + limit_s
        content = pickle.dumps(message)
        try:
            os.write(self._tasks, LENGTH.pack(len(content)))
            for start in range(0, len(content), _CHUNK_BYTES):
                os.write(self._tasks, content[start : start + _CHUNK_BYTES])
        except BrokenPipeError as error:
            raise _EndedError from error
        (length,) = LENGTH.unpack(self._read(LENGTH.size, end))
        answer: dict[str, Any] = json.loads(self._read(length, end))
        return answer

    def _read(self, length: int, end: float) -> bytes:
        content = b""
        while len(content) < length:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._rows], [], [], left)[0]:
                raise TimeoutError
            part = os.read(self._rows, min(_CHUNK_BYTES, length - len(content)))
            if not part:
                raise _EndedError
            content += part
        return content

    def _too_long(self, snap: Snap) -> Row:
        message = f"{snap.path!r} takes longer than {self._limits.seconds:g} s"
        error = TimeLimitError(message, resolution="Raise --time-limit.")
        return lost(snap, error)


def _was_killed(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a process whose pipe has ended was killed, rather than left."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_S)
    return (process.returncode or 0) < 0


def _no_start() -> ToolError:
    message = "No worker process can be started"
    return ToolError(message, resolution="Close other programs, or use fewer workers.")


def _killed(snap: Snap) -> Row:
    message = f"{snap.path!r} ended {_TRIES} workers in a row"
    error = ToolError(message, resolution="Check the system's log for lack of memory.")
    return lost(snap, error)
