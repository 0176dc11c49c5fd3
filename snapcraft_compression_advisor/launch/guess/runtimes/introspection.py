"""What programs of several languages bring in through GObject Introspection."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ....payload.inventory import Entry
    from ....payload.source import Payload
    from .runtime import StartedApp

MAX_TYPELIB_BYTES = 4 * 1024 * 1024
"""Larger than any typelib; bounds what a broken one can cost."""

_TYPELIB = re.compile(
    r"(?:.*/)?girepository-1\.0/(?P<name>\w+)-(?P<version>[\d.]+)\.typelib"
)
_MAGIC = b"GOBJ\nMETADATA\r\n\x1a"
_LIBRARIES = re.compile(rb"\0(lib[\w.+-]+\.so[\w.]*(?:,lib[\w.+-]+\.so[\w.]*)*)\0")
_NEEDS = re.compile(rb"\0(\w+-\d[\d.]*(?:\|\w+-\d[\d.]*)*)\0")


def introspected(
    app: StartedApp, namespaces: Iterable[str], versions: Mapping[str, str]
) -> Iterator[Loaded]:
    """Yield the typelibs of namespaces and of those that these need, and libraries.

    :param namespaces: such as ``Gtk``.
    :param versions: those that the program asks for; the highest of others.
    """
    for typelib, libraries in _Typelibs(app.payload).needed_by(namespaces, versions):
        yield Loaded(entry=typelib, way="gi-typelib", needs="gi-library")
        # A typelib's library is in the directory above, or higher.
        above = posixpath.dirname(posixpath.dirname(typelib.path))
        folders = (above, posixpath.dirname(above), "lib", "usr/lib")
        for library in libraries:
            named = (posixpath.join(folder, library) for folder in folders)
            places = map(app.paths.file, named)
            found = next(filter(None, places), None)
            if found is not None:
                yield Loaded(entry=found, way="gi-library", library=True)


class _Typelibs:
    """The typelibs of a payload."""

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        self._entries: dict[str, dict[str, Entry]] = {}
        typelibs = (
            (entry, match)
            for folder, entries in payload.inventory.folders.items()
            if folder.endswith("girepository-1.0")
            for entry in entries
            for match in [_TYPELIB.fullmatch(entry.path)]
        )
        for entry, match in typelibs:
            if match is not None:
                self._entries.setdefault(match["name"], {})[match["version"]] = entry

    def needed_by(
        self, namespaces: Iterable[str], versions: Mapping[str, str]
    ) -> Iterator[tuple[Entry, tuple[str, ...]]]:
        """Yield each typelib that is loaded, with the libraries that it names."""
        pending = list(namespaces)
        wanted = dict(versions)
        seen: set[str] = set()
        while pending:
            name = pending.pop()
            known = self._entries.get(name)
            if name in seen or not known:
                continue
            seen.add(name)
            entry = known.get(wanted.get(name, "")) or known[max(known)]
            content = self._payload.read(entry.path, offset=0, length=MAX_TYPELIB_BYTES)
            if not content.startswith(_MAGIC):
                yield entry, ()
                continue
            for needed in _listed(_NEEDS, content, b"|"):
                other, _, version = needed.rpartition("-")
                wanted.setdefault(other, version)
                pending.append(other)
            yield entry, tuple(_listed(_LIBRARIES, content, b","))


def _listed(pattern: re.Pattern[bytes], content: bytes, separator: bytes) -> list[str]:
    match = pattern.search(content)
    if match is None:
        return []
    return [part.decode(errors="replace") for part in match[1].split(separator)]
