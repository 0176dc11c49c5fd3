"""A build's files as one stream, as ``unsquashfs -pf`` writes them.

``write_pseudo_file`` of unsquashfs 4.5 and later: a line for each entry (name, kind,
time, mode, owner, then a file's length and where its contents begin, or what a link
points to), then all contents, in the order of their paths.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from ..core.errors import AdvisorError
from ..core.units import MIB
from ..payload.inventory import Entry
from ..payload.source import Payload
from ..squashfs.entry import EntryKind

_KINDS = {
    EntryKind.DIRECTORY: "D",
    EntryKind.FILE: "R",
    EntryKind.SYMLINK: "S",
}
_READ_BYTES = MIB


def path_key(path: str) -> list[bytes]:
    """Return what puts paths in the order of an image: directories by name."""
    return path.encode("utf-8", "surrogateescape").split(b"/")


class Stream:
    """The stream of a build.

    :ivar places: where each file's contents begin, in ascending order.
    """

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        lines, self._files = _listing(payload)
        self._listing = "\n".join(lines).encode("utf-8", "surrogateescape")
        self.places: list[tuple[int, str]] = []
        start = len(self._listing)
        for entry in self._files:
            self.places.append((start, entry.path))
            start += entry.size_bytes

    def write(self, sink: IO[bytes]) -> None:
        """Write the stream.

        :raises AdvisorError: if the build is broken or changes meanwhile.
        """
        sink.write(self._listing)
        for entry in self._files:
            for start in range(0, entry.size_bytes, _READ_BYTES):
                length = min(_READ_BYTES, entry.size_bytes - start)
                part = self._payload.read(entry.path, offset=start, length=length)
                sink.write(part.ljust(length, b"\0"))

    @contextmanager
    def piped(self) -> Iterator[int]:
        """Write the stream to a pipe, and give the end to read from.

        :raises AdvisorError: as :meth:`write` does.
        """
        reading, writing = os.pipe()
        errors: list[AdvisorError] = []

        def feed() -> None:
            try:
                # A reader that fails says so itself.
                with suppress(BrokenPipeError), os.fdopen(writing, "wb") as sink:
                    self.write(sink)
            except AdvisorError as error:
                errors.append(error)

        thread = threading.Thread(target=feed, daemon=True)
        thread.start()
        try:
            yield reading
        finally:
            os.close(reading)
            thread.join()
        if errors:
            raise errors[0]


def _listing(payload: Payload) -> tuple[list[str], list[Entry]]:
    """Return the lines before the contents, and the files with contents in order."""
    entries = payload.inventory.entries
    lines = ["/ D 0 755 0 0"]
    files: list[Entry] = []
    firsts: dict[int, str] = {}
    start = 0
    for path in sorted(entries, key=path_key):
        entry = entries[path]
        first = firsts.setdefault(entry.identity, path)
        if entry.kind is EntryKind.FILE and first != path:
            lines.append(f"{path} L {first}")
            continue
        kind = _KINDS.get(entry.kind, "I")
        line = f"{path} {kind} {entry.modified_s} {entry.mode:o} 0 0"
        if entry.kind is EntryKind.FILE:
            files.append(entry)
            line += f" {entry.size_bytes} {start}"
            start += entry.size_bytes
        elif entry.link_target is not None:
            line += f" {entry.link_target}"
        lines.append(line)
    return [*lines, "#", "# START OF DATA - DO NOT MODIFY", "#", ""], files
