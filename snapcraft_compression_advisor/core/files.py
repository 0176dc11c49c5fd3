"""Files that are opened by name, and files compared with each other."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from .units import MIB

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class NotRegularError(OSError):
    """A FIFO, socket or device, which may never begin or end."""


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file, or a link to one, for reading.

    Nothing else is waited for, and nothing else is read: a FIFO may never have a
    writer, and a device never an end.

    :raises OSError: if it is anything else, or can't be opened.
    :raises ValueError: if the path has a null byte.
    """
    descriptor = os.open(path, _FLAGS)
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
                return position + common_bytes(left, right)
            if not left:
                return None
            position += len(left)


def common_bytes(left: bytes, right: bytes) -> int:
    """Return how many bytes are equal before the first difference."""
    pairs = zip(left, right, strict=False)
    shorter = min(len(left), len(right))
    return next((at for at, (a, b) in enumerate(pairs) if a != b), shorter)
