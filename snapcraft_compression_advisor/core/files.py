"""Files opened by name and compared; directories listed and removed, however deep."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from .units import MIB

_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def read_table(package: str, name: str) -> dict[str, Any]:
    """Return the content of a YAML file of a package.

    libyaml takes a tenth of the time of ruamel.yaml, which is for users' files: there
    it gets the place of each value.
    """
    import yaml  # noqa: PLC0415 # few commands read one

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    table: dict[str, Any] = yaml.load(
        files(package).joinpath(name).read_bytes(),
        loader,  # noqa: S506 # one of the safe ones
    )
    return table


class NotRegularError(OSError):
    """A FIFO, socket or device, which may never begin or end."""


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading.

    Nothing else is waited for, and nothing else is read: a FIFO may never have a
    writer, and a device never an end.

    :raises OSError: if it is anything else, or can't be opened.
    :raises ValueError: if the path has a null byte.
    """
    descriptor = os.open(path, _OPEN_FLAGS)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise NotRegularError(errno.EINVAL, "not a regular file")


def read_regular(path: str | Path, most_bytes: int) -> bytes:
    """Return the bytes of a regular file, at most one more than the limit."""
    with open_regular(path) as file:
        return file.read(most_bytes + 1)


def first_difference(first: Path, second: Path) -> int | None:
    """Return the first byte in which two files differ; ``None`` if in none."""
    position = 0
    with open_regular(first) as one, open_regular(second) as other:
        while True:
            left, right = one.read(MIB), other.read(MIB)
            if left != right:
                pairs = enumerate(zip(left, right, strict=False))
                shorter = min(len(left), len(right))
                return position + next((at for at, (a, b) in pairs if a != b), shorter)
            if not left:
                return None
            position += len(left)


_OWN_MODE = stat.S_IRWXU
_IN_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_GET_FLAGS, _SET_FLAGS = 0x8008_6601, 0x4008_6602  # FS_IOC_*FLAGS of linux/fs.h
_FLAGS = struct.Struct("l")
_PROTECTED = 0x10 | 0x20  # FS_IMMUTABLE_FL, FS_APPEND_FL


def entries_below(root: Path) -> Iterator[os.DirEntry[str]]:
    """Yield what is below a directory by name; no link is followed.

    Directories that can't be read are left out. Unlike :func:`os.walk` before Python
    3.12, this doesn't recurse.
    """
    pending = [os.fspath(root)]
    while pending:
        entries: list[os.DirEntry[str]] = []
        with suppress(OSError), os.scandir(pending.pop()) as items:
            entries = sorted(items, key=lambda entry: entry.name)
        yield from entries
        folders = [e.path for e in entries if e.is_dir(follow_symlinks=False)]
        pending += reversed(folders)


def remove_tree(directory: Path) -> None:
    """Remove a directory with all that is below it, unreadable or protected or not.

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
                _unlink(entry.name, folder)
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
        try:
            os.close(os.open(".", os.O_RDONLY | _IN_FOLDER, dir_fd=place))
        except PermissionError:
            os.chmod(f"/proc/self/fd/{place}", _OWN_MODE)  # noqa: PTH101 # no path
        with _descriptor(".", os.O_RDONLY | _IN_FOLDER, place) as folder:
            _unprotect(folder)
            if os.fstat(folder).st_mode & _OWN_MODE != _OWN_MODE:
                os.fchmod(folder, _OWN_MODE)
            yield folder


@contextmanager
def _descriptor(name: str, flags: int, parent: int | None) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except PermissionError:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with _descriptor(name, flags, folder) as file:
            _unprotect(file)
        os.unlink(name, dir_fd=folder)


def _unprotect(descriptor: int) -> None:
    """Take away what keeps root itself from changing a file, if it has that."""
    with suppress(OSError):  # a file system without such flags
        flags = _FLAGS.unpack(fcntl.ioctl(descriptor, _GET_FLAGS, bytes(_FLAGS.size)))
        if flags[0] & _PROTECTED:
            fcntl.ioctl(descriptor, _SET_FLAGS, _FLAGS.pack(flags[0] & ~_PROTECTED))
