"""Opening what lies in a directory, and nothing else.

No name of a path may be a symbolic link. So a directory that is swapped for a link
after it was listed leads to an error, never out of the payload. ``O_NOFOLLOW`` by
itself guards a path's last name only (``open(2)``), so each is opened by itself.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# O_PATH: to pass through a directory takes no right to list it.
_PASSED = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO for reading would wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def directory_beneath(root: str | Path, path: str) -> Iterator[int]:
    """Open a directory for listing; yield its descriptor.

    :param root: may itself be a symbolic link.
    :param path: of the directory, relative to the root; empty for the root itself.
    :raises OSError: if there is none, or a link is on the way.
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
    :raises OSError: if there is none, or a link is on the way.
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
    *directories, name = path.split("/")
    if ".." in directories or name == "..":
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.open(root, _PASSED)
    try:
        for directory in directories:
            above = here
            here = os.open(directory, _PASSED | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
        return os.open(name, _READ | flags, dir_fd=here)
    finally:
        os.close(here)
