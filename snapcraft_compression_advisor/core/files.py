"""Files read, written whole, and kept for later runs."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from .child import deferred_signals
from .terminal import safe_text
from .units import MIB

FILE_PREFIX = ".compression-advisor."
"""Of a file that is being written."""

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


def replace_text(target: Path, text: str, *, mode: int) -> None:
    """Write :func:`safe_text` as a file: all of it or, on any failure, nothing."""
    replace_bytes(target, safe_text(text).encode(), mode=mode)


def replace_bytes(target: Path, content: bytes, *, mode: int) -> None:
    """Write a file: the whole of it or, on any failure, nothing."""

    def fill(descriptor: int) -> None:
        with open(descriptor, "wb", closefd=False) as stream:
            stream.write(content)
        os.fchmod(descriptor, mode)

    replace_file(target, fill)


def replace_file(target: Path, fill: Callable[[int], None]) -> None:
    """Put a new file in the place of another, or, on any failure, leave that.

    :param fill: writes the new one, given its descriptor.
    """
    with deferred_signals():  # a moment; else one could leave the temporary file
        # The file's own name could make that of the temporary one too long.
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=FILE_PREFIX)
        temporary = Path(name)
        try:
            try:
                fill(descriptor)
            finally:
                os.close(descriptor)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


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
    """Keep results as the environment says, and use those of earlier runs.

    Nothing depends on them: if something is wrong with their directory (damaged, full,
    somebody else's), the run goes on without it.
    """
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
