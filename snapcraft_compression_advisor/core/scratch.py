"""Temporary directories that go with the run, or else with the next one.

A run that is killed (SIGKILL, a power cut) removes nothing. So each directory is
locked (flock(2)) for as long as its run lives: the kernel takes the lock away with the
process, however that ended. What is found without its lock is removed by the next run
that makes a directory in the same place, what is mounted there first.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .child import deferred_signals
from .errors import StorageError
from .units import format_bytes

PREFIX = "compression-advisor-"
"""What the names of all temporary directories begin with."""

HELD_MODE = stat.S_ISVTX
"""Set in a directory's mode once it is locked: it means nothing in a private directory,
and tells what a run has made from what only bears such a name."""

_MNT_DETACH, _UMOUNT_NOFOLLOW = 2, 8
_OCTAL = re.compile(rb"\\([0-7]{3})")


@contextmanager
def held_directory(
    place: Path | None = None, *, ignores_errors: bool = False
) -> Iterator[Path]:
    """Make a temporary directory that is locked, and removed at the end.

    :param place: where to make it; the system's temporary directory by default.
    :param ignores_errors: whether what can't be removed is left, not an error.
    :raises OSError: if it can't be made.
    """
    # Looked up anew each time: TMPDIR may name a file by now.
    where = Path(tempfile.gettempdir()) if place is None else place
    remove_leftovers(where)
    path, lock = _made(where)
    try:
        yield path
    finally:
        try:
            remove_tree(path)
        except OSError:
            if not ignores_errors:
                raise
        finally:  # only now may others take it for a leftover
            if lock is not None:
                os.close(lock)


def _made(where: Path) -> tuple[Path, int | None]:
    """Make a directory and lock it: again, where another run took it for a leftover."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        lock = hold(path)
        if path.exists():
            return path, lock
        if lock is not None:
            os.close(lock)


def hold(directory: Path) -> int | None:
    """Lock a directory until the returned descriptor is closed or the process ends.

    ``None`` if the file system has no locks; it is then never taken for a leftover.
    """
    descriptor = -1
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) | HELD_MODE)
    except OSError:
        with suppress(OSError):
            os.close(descriptor)
        return None
    return descriptor


NO_ROOM = "Set TMPDIR to a directory on a larger disk that you can write to."


@contextmanager
def scratch_directory(
    place: Path | None = None,
    *,
    resolution: str = NO_ROOM,
    needed_bytes: int = 0,
) -> Iterator[Path]:
    """Make a directory that is removed at the end, signals included.

    :param place: where; the system's temporary directory by default.
    :param resolution: what to do if it can't be made.
    :raises StorageError: if it can't be made, or has too little room.
    """
    where = place or Path(tempfile.gettempdir())
    with deferred_signals() as signals, ExitStack() as until:
        try:
            free_bytes = shutil.disk_usage(where).free
            if free_bytes < needed_bytes:
                message = (
                    f"Not enough free space in {str(where)!r}: about "
                    f"{format_bytes(needed_bytes)} are needed, "
                    f"{format_bytes(free_bytes)} are free"
                )
                raise StorageError(message, resolution=resolution)
            directory = until.enter_context(held_directory(where))
        except OSError as error:
            message = f"Cannot write to {str(where)!r}: {error.strerror}"
            raise StorageError(message, resolution=resolution) from error
        with signals.delivered():
            yield directory


def remove_leftovers(place: Path) -> None:
    """Remove temporary directories of runs that are dead; leave all others alone.

    Only directories of this user are looked at. What can't be removed stays.
    """
    for directory in place.glob(f"{PREFIX}*"):
        with (
            suppress(OSError),
            _descriptor(os.fspath(directory), os.O_RDONLY | _IN_FOLDER) as found,
        ):
            status = os.fstat(found)
            if status.st_uid != os.geteuid():
                continue
            # Refused if its run lives.
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not status.st_mode & HELD_MODE:
                # Killed before it was locked; refused unless it is empty.
                directory.rmdir()
            elif _unmount_below(directory):
                remove_tree(directory)


def _unmount_below(directory: Path) -> bool:
    """Detach what is mounted below a directory; ``False`` where something stays."""
    for root in _mounts_below(directory):
        unmount(root)
    return not _mounts_below(directory)


def _mounts_below(directory: Path) -> list[str]:
    """Return mount points below a directory, the innermost first."""
    inside = os.path.realpath(directory) + "/"
    table = Path("/proc/self/mountinfo").read_bytes()
    # proc(5): the fifth field, white space in it escaped.
    points = (unescaped(line.split(b" ")[4]) for line in table.splitlines())
    return sorted((each for each in points if each.startswith(inside)), reverse=True)


def unescaped(field: bytes) -> str:
    """Return a field of a mount table with its white space in place."""
    return os.fsdecode(_OCTAL.sub(lambda found: bytes([int(found[1], 8)]), field))


def unmount(root: str) -> None:
    """Unmount; while something is still in use there, only detach."""
    for flags in (0, _MNT_DETACH):
        if ctypes.CDLL(None).umount2(os.fsencode(root), flags | _UMOUNT_NOFOLLOW) == 0:
            return


_OWN_MODE = stat.S_IRWXU
_IN_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(directory: Path) -> None:
    """Remove a directory with all that is below it, unreadable or not.

    Each directory is moved to the top before it is emptied: neither the stack nor the
    length of a path grows with the depth. What is mounted can't be moved, so it is
    never entered.

    :raises OSError: if something stays; all else is removed nevertheless.
    """
    failures: list[OSError] = []
    with suppress(FileNotFoundError), _opened(os.fspath(directory), None) as top:
        pending = [*_emptied(top, top, failures)]
        while pending:
            name = pending.pop()
            try:
                with _opened(name, top) as folder:
                    pending += _emptied(folder, top, failures)
                os.rmdir(name, dir_fd=top)
            except OSError as error:
                failures.append(error)
        if not failures:
            directory.rmdir()
    if failures:
        raise failures[0]


def _emptied(folder: int, top: int, failures: list[OSError]) -> Iterator[str]:
    """Remove an open directory's files; yield its directories' names at the top."""
    with os.scandir(folder) as items:
        entries = [*items]
    for entry in entries:
        try:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
                continue
            moved = uuid.uuid4().hex
            with _opened(entry.name, folder):  # else it may not be moved
                os.rename(entry.name, moved, src_dir_fd=folder, dst_dir_fd=top)
            yield moved
        except OSError as error:
            failures.append(error)


@contextmanager
def _opened(name: str, parent: int | None) -> Iterator[int]:
    """Open a directory and let its owner do everything in it."""
    with _descriptor(name, os.O_PATH | _IN_FOLDER, parent) as place:
        if os.fstat(place).st_mode & _OWN_MODE != _OWN_MODE:
            os.chmod(f"/proc/self/fd/{place}", _OWN_MODE)  # noqa: PTH101 # no path
        with _descriptor(".", os.O_RDONLY | _IN_FOLDER, place) as folder:
            yield folder


@contextmanager
def _descriptor(name: str, flags: int, parent: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
