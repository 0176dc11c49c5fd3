"""What programs reach through GObject Introspection; what those in GJS import.

GJS runs the JavaScript of GNOME, much of it out of compiled bundles of resources.
"""

from __future__ import annotations

import posixpath
import re
import zlib
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from ....core.units import MIB
from ...launch_set import BlindSpot
from .runtime import MAX_MEMBERS_BYTES, MEMBER_MAX_BYTES, Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ....payload.inventory import Entry
    from .runtime import StartedApp

MAX_FILES = 1000
"""Files followed from one program; the largest applications have some hundred."""

RESOURCE_MAX_BYTES = 32 * MIB
"""How much of a bundle is looked at."""

MAX_STREAMS = 5000
"""Of a bundle, places that are tried as the beginning of a compressed file."""

_COMPRESSED = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
"""How a file begins that GLib compressed (RFC 1950)."""

STARTUP_NAMESPACES = ("GLib", "GObject", "Gio", "GjsPrivate")
"""What GJS itself loads before the program."""

_URI = re.compile(rb"\bgi://(?P<name>\w+)(?:\?version=(?P<version>[\d.]+))?")
_MEMBER = re.compile(rb"\bimports\.gi\.(?P<name>[A-Z]\w*)")
_MEMBERS = re.compile(rb"\{(?P<names>[^{}]{1,4096})\}\s*=\s*imports\.gi\b")
_VERSION = re.compile(
    rb"(?:\bversions\.|\[?[\"']?)\b(?P<name>[A-Z]\w*)[\"']?\]?\s*[:=]"
    rb"\s*[\"'](?P<version>\d[\d.]*)[\"']"
)
_RELATIVE = re.compile(
    rb"(?:\bfrom\s*|\bimport\s*(?:\(\s*)?)[\"'](?P<path>\.{1,2}/[^\"'\n]+)[\"']"
)
_COMPUTED = re.compile(rb"\bimports(?:\.gi)?\[(?![\"'])|\bimport\((?!\s*[\"'`])")
_IDENTIFIER = re.compile(
    rb"(?:\bname\s*:\s*[\"'](?P<name>[\w.-]+)"
    rb"|[\"'/](?P<id>[A-Za-z][\w-]*(?:\.[\w-]+){2,}))[\"'/]"
)
_BUNDLE = re.compile(rb"(?<![\w.@-])(?P<name>[\w.@-]{1,200})\.gresource\b")

MAX_TYPELIB_BYTES = 4 * MIB
"""Larger than any typelib; bounds what a broken one can cost."""

_TYPELIB = re.compile(
    r"(?:.*/)?girepository-1\.0/(?P<name>\w+)-(?P<version>[\d.]+)\.typelib"
)
_TYPELIB_MAGIC = b"GOBJ\nMETADATA\r\n\x1a"
_LIBRARIES = re.compile(rb"\0(lib[\w.+-]+\.so[\w.]*(?:,lib[\w.+-]+\.so[\w.]*)*)\0")
_NEEDS = re.compile(rb"\0(\w+-\d[\d.]*(?:\|\w+-\d[\d.]*)*)\0")


class _Search:
    """Finds what an app's scripts import.

    :ivar namespaces: of GObject, and ``versions`` those asked for.
    """

    def __init__(self, app: StartedApp) -> None:
        self._app = app
        self._bundles = [*app.files(".gresource")]
        self._identifiers: dict[str, None] = {}  # org.gnome.Weather; bundles' names
        self._seen: set[str] = set()
        self.namespaces: dict[str, None] = {}
        self.versions: dict[str, str] = {}
        self.blind_spots: dict[BlindSpot, None] = {}

    def loaded(self, scripts: tuple[Entry, ...]) -> Iterator[Loaded]:
        """Yield bundles and modules that scripts load, and those that these do."""
        pending = deque(scripts)
        for script in scripts:
            self._seen.add(script.path)
            self._identifiers[posixpath.basename(script.path)] = None
        while pending and len(self._seen) <= MAX_FILES:
            script = pending.popleft()
            source = self._app.source(script)
            self._note(source, script.path)
            for bundle in self._new_bundles():
                yield Loaded(entry=bundle, way="gjs-resource")
                content = self._app.source(bundle, RESOURCE_MAX_BYTES)
                for text in texts_in(content):
                    self._note(text, bundle.path)
            for module in self._modules(source, script):
                if module.path not in self._seen:
                    self._seen.add(module.path)
                    pending.append(module)
                    yield Loaded(entry=module, way="gjs-module")

    def _note(self, source: bytes, path: str) -> None:
        """Note what a source names."""
        uris = [*_URI.finditer(source)]
        named = [match["name"] for match in (*uris, *_MEMBER.finditer(source))]
        for match in _MEMBERS.finditer(source):
            named.extend(re.findall(rb"\b[A-Z]\w*", match["names"]))
        self.namespaces.update(dict.fromkeys(name.decode() for name in named))
        for match in (*uris, *_VERSION.finditer(source)):
            if match["version"]:
                name = match["name"].decode()
                self.versions.setdefault(name, match["version"].decode())
        for match in _IDENTIFIER.finditer(source):
            self._identifiers[(match["name"] or match["id"]).decode()] = None
        for match in _BUNDLE.finditer(source):
            self._identifiers[match["name"].decode()] = None
        if _COMPUTED.search(source):
            self.blind_spots[BlindSpot(reason="computed-import", where=path)] = None

    def _new_bundles(self) -> Iterator[Entry]:
        """Yield the bundles that are named, or named after an identifier."""
        names = self._identifiers
        for bundle in self._bundles:
            stem = posixpath.basename(bundle.path).removesuffix(".gresource")
            short = stem.removesuffix(".src").removesuffix(".data")
            if bundle.path not in self._seen and (stem in names or short in names):
                self._seen.add(bundle.path)
                yield bundle

    def _modules(self, source: bytes, script: Entry) -> Iterator[Entry]:
        """Yield the modules that a script imports by their paths."""
        folder = posixpath.dirname(script.path)
        for match in _RELATIVE.finditer(source):
            path = f"{folder}/{match['path'].decode(errors='replace')}"
            if entry := self._app.file(posixpath.normpath(path)):
                yield entry


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what scripts import, and what of it can't be known."""
    scripts = app.scripts("gjs", ".js")
    search = _Search(app)
    yield from search.loaded(scripts)
    namespaces = (*STARTUP_NAMESPACES, *search.namespaces)
    yield from introspected(app, namespaces, search.versions)
    yield from search.blind_spots
    if not scripts and app.programs.started:
        yield BlindSpot(reason="embedded-code", where=app.programs.started[0].path)


def texts_in(bundle: bytes) -> Iterator[bytes]:
    """Yield what files a bundle holds: as it is, and what is compressed in it."""
    yield bundle
    total = 0
    for found in islice(_COMPRESSED.finditer(bundle), MAX_STREAMS):
        part = bundle[found.start() : found.start() + MEMBER_MAX_BYTES]
        try:
            text = zlib.decompressobj().decompress(part, MEMBER_MAX_BYTES)
        except zlib.error:
            continue
        total += len(text)
        if total > MAX_MEMBERS_BYTES:
            return
        yield text


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
        if content.startswith(_TYPELIB_MAGIC):
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
