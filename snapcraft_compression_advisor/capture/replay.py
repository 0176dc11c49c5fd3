"""A launch's reads without the launch, and the walk of every file."""

from __future__ import annotations

import errno
import mmap
import os
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.errors import BadDataError, StorageError
from snapcraft_compression_advisor.launch.profile import fit_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from snapcraft_compression_advisor.launch.launch_set import LaunchFile
    from snapcraft_compression_advisor.launch.profile import (
        FittedProfile,
        LaunchProfile,
    )
    from snapcraft_compression_advisor.payload.inventory import Inventory

_WALK_READ_BYTES = 1024 * 1024
_FIRST_READ_BYTES = DATA_BLOCK_BYTES - mmap.PAGESIZE
"""All of a block but its last page. It brings in the whole block.

For a read of a whole block ``squashfs_readahead`` (Linux's ``fs/squashfs/file.c``)
rounds up to two, and the next block would be read as well.
"""

_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NO_SUCH_FILE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


def fit_for_replay(profile: LaunchProfile, inventory: Inventory) -> FittedProfile:
    """Return what of a profile a payload holds.

    :param inventory: of the payload.
    :raises BadDataError: where that is nothing.
    """
    fitted = fit_profile(profile, inventory)
    if not fitted.launch_set.files:
        message = "The payload has none of the files of the launch profile"
        raise BadDataError(
            message, resolution="Use a profile of this snap, or record one."
        )
    return fitted


def replay(root: Path, files: Iterable[LaunchFile]) -> float:
    """Read the data blocks of a launch in its order, and nothing else.

    Blocks that the launch only may read are read too. Files that aren't there, and
    blocks beyond a file's end, are left out: whether a profile fits is for
    :func:`fit_for_replay` to say.

    :param root: where the payload is mounted.
    :return: seconds.
    :raises StorageError: where reading fails.
    """
    buffer = memoryview(bytearray(_FIRST_READ_BYTES))
    with _reading(root):
        start = time.perf_counter()
        for file in files:
            _read_blocks(f"{root}/{file.path}", file, buffer)
        return time.perf_counter() - start


def walk(root: Path) -> float:
    """Read every file of a mount whole, as the published study of snaps did.

    :param root: where the payload is mounted.
    :return: seconds.
    :raises StorageError: where reading fails.
    """
    buffer = memoryview(bytearray(_WALK_READ_BYTES))
    with _reading(root):
        start = time.perf_counter()
        for path in _file_paths(str(root)):
            _read_whole(path, buffer)
        return time.perf_counter() - start


@contextmanager
def _reading(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"Cannot read from the mount {str(root)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="See the kernel's messages (dmesg)."
        ) from error


def _read_blocks(path: str, file: LaunchFile, buffer: memoryview) -> None:
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        if error.errno in _NO_SUCH_FILE:
            return
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        # A read then brings in what it asks for, without reading on.
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        for first, last in file.blocks:
            for block in range(first, last + 1):
                offset = block * DATA_BLOCK_BYTES
                if not os.preadv(descriptor, [buffer], offset):
                    return
                os.preadv(descriptor, [buffer[: mmap.PAGESIZE]], offset + len(buffer))
    finally:
        os.close(descriptor)


def _file_paths(directory: str) -> Iterator[str]:
    """Yield the regular files below a directory, in the order of their names."""
    with os.scandir(directory) as items:
        found = sorted(items, key=lambda item: os.fsencode(item.name))
    for item in found:
        if item.is_dir(follow_symlinks=False):
            yield from _file_paths(item.path)
        elif item.is_file(follow_symlinks=False):
            yield item.path


def _read_whole(path: str, buffer: memoryview) -> None:
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        while os.readv(descriptor, [buffer]):
            pass
    finally:
        os.close(descriptor)
