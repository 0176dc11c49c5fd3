"""A worker process: takes snaps from one pipe, gives rows to another.

Its starter is :mod:`.bounded`, which ends it where a snap takes too long.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import struct
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from ..core.errors import AdvisorError
from .columns import Row
from .sources import Snap
from .task import SnapTask, failure, lost

LENGTH = struct.Struct("<Q")
"""Before each message: how many bytes it has."""

_NO_THREAD = "can't start new thread"
_STATM_DATA = 5  # proc(5): data and stack, in pages


class MemoryLimitError(AdvisorError):
    """A snap takes more memory than a worker may have."""

    exit_status = os.EX_OSERR


def main(tasks: int, rows: int) -> None:
    """Make rows until no more snaps come.

    :param tasks: descriptor; its first message is the request, limits included.
    :param rows: descriptor.
    """
    with (
        open(tasks, "rb") as source,
        open(rows, "wb") as sink,
        ExitStack() as until,
    ):
        request, limit_bytes, processor = _taken(source)
        _settle(processor)
        try:
            task = SnapTask(request, until)
            _give(sink, {})
        except AdvisorError as error:
            _give(sink, failure({}, error))
            return
        _bound(limit_bytes)
        while (snap := _taken(source)) is not None:
            _give(sink, _row(task, snap, limit_bytes))


def _row(task: SnapTask, snap: Snap, limit_bytes: int) -> Row:
    try:
        return task.row(snap)
    except MemoryError:
        pass
    except RuntimeError as error:
        if _NO_THREAD not in str(error):
            return _internal(snap, error)
    except Exception as error:  # noqa: BLE001 # one snap's, whatever it is
        return _internal(snap, error)
    message = f"{snap.path!r} takes more than {limit_bytes / 1e6:.0f} MB of memory"
    resolution = "Raise --memory-limit."
    spent = lost(snap, MemoryLimitError(message, resolution=resolution))
    return {**spent, "spent": True}


def _internal(snap: Snap, error: Exception) -> Row:
    message = f"Internal error: {type(error).__name__}: {error}"
    said = AdvisorError(message, resolution="Please report it.")
    return lost(snap, said)


def _settle(processor: int) -> None:
    """Stay on one processor: with one worker each, codecs need no further threads."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[processor % len(allowed)]})


def _bound(limit_bytes: int) -> None:
    """Let the process have so much more memory, beyond its code and what it has now."""
    statm = Path("/proc/self/statm").read_text(encoding="ascii").split()
    most = int(statm[_STATM_DATA]) * resource.getpagesize() + limit_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _taken(source: IO[bytes]) -> Any:  # noqa: ANN401 # whatever the starter sends
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None  # the starter has no more
    content = source.read(*LENGTH.unpack(head))
    return pickle.loads(content)  # noqa: S301 # of the process that started this one


def _give(sink: IO[bytes], row: Row) -> None:
    # Not pickled: this process has read what strangers made.
    content = json.dumps(row).encode()
    sink.write(LENGTH.pack(len(content)) + content)
    sink.flush()
