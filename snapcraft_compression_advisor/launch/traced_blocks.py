"""The data blocks of a payload that a trace has seen read."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.launch.profile import ProfileFile
from snapcraft_compression_advisor.launch.script import parse_shebang
from snapcraft_compression_advisor.payload.elf import BrokenElfError, read_linkage
from snapcraft_compression_advisor.payload.inventory import block_count
from snapcraft_compression_advisor.payload.paths import MAX_LINKS, PathResolver
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from snapcraft_compression_advisor.launch.trace import Trace
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

_HEAD_BYTES = 4096
"""What the kernel looks at of a script (``BINPRM_BUF_SIZE`` is less)."""


def traced_files(
    trace: Trace, payload: Payload, *, prefixes: Iterable[str]
) -> tuple[ProfileFile, ...]:
    """Return the blocks of a payload that a trace has seen read.

    Ranges reach as far as the file does. A program counts whole, a script and the
    loader or interpreter that the kernel adds likewise.

    :param prefixes: directories where the payload was.
    :returns: sorted by path; hard links to one file count once, under the first.
    """
    places = _Places(payload, tuple(prefixes))
    blocks: dict[str, set[int]] = {}
    sizes: dict[str, int] = {}

    def add(entry: Entry, start: int, end: int) -> None:
        last_block = block_count(min(end, entry.size_bytes))
        found = blocks.setdefault(entry.path, set())
        found.update(range(start // DATA_BLOCK_BYTES, last_block))
        sizes[entry.path] = entry.size_bytes

    for path, ranges in trace.ranges.items():
        entry = places.find(path)
        if entry is not None:
            for start, end in ranges:
                add(entry, start, end)
    for path in trace.programs:
        for entry in _with_interpreters(payload, places, path):
            add(entry, 0, entry.size_bytes)
    return tuple(
        ProfileFile(path=path, size=sizes[path], blocks=_block_ranges(blocks[path]))
        for path in sorted(blocks)
        if blocks[path]
    )


class _Places:
    """Finds the payload's files by the paths that they had on some machine."""

    def __init__(self, payload: Payload, prefixes: tuple[str, ...]) -> None:
        self._prefixes = tuple(f"{prefix.rstrip('/')}/" for prefix in prefixes)
        self._snap = re.compile(rf"/snap/{re.escape(payload.snap.name)}/[^/]+/")
        self._resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
        self._first: dict[int, Entry] = {}
        for path in sorted(payload.inventory.entries):
            entry = payload.inventory.entries[path]
            if entry.kind is EntryKind.FILE and _is_utf8(path):
                self._first.setdefault(entry.identity, entry)

    def find(self, path: str) -> Entry | None:
        """Return the file of that path, under its first name.

        ``None`` for what isn't the payload's, an empty file, or no regular one.
        """
        for _ in range(MAX_LINKS):
            inside = self._inside(path)
            if inside is None:
                return None
            location = self._resolver.locate(inside)
            if location.outside is None:
                entry = location.entry
                if entry is None or entry.kind is not EntryKind.FILE:
                    return None
                return self._first.get(entry.identity) if entry.size_bytes else None
            # An absolute link of a system tree stays in it.
            path = location.outside
        return None

    def _inside(self, path: str) -> str | None:
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return path.removeprefix(prefix).lstrip("/")
        match = self._snap.match(path)
        return path[match.end() :].lstrip("/") if match else None


def _with_interpreters(payload: Payload, places: _Places, path: str) -> Iterator[Entry]:
    """Yield a program and what the kernel loads along with it."""
    for _ in range(MAX_LINKS):
        entry = places.find(path)
        if entry is None:
            return
        yield entry
        following = _interpreter(payload, entry)
        if following is None:
            return
        path = following


def _interpreter(payload: Payload, entry: Entry) -> str | None:
    def read(offset: int, length: int) -> bytes:
        return payload.read(entry.path, offset=offset, length=length)

    shebang = parse_shebang(read(0, _HEAD_BYTES))
    if shebang is not None:
        return shebang.interpreter
    try:
        linkage = read_linkage(read, size_bytes=entry.size_bytes)
    except BrokenElfError:
        return None
    return linkage.interpreter if linkage is not None else None


def _block_ranges(blocks: set[int]) -> tuple[tuple[int, int], ...]:
    ranges = []
    for _, run in groupby(enumerate(sorted(blocks)), lambda item: item[1] - item[0]):
        numbers = [number for _, number in run]
        ranges.append((numbers[0], numbers[-1]))
    return tuple(ranges)


def _is_utf8(path: str) -> bool:
    """Tell whether a profile can hold a name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
