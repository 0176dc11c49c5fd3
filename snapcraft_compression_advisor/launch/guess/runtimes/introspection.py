"""What programs of several languages bring in through GObject Introspection."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ....payload.inventory import Entry
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
    entries = _typelibs(app)
    pending, wanted = list(namespaces), dict(versions)
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        known = entries.get(name)
        if name in seen or not known:
            continue
        seen.add(name)
        typelib = known.get(wanted.get(name, "")) or known[max(known)]
        yield Loaded(entry=typelib, way="gi-typelib", needs="gi-library")
        content = app.source(typelib, MAX_TYPELIB_BYTES)
        if content.startswith(_MAGIC):
            for needed in _listed(_NEEDS, content, b"|"):
                other, _, version = needed.rpartition("-")
                wanted.setdefault(other, version)
                pending.append(other)
            yield from _libraries(app, typelib, content)


def _typelibs(app: StartedApp) -> dict[str, dict[str, Entry]]:
    """Return the typelibs of a payload, by namespace and version."""
    found: dict[str, dict[str, Entry]] = {}
    for folder, entries in app.payload.inventory.folders.items():
        if folder.endswith("girepository-1.0"):
            for entry in entries:
                if match := _TYPELIB.fullmatch(entry.path):
                    found.setdefault(match["name"], {})[match["version"]] = entry
    return found


def _libraries(app: StartedApp, typelib: Entry, content: bytes) -> Iterator[Loaded]:
    """Yield the libraries that a typelib names: in the directory above, or higher."""
    above = posixpath.dirname(posixpath.dirname(typelib.path))
    folders = (above, posixpath.dirname(above), "lib", "usr/lib")
    for library in _listed(_LIBRARIES, content, b","):
        places = (posixpath.join(folder, library) for folder in folders)
        found = next(filter(None, map(app.paths.file, places)), None)
        if found is not None:
            yield Loaded(entry=found, way="gi-library", library=True)


def _listed(pattern: re.Pattern[bytes], content: bytes, separator: bytes) -> list[str]:
    match = pattern.search(content)
    parts = match[1].split(separator) if match is not None else []
    return [part.decode(errors="replace") for part in parts]
