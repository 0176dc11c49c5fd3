"""What runs that were killed have left behind, found and removed."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import shutil
import stat
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "compression-advisor-"
"""What the names of all temporary directories begin with."""

HELD_MODE = stat.S_ISVTX
"""Set in a directory's mode once it is locked.

Between making a directory and locking it there is a moment in which it looks like a
leftover; this bit, which means nothing in a private directory, tells the two apart.
"""

_MNT_DETACH_UMOUNT_NOFOLLOW = 2 | 8
_UNMOUNTERS = ("fusermount3", "fusermount")
_OCTAL = re.compile(rb"\\([0-7]{3})")


def remove_leftovers(place: Path) -> None:
    """Remove temporary directories of runs that are dead; leave all others alone.

    Only directories of this user are looked at. What can't be removed stays.
    """
    for directory in _candidates(place):
        with _locked(directory) as is_ours:
            if is_ours and _unmount_below(directory):
                shutil.rmtree(directory, ignore_errors=True)


def _candidates(place: Path) -> list[Path]:
    try:
        with os.scandir(place) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if entry.name.startswith(PREFIX) and _is_held_directory(entry)
            ]
    except OSError:
        return []


def _is_held_directory(entry: os.DirEntry[str]) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and bool(status.st_mode & HELD_MODE)
        and status.st_uid == os.geteuid()
    )


@contextmanager
def _locked(directory: Path) -> Iterator[bool]:
    """Try to take a directory's lock; ``False`` where its run lives."""
    try:
        descriptor = os.open(
            directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _unmount_below(directory: Path) -> bool:
    """Detach what is mounted below a directory; ``False`` where something stays."""
    for root in _mounts_below(directory):
        _detach(root)
    return not _mounts_below(directory)


def _mounts_below(directory: Path) -> list[str]:
    """Return mount points below a directory, the innermost first."""
    inside = os.path.realpath(directory) + "/"
    table = Path("/proc/self/mountinfo").read_bytes()
    # proc(5): the fifth field, white space in it escaped.
    points = (_unescaped(line.split(b" ")[4]) for line in table.splitlines())
    return sorted((each for each in points if each.startswith(inside)), reverse=True)


def _unescaped(field: bytes) -> str:
    return os.fsdecode(_OCTAL.sub(lambda found: bytes([int(found[1], 8)]), field))


def _detach(root: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(root), _MNT_DETACH_UMOUNT_NOFOLLOW) == 0:
        return
    unmounter = next(filter(None, map(shutil.which, _UNMOUNTERS)), None)
    if unmounter is not None:
        with suppress(OSError):
            subprocess.run(
                (unmounter, "-u", "-z", root),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
