"""Where the paths of commands and scripts lead in a snap."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ...payload.inventory import Location, PathResolver
from ...payload.linkage import Unresolved
from ...payload.stack import StackedPayload, layers_of, provides
from ...squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...payload.inventory import Entry
    from ...payload.source import Payload

PROGRAM_FOLDERS = ("usr/sbin", "usr/bin", "sbin", "bin", "usr/games", "usr/local/bin")
"""Where a bare program name is looked for: snapd's and snapcraft's PATH in a snap."""

_NO_FILES = ("bare", "none")


class SnapPaths(PathResolver):
    """Follows paths as :class:`PathResolver` does, and two kinds more.

    A ``layout`` of snap.yaml brings an absolute path into the payload; with a base
    that holds no files, so does every absolute path that the payload has. Where other
    snaps are at hand (:class:`StackedPayload`), paths are followed into them.
    """

    def __init__(self, payload: Payload) -> None:
        layout = {
            posixpath.normpath(place): source
            for place, item in payload.snap.layout.items()
            for source in (item.get(kind) for kind in ("bind", "bind-file", "symlink"))
            if isinstance(source, str) and source.startswith(("$SNAP/", "${SNAP}/"))
        }
        super().__init__(
            payload.inventory,
            snap_name=payload.snap.name,
            layout=layout,
            is_root=payload.snap.base_name in _NO_FILES,
        )
        self._stack = payload if isinstance(payload, StackedPayload) else None

    def locate(self, path: str) -> Location:
        """Follow a path and all links in it, into other snaps if they are at hand."""
        found = super().locate(path)
        if found.entry is not None or self._stack is None:
            return found
        elsewhere = self._stack.locate(found.outside or self.in_payload(path) or path)
        return elsewhere if elsewhere.entry is not None else found

    def file(self, path: str) -> Entry | None:
        """Return the regular file that a path leads to, links followed."""
        entry = self.locate(path).entry
        return entry if entry is not None and entry.kind is EntryKind.FILE else None

    def shipped(self, path: str) -> Entry | None:
        """Return the regular file of a path, an absolute one of the payload's root too.

        Scripts of distribution packages carry such paths, and snaps lay them out.
        """
        return self.file(path) or self.file(path.lstrip("/"))

    def matching(self, path: str) -> tuple[Entry, ...]:
        """Return the file of a path, or the archives of Java that a pattern names."""
        entry = self.shipped(path)
        if entry is not None or "*" not in path:
            return (entry,) if entry is not None else ()
        folder, _, pattern = path.rpartition("/")
        inside = self.in_payload(folder) or folder.lstrip("/")
        found = (
            self.file(each)
            for each in self.inventory.entries
            if each.endswith(".jar")
            and posixpath.dirname(each) == inside
            and fnmatchcase(posixpath.basename(each), pattern)
        )
        return tuple(filter(None, found))

    def only_one(self, pattern: str) -> Entry | None:
        """Return the file whose path from the root a pattern names, if it is one."""
        name = pattern.rpartition("/")[2]
        found = {
            entry.identity: entry
            for path, entry in self.inventory.entries.items()
            if path.endswith(name) and entry.kind is EntryKind.FILE
            if fnmatchcase(f"/{path}", pattern)
        }
        return next(iter(found.values())) if len(found) == 1 else None

    def program(self, name: str) -> Entry | None:
        """Return the program of a bare name, as a shell would look it up."""
        places = (f"{folder}/{name}" for folder in PROGRAM_FOLDERS)
        return next(filter(None, map(self.file, places)), None)


CONTENT_SUPPLIER = "base or content snap"


def content_snaps(payload: Payload) -> Iterator[Unresolved]:
    """Yield the snaps whose files a launch sees through content plugs.

    Those that are at hand aren't elsewhere.
    """
    at_hand = [layer.payload.snap for layer in layers_of(payload)[1:]]
    for name, plug in payload.snap.plugs.items():
        supplied = any(provides(snap, name, plug) for snap in at_hand)
        if plug.interface == "content" and not supplied:
            yield Unresolved(
                name=plug.default_provider or plug.content or name,
                needed_by=f"plug {name}",
                supplier=CONTENT_SUPPLIER,
            )


def supplier_elsewhere(payload: Payload) -> str:
    """Return who supplies what the payload doesn't hold."""
    if any(content_snaps(payload)):
        return CONTENT_SUPPLIER
    at_hand = any(layer.role == "base" for layer in layers_of(payload))
    return "missing" if at_hand or payload.snap.base_name in _NO_FILES else "base"
