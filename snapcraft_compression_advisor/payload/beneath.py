"""Opening what lies in a directory, and nothing else.

No name of a path may be a symbolic link. So a directory that is swapped for a link
after it was listed leads to an error, never out of the payload; ``O_NOFOLLOW`` by
itself guards a path's last name only (``open(2)``). The kernel sees to it
(``openat2(2)``, Linux 5.6 on); where it can't, or isn't let, the path is opened name by
name.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_C_LIBRARY = ctypes.CDLL(None, use_errno=True)
_OPENAT2 = 437  # the same on all architectures that snaps are built for
_NO_SYMLINKS = 0x04  # RESOLVE_NO_SYMLINKS of linux/openat2.h
_BENEATH = 0x08
# An older kernel; a container's filter; something was renamed meanwhile.
_NOT_TO_BE_HAD = frozenset({errno.ENOSYS, errno.EPERM, errno.EAGAIN})

# O_PATH: to pass through a directory takes no right to list it.
_PASSED = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO for reading would wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_READ |= os.O_LARGEFILE  # which the C library adds on 32-bit machines, a bare call not


class _OpenHow(ctypes.Structure):
    """``struct open_how`` of linux/openat2.h."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


_HOW = {
    flags: _OpenHow(flags=_READ | flags, resolve=_NO_SYMLINKS | _BENEATH)
    for flags in (0, os.O_DIRECTORY)
}


@contextmanager
def directory_beneath(root: str | Path, path: str) -> Iterator[int]:
    """Open a directory for listing; yield its descriptor.

    :param root: may itself be a symbolic link.
    :param path: of the directory, relative to the root; empty for the root itself.
    :raises OSError: where there is none, or a link is on the way.
    """
    if path:
        descriptor = _open(root, path, os.O_DIRECTORY)
    else:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def file_beneath(root: str | Path, path: str) -> Iterator[int]:
    """Open a regular file for reading; yield its descriptor.

    :param root: may itself be a symbolic link.
    :param path: of the file, relative to the root.
    :raises OSError: where there is none, or a link is on the way.
    """
    descriptor = _open(root, path, 0)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no longer a regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def _open(root: str | Path, path: str, flags: int) -> int:
    """Return a descriptor of what a path in the root leads to."""
    beneath = os.open(root, _PASSED)
    try:
        how, name = _HOW[flags], os.fsencode(path)
        descriptor: int = _C_LIBRARY.syscall(
            _OPENAT2, beneath, name, ctypes.byref(how), ctypes.sizeof(how)
        )
        reason = ctypes.get_errno()
    finally:
        os.close(beneath)
    if descriptor >= 0:
        return descriptor
    if reason in _NOT_TO_BE_HAD:
        return _open_by_names(root, path, flags)
    raise OSError(reason, os.strerror(reason), path)


def _open_by_names(root: str | Path, path: str, flags: int) -> int:
    """Return the same without ``openat2``."""
    *directories, name = path.split("/")
    here = os.open(root, _PASSED)
    try:
        for directory in directories:
            above = here
            here = os.open(directory, _PASSED | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
        return os.open(name, _READ | flags, dir_fd=here)
    finally:
        os.close(here)
