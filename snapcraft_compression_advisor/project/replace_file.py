"""A file replaced by another one in one step."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def replace_file(
    target: Path, content: bytes, *, last_check: Callable[[], None]
) -> None:
    """Replace a file by one with other bytes, whole or not at all.

    The new one gets the mode, the extended attributes and, where permitted, the owner
    of the old one, and is on the disk before it takes its place. It has a name
    (open(2), ``O_TMPFILE``) only once it is complete, so that a run that is killed
    meanwhile leaves nothing beside the old one.

    :param last_check: called right before the replacement; stops it by raising.
    :raises OSError: where the file can't be written.
    """
    try:
        _replace_nameless(target, content, last_check)
    except OSError:  # this file system, or a confinement, doesn't let us
        _replace_named(target, content, last_check)


def _replace_nameless(
    target: Path, content: bytes, last_check: Callable[[], None]
) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    flags = os.O_TMPFILE | os.O_WRONLY
    with (
        _opened(target.parent, os.O_RDONLY | os.O_DIRECTORY) as directory,
        _opened(target.parent, flags) as descriptor,
    ):
        _fill(descriptor, content, target)
        last_check()
        # With a directory's descriptor, Python calls linkat(2): link(2) would make
        # a second name of what is in /proc.
        place = f"/proc/self/fd/{descriptor}"
        os.link(place, temporary.name, dst_dir_fd=directory)
        try:
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _replace_named(
    target: Path, content: bytes, last_check: Callable[[], None]
) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        try:
            _fill(descriptor, content, target)
        finally:
            os.close(descriptor)
        last_check()
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _fill(descriptor: int, content: bytes, target: Path) -> None:
    """Write a new file's bytes and give it the attributes of the other one."""
    with open(descriptor, "wb", closefd=False) as stream:
        stream.write(content)
    _copy_attributes(descriptor, target)
    os.fsync(descriptor)


def _copy_attributes(descriptor: int, target: Path) -> None:
    status = target.stat()
    # Only root may give a file away, and not every file system has owners.
    for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, group)
    # After the owner, since changing that clears the set-id bits.
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    for name in _attribute_names(target):
        with contextlib.suppress(OSError):
            os.setxattr(descriptor, name, os.getxattr(target, name))


def _attribute_names(target: Path) -> list[str]:
    try:
        return os.listxattr(target)
    except OSError:  # this file system has none
        return []
