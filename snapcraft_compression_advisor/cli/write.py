"""The standard streams, and reports to one or into a file."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError
from ..core.printable import Kept, safe_text
from ..core.scratch import FILE_PREFIX, replace_bytes
from ..core.terminal import emit, wants_colour

if TYPE_CHECKING:
    from ..report.lint_formats import Findings

_STREAMS = (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY))
"""Of ``/dev/null``: what stands in for a stream that is closed.

The standard output can't be written either then, since a report that goes nowhere is an
error. Progress and messages that go nowhere are none.
"""


def open_standard_streams() -> None:
    """Put ``/dev/null`` in the place of standard streams that are closed (``>&-``).

    Else the next file that is opened would get the number of one, and programs that are
    started would write into it.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, mode)  # the lowest that is free: the number
        if descriptor == number:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 # takes no keyword
        direction = "r" if name == "stdin" else "w"
        stream = open(descriptor, direction, encoding="utf-8")  # noqa: SIM115, PTH123 # to the end
        setattr(sys, name, stream)


def discard_broken_pipes() -> None:
    """Write no more into pipes that nobody reads, not even while the process ends."""
    for stream in (sys.stdout, sys.stderr):
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        if any(event & select.POLLERR for _, event in poll.poll(0)):
            descriptor = os.open(os.devnull, os.O_WRONLY)
            os.dup2(descriptor, stream.fileno())
            os.close(descriptor)


def check_outputs(*paths: Path | None) -> None:
    """Refuse what can't be written, before the work that makes it.

    Nothing is created and nothing is changed.

    :param paths: as :func:`write_output` takes them.
    :raises StorageError: where one can't be written.
    """
    for path in paths:
        if path is None:
            _check_stdout()
            continue
        try:
            _check_file(path)
        except OSError as error:
            raise _cannot_write(path, error) from error


def write_error(text: str) -> None:
    """Write lines to the standard error output, past the emitter."""
    sys.stderr.write(safe_text(f"{text}\n"))


def write_output(text: str, path: Path | None, *, kept: Kept | None = None) -> None:
    """Write a report; a file is complete or not there.

    :param path: a file to replace; ``None`` for the standard output.
    :param kept: what the text has of its own beside lines.
    :raises StorageError: where the file can't be written.
    """
    if path is not None:
        write_file(safe_text(text, kept=kept).encode(), path)
        return
    _check_stdout()
    if kept is None and wants_colour(os.environ, terminal=sys.stdout.isatty()):
        kept = "colours"
    with emit.pause():
        sys.stdout.write(safe_text(text, kept=kept))
        sys.stdout.flush()


def write_findings(name: str, findings: Findings, path: Path | None) -> None:
    """Write findings in the format of that name; GitHub's is made of commands.

    :raises StorageError: where the file can't be written.
    """
    from ..report.lint_formats import render  # noqa: PLC0415 # help prints without

    kept: Kept | None = "commands" if name == "github" else None
    write_output(render(name, findings), path, kept=kept)


def write_file(content: bytes, path: Path) -> None:
    """Write a report into a file, which is complete or not there.

    :raises StorageError: where it can't be written.
    """
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a FIFO: in its place
            path.write_bytes(content)
        else:
            target = _target(path)
            replace_bytes(target, content, mode=_mode(target))
    except OSError as error:
        raise _cannot_write(path, error) from error
    emit.progress(f"Report written to {path}", permanent=True)


def _check_stdout() -> None:
    """Refuse a standard output that was closed, which has ``/dev/null`` to read."""
    try:
        flags = fcntl.fcntl(sys.stdout.fileno(), fcntl.F_GETFL)
    except (OSError, ValueError):  # no file at all, as in tests
        return
    if flags & os.O_ACCMODE == os.O_RDONLY:
        message = "Cannot write to the standard output: it is closed"
        raise StorageError(
            message,
            resolution="Leave it open ('>/dev/null' discards it), or name a file with "
            "-o FILE if the command supports it.",
        )


def _check_file(path: Path) -> None:
    """Try to write where a file is to be.

    :raises OSError: where that isn't possible.
    """
    if path.exists() and not path.is_file():  # /dev/stdout, a FIFO: it may be waiting
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return
    target = _target(path)
    with suppress(FileNotFoundError):
        target.lstat()  # its name may be too long
    with (
        deferred_signals(),
        tempfile.TemporaryFile(dir=target.parent, prefix=FILE_PREFIX),
    ):
        pass  # its file has no name, where the file system can do so


def _target(path: Path) -> Path:
    """Return the file that a link leads to; one that leads to itself is replaced."""
    return Path(os.path.realpath(path))


def _cannot_write(path: Path, error: OSError) -> StorageError:
    message = f"Cannot write {str(path)!r}: {error.strerror}"
    return StorageError(
        message, resolution="Specify a file in a directory that you can write to."
    )


def _mode(target: Path) -> int:
    """Return the mode that the file has or would be created with."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
