"""A server for this process alone, which ends with it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..core.child import beginning, end_child, ending_with_us
from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError, ToolError
from ..core.scratch import ScratchDirectory

_START_TIMEOUT_S = 20.0
"""Some tenths of a second are usual."""


@contextmanager
def private_server(
    program: str,
    words_for: Callable[[Path, int], Sequence[str]],
    *,
    resolution: str,
    place: Path | None = None,
) -> Iterator[tuple[str, Path]]:
    """Start a server, and end it with the block, on signals too.

    :param words_for: returns the arguments for a directory of the server's own and a
        descriptor, to which the server writes a line when it is ready.
    :param resolution: what to do where the server doesn't start.
    :param place: where to make the directory; by default, where temporary files go.
    :returns: that line, and the directory.
    :raises StorageError: if the directory can't be made or written to.
    :raises ToolError: if the server doesn't start.
    """
    with deferred_signals() as signals:
        try:
            scratch = ScratchDirectory(place, ignores_errors=True)
        except OSError as error:
            raise _unwritable(program, error) from error
        with scratch as name, tempfile.TemporaryFile() as said:
            directory = Path(name)
            lines, line_end = os.pipe()
            try:
                command = (program, *words_for(directory, line_end))
                server = _start(command, line_end, said)
            except OSError as error:
                os.close(lines)
                raise _unwritable(program, error) from error
            finally:
                os.close(line_end)
            with os.fdopen(lines, "rb") as lines_file:
                try:
                    with signals.delivered():
                        yield _line(program, lines_file, said, resolution), directory
                finally:
                    end_child(server)  # at SIGTERM it removes its sockets and locks


def _unwritable(program: str, error: OSError) -> StorageError:
    message = f"Cannot write what {program} needs: {error}"
    return StorageError(
        message, resolution="Set TMPDIR to a directory that you can write to."
    )


def _start(
    command: Sequence[str], line_end: int, said: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ending_with_us(command, signal.SIGTERM),
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        pass_fds=(line_end,),
        start_new_session=True,  # Ctrl-C is for us, who then end it
    )


def _line(program: str, lines: IO[bytes], said: IO[bytes], resolution: str) -> str:
    """Return what the server writes once it is ready."""
    readable, _, _ = select.select([lines], [], [], _START_TIMEOUT_S)
    line = lines.readline().strip() if readable else b""
    if not line:
        message = f"{program} did not start"
        raise ToolError(message, details=beginning(said), resolution=resolution)
    return line.decode(errors="replace")
