"""Where the snaps of a fleet are: directories, patterns, lists, files."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import NoInputError
from ..core.files import entries_below, read_regular
from .remote import is_remote, list_remote

LIST_SUFFIXES = (".txt", ".list")
"""Of files with a source a line; empty lines and comments (#) are left out."""

_SUFFIXES = (".snap", ".comp")
_RECENT_NS = 2_000_000_000
"""No file system counts the time of a change in more: FAT does in 2 s (Microsoft's
FAT specification, DIR_WrtTime), Linux' others finer."""

_LIST_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Snap:
    """A snap that was found, not opened yet.

    :param path: a path or address, as it was found.
    :param file_bytes: length; ``None`` if unknown.
    :param stamp: time of its last change, or the store's ETag; empty if unknown.
    :param state: text that differs after each change; empty if unknown.
    """

    path: str
    file_bytes: int | None = None
    stamp: str = ""
    state: str = ""


def find_snaps(sources: Iterable[str]) -> list[Snap]:
    """Return the snaps that sources stand for, each once, in their order.

    A directory stands for all snaps in and below it, a pattern for the files that it
    matches, a list for the sources in it.

    :raises NoInputError: if a source stands for none.
    """
    found: dict[str, Snap] = {}
    for source in sources:
        snaps = [snap for path in _paths(source) for snap in _snaps(path)]
        found.update({snap.path: snap for snap in snaps if snap.path not in found})
        if not snaps:
            message = f"No snaps in {source!r}"
            raise NoInputError(
                message,
                resolution="Specify a .snap, a directory of .snap files, an address, "
                f"a quoted pattern, or a list of sources ({LIST_SUFFIXES[0]}).",
            )
    return [*found.values()]


def _paths(source: str, *, nested: bool = False) -> Iterator[str]:
    if is_remote(source):
        yield source
    elif Path(source).is_dir():
        yield from _below(source)
    elif source.endswith(LIST_SUFFIXES) and not nested:
        for line in _lines(source):
            yield from _paths(line, nested=True)
    elif glob.has_magic(source) and not os.path.lexists(source):
        yield from sorted(glob.glob(source, recursive=True))  # noqa: PTH207 # a user's pattern, absolute or not
    else:
        yield source  # if it isn't there, its row says so


def _below(directory: str) -> Iterator[str]:
    """Yield snaps of a directory by name, then those of the directories in it."""
    for entry in entries_below(Path(directory)):
        if entry.name.endswith(_SUFFIXES) and not entry.is_dir():
            yield str(Path(entry.path))


def _lines(path: str) -> Iterator[str]:
    try:
        content = read_regular(path, _LIST_MAX_BYTES)
    except (OSError, ValueError) as error:
        message = f"Cannot read the list {path!r}: {getattr(error, 'strerror', error)}"
        raise NoInputError(message, resolution="Check its path.") from error
    text = content.decode(errors="surrogateescape")
    stripped = (line.strip() for line in text.split("\n"))
    return (line for line in stripped if line and not line.startswith("#"))


def _snaps(path: str) -> Iterator[Snap]:
    if is_remote(path):
        for address, size_bytes, stamp in list_remote(path):
            if address.endswith(_SUFFIXES):
                yield Snap(
                    path=address, file_bytes=size_bytes, stamp=stamp, state=stamp
                )
        return
    try:
        status = Path(path).stat()
    except OSError:  # its row says what is wrong
        yield Snap(path=path)
        return
    # The time of a file's last change can be set, and is by reproducible builds. That
    # of its inode (ctime) can't. While it is recent, a further change may not move it.
    state = f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
    recent = time.time_ns() - status.st_ctime_ns < _RECENT_NS
    yield Snap(
        path=path,
        file_bytes=status.st_size,
        stamp=str(status.st_mtime_ns),
        state="" if recent else state,
    )
