"""Where a path leads in a snap with layouts, or with a base that holds nothing."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.paths import PathResolver
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

PROGRAM_FOLDERS = ("usr/sbin", "usr/bin", "sbin", "bin", "usr/games", "usr/local/bin")
"""Where a bare program name is looked for: snapd's and snapcraft's PATH in a snap."""

_NO_FILES = ("bare", "none")


class SnapPaths(PathResolver):
    """Follows paths as :class:`PathResolver` does, and two kinds more.

    A ``layout`` of snap.yaml brings an absolute path into the payload; with a base
    that holds no files, so does every absolute path that the payload has.

    :param payload: whose paths.
    """

    def __init__(self, payload: Payload) -> None:
        super().__init__(payload.inventory, snap_name=payload.snap.name)
        self._layout = dict(_layout(payload.snap.layout))
        self._rooted = payload.snap.base_name in _NO_FILES

    def in_payload(self, path: str) -> str | None:
        """Return a path relative to the payload, ``None`` where it lies outside."""
        inside = super().in_payload(path)
        if inside is not None or not path.startswith("/"):
            return inside
        normal = posixpath.normpath(path)
        for place, source in self._layout.items():
            if normal == place or normal.startswith(place + "/"):
                return super().in_payload(source + normal[len(place) :])
        if self._rooted and not normal.startswith("/snap/"):
            return normal.lstrip("/")
        return None

    def file(self, path: str) -> Entry | None:
        """Return the regular file that a path leads to, links followed."""
        entry = self.locate(path).entry
        return entry if entry is not None and entry.kind is EntryKind.FILE else None

    def shipped(self, path: str) -> Entry | None:
        """Return the regular file of a path, an absolute one of the payload's root too.

        Scripts of distribution packages carry such paths, and snaps lay them out.
        """
        return self.file(path) or self.file(path.lstrip("/"))

    def program(self, name: str) -> Entry | None:
        """Return the program of a bare name, as a shell would look it up."""
        found = (self.file(f"{folder}/{name}") for folder in PROGRAM_FOLDERS)
        return next((entry for entry in found if entry is not None), None)


def _layout(layout: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    """Yield each laid-out path with its source in the snap."""
    for place, item in layout.items():
        for kind in ("bind", "bind-file", "symlink"):
            source = item.get(kind)
            if isinstance(source, str) and source.startswith(("$SNAP/", "${SNAP}/")):
                yield posixpath.normpath(place), source
