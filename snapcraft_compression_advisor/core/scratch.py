"""Temporary directories that go with the run, or else with the next one.

A run that is killed (SIGKILL, a power cut) removes nothing. So each directory is
locked (flock(2)) for as long as its run lives: the kernel takes the lock away with the
process, whatever ended that. What is found without its lock is removed by the next run
that makes a directory in the same place, what is mounted there first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.deferred_signals import deferred_signals
from snapcraft_compression_advisor.core.errors import StorageError
from snapcraft_compression_advisor.core.leftovers import (
    HELD_MODE,
    PREFIX,
    remove_leftovers,
)
from snapcraft_compression_advisor.core.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType


class ScratchDirectory:
    """A temporary directory; as a context manager it is removed at the end.

    :param place: where to make it; the system's temporary directory by default.
    :param ignores_errors: whether what can't be removed is left, not an error.
    :raises OSError: where it can't be made.
    """

    def __init__(
        self, place: Path | None = None, *, ignores_errors: bool = False
    ) -> None:
        # Looked up anew each time: TMPDIR may name a file by now.
        where = Path(tempfile.gettempdir()) if place is None else place
        remove_leftovers(where)
        self._directory = tempfile.TemporaryDirectory(
            prefix=PREFIX, dir=where, ignore_cleanup_errors=ignores_errors
        )
        self._lock = hold(Path(self._directory.name))

    def __enter__(self) -> str:
        """Return its path."""
        return self._directory.name

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Remove it, and only then give up the lock."""
        try:
            self._directory.cleanup()
        finally:
            if self._lock is not None:
                os.close(self._lock)


def hold(directory: Path) -> int | None:
    """Lock a directory of ours until the descriptor is closed or the process ends.

    :returns: the descriptor; ``None`` where this file system has no locks, and the
        directory is never taken for a leftover.
    """
    descriptor = -1
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Only now may others take a missing lock for the end of this process.
        os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) | HELD_MODE)
    except OSError:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        return None
    return descriptor


@contextlib.contextmanager
def scratch_directory(
    place: Path | None = None,
    *,
    resolution: str,
    needed_bytes: int = 0,
    needs: str = "this needs",
) -> Iterator[Path]:
    """Make a directory that is removed at the end, signals included.

    :param place: where; the system's temporary directory by default.
    :param resolution: what to do where it can't be made.
    :param needed_bytes: free space that is sure to be taken.
    :param needs: what takes it, as in "the images need more than".
    :raises StorageError: where it can't be made, or has too little room.
    """
    where = place or Path(tempfile.gettempdir())
    with deferred_signals() as signals:
        try:
            free_bytes = shutil.disk_usage(where).free
            if free_bytes < needed_bytes:
                message = (
                    f"Not enough free space in {str(where)!r}: {needs} "
                    f"{format_bytes(needed_bytes)}, {format_bytes(free_bytes)} are free"
                )
                raise StorageError(message, resolution=resolution)
            directory = ScratchDirectory(where)
        except OSError as error:
            message = f"Cannot write to {str(where)!r}: {error.strerror}"
            raise StorageError(message, resolution=resolution) from error
        with directory as path, signals.delivered():
            yield Path(path)
