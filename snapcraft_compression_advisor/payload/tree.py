"""A payload's entries by directory, and its small files' contents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from ..squashfs.entry import EntryKind
from .inventory import Entry
from .source import Payload

READ_ALL_MAX_BYTES = 256 * 1024 * 1024
"""How much of such files is read in all."""

READ_MAX_BYTES = 4 * 1024 * 1024
"""Larger than any cache or list that is read whole; bounds what a foreign one costs."""


class Tree:
    """A payload's names by directory; no link is followed.

    :ivar unread: paths of files whose contents were too large to be read.
    """

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.entries: Mapping[str, Entry] = payload.inventory.entries
        self._left_bytes = READ_ALL_MAX_BYTES
        self.unread: dict[str, None] = {}
        self._names: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries.values():
            self._names[entry.path.rpartition("/")[0]].append(entry)

    def directories(self) -> Iterator[str]:
        """Yield the directories that hold anything, in the inventory's order."""
        yield from self._names

    def listing(self, directory: str) -> tuple[Entry, ...]:
        """Return what is in a directory; nothing if there is none."""
        return tuple(self._names.get(directory, ()))

    def named(self, directory: str, suffix: str) -> tuple[Entry, ...]:
        """Return a directory's files and links whose names end so."""
        return tuple(
            entry
            for entry in self.listing(directory)
            if entry.path.endswith(suffix)
            and entry.kind in (EntryKind.FILE, EntryKind.SYMLINK)
        )

    def below(self, directory: str) -> Iterator[Entry]:
        """Yield everything below a directory, depth first."""
        pending = [directory]
        while pending:
            for entry in self.listing(pending.pop()):
                yield entry
                if entry.kind is EntryKind.DIRECTORY:
                    pending.append(entry.path)

    def file(self, path: str) -> Entry | None:
        """Return a regular file's entry."""
        entry = self.entries.get(path)
        return entry if entry and entry.kind is EntryKind.FILE else None

    def contents(self, entry: Entry | None) -> bytes | None:
        """Return a small file's contents; ``None`` if it isn't small."""
        if entry is None:
            return None
        if entry.size_bytes > min(READ_MAX_BYTES, self._left_bytes):
            self.unread[entry.path] = None
            return None
        self._left_bytes -= entry.size_bytes
        return self.payload.read(entry.path, offset=0, length=entry.size_bytes)

    def has_library(self, *stems: str, content: tuple[str, ...] = ()) -> bool:
        """Return whether the payload or a content snap has one of these libraries.

        :param stems: names up to ``.so``.
        :param content: how the names of content snaps begin that have them.
        """
        if not self._library_stems.isdisjoint(stems):
            return True
        return bool(content) and any(
            (plug.default_provider or plug.content or "").startswith(content)
            for plug in self.payload.snap.plugs.values()
            if plug.interface == "content"
        )

    @cached_property
    def _library_stems(self) -> frozenset[str]:
        names = (path.rpartition("/")[2] for path in self.entries if ".so" in path)
        return frozenset(name.partition(".so")[0] for name in names if ".so" in name)
