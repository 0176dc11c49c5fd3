"""A directory of results for later runs, in the user's cache.

Nothing depends on it: if something is wrong with it (damaged, full, somebody else's),
the run goes on without it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from .scratch import replace_bytes
from .units import MIB

VARIABLE = "COMPRESSION_ADVISOR_CACHE"
"""Names the directory to keep results in, or is :data:`OFF`."""
OFF = "off"
MOST_BYTES, MOST_FILES = 64 * MIB, 64
"""Of all results; the oldest go first."""
SUFFIX = ".trial"
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_directory(environment: Mapping[str, str]) -> Path | None:
    """Return the directory of results; None if none are kept.

    By default it is the place of the XDG Base Directory Specification. One that
    belongs to somebody else isn't taken, as after ``sudo``, which may leave ``HOME`` as
    it was; nor one that others may write to. A directory that is named is taken as it
    is: continuous integration restores some with all permissions.
    """
    given = environment.get(VARIABLE)
    if given:
        return None if given == OFF else Path(given).absolute()
    for variable, below in (("XDG_CACHE_HOME", ""), ("HOME", ".cache")):
        root = Path(environment.get(variable, ""))
        if root.is_absolute():  # the specification has others ignored
            directory = root / below / "compression-advisor"
            return directory if _is_own(directory) else None
    return None


def _is_own(path: Path) -> bool:
    """Whether a directory, or else the nearest above it, is the user's alone."""
    for place in (path, *path.parents):
        try:
            status = place.stat()
        except FileNotFoundError:
            continue
        except OSError:
            return False
        shared = place == path and status.st_mode & _OTHERS_WRITE
        return status.st_uid == os.geteuid() and not shared
    return False


class _Process:
    """What the process uses: no directory unless a program keeps results."""

    directory: Path | None = None


@contextmanager
def keeping_results() -> Iterator[None]:
    """Keep results as the environment says, and use those of earlier runs."""
    before, _Process.directory = _Process.directory, cache_directory(os.environ)
    try:
        yield
    finally:
        _Process.directory = before


def result_file(name: str) -> Path | None:
    """Return the file that a result is in, or will be; None if none are kept."""
    directory = _Process.directory
    return None if directory is None else directory / f"{name}{SUFFIX}"


def keep_result(path: Path, content: bytes) -> None:
    """Write a result's file at once, and remove the oldest of too many."""
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_bytes(path, content, mode=0o600)
        _remove_oldest(path.parent)


def _remove_oldest(directory: Path) -> None:
    statuses = {path: path.stat() for path in directory.glob(f"*{SUFFIX}")}
    newest = sorted(statuses, key=lambda path: -statuses[path].st_mtime_ns)
    total = 0
    for number, path in enumerate(newest):
        total += statuses[path].st_size
        if number and (total > MOST_BYTES or number >= MOST_FILES):
            path.unlink(missing_ok=True)
