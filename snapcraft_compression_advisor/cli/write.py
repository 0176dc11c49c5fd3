"""Reports to the standard output or into a file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from craft_cli import emit

from snapcraft_compression_advisor.cleanup.deferred_signals import deferred_signals
from snapcraft_compression_advisor.errors import StorageError


def write_output(text: str, path: Path | None) -> None:
    """Write a report; a file is complete or not there.

    :param path: a file to replace; ``None`` for the standard output.
    :raises StorageError: where the file can't be written.
    """
    if path is None:
        with emit.pause():
            sys.stdout.write(text)
            sys.stdout.flush()
        return
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a FIFO: in its place
            path.write_text(text, encoding="utf-8")
        else:
            _replace_file(text, path.resolve())
    except OSError as error:
        message = f"Cannot write {str(path)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Name a file in a directory that you can write to."
        ) from error
    emit.progress(f"Report written to {path}", permanent=True)


def _replace_file(text: str, target: Path) -> None:
    with deferred_signals():  # a moment; else one could leave the temporary file
        descriptor, name = tempfile.mkstemp(
            dir=target.parent, prefix=f".{target.name}."
        )
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            temporary.chmod(_mode(target))
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """Return the mode that the file has or would be created with."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask
