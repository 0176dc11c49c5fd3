"""GJS programs: what the JavaScript of GNOME imports, much of it out of GResources.

A compiled bundle of resources is laid out as GLib's ``gvdb``.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zlib
from collections import deque
from typing import TYPE_CHECKING

from ....core.units import MIB
from ...launch_set import BlindSpot
from .introspection import introspected
from .runtime import MAX_MEMBERS_BYTES, MEMBER_MAX_BYTES, Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

MAX_FILES = 1000
"""Files followed from one program; the largest applications have some hundred."""

RESOURCE_MAX_BYTES = 32 * MIB
"""How much of a bundle is looked at."""

MAX_ITEMS = 20_000
"""Files and directories of one bundle."""

_MAGIC = b"GVariant"
_HEADER = struct.Struct("<8sIIII")
_TABLE = struct.Struct("<II")
_ITEM = struct.Struct("<IIIHBxII")
_CONTENT = struct.Struct("<II")
_BLOOM_MASK = (1 << 27) - 1
_MAX_DEPTH = 64
_TYPE = b"\0(uuay)"
_COMPRESSED = 1

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
_IMPORTS = re.compile(rb"\bimports\.(?P<path>[a-z_]\w*(?:\.[a-z_]\w*)*)")
_COMPUTED = re.compile(rb"\bimports(?:\.gi)?\[(?![\"'])|\bimport\((?!\s*[\"'`])")
_IDENTIFIER = re.compile(
    rb"(?:\bname\s*:\s*[\"'](?P<name>[\w.-]+)"
    rb"|[\"'/](?P<id>[A-Za-z][\w-]*(?:\.[\w-]+){2,}))[\"'/]"
)
_BUNDLE = re.compile(rb"(?<![\w.@-])(?P<name>[\w.@-]{1,200})\.gresource\b")
_BUILT_IN = frozenset(("gi", "package", "searchPath", "versions", "mainloop", "lang"))


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
                for text in scripts_in(content):
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
        folder = posixpath.dirname(script.path)
        places = [
            posixpath.normpath(f"{folder}/{match['path'].decode(errors='replace')}")
            for match in _RELATIVE.finditer(source)
        ]
        # Where ``imports.package`` searches the modules of an application.
        shares = (f"{x}share/{n}" for n in self._identifiers for x in ("usr/", ""))
        named = (each for share in shares for each in (share, f"{share}/js"))
        entries = self._app.payload.inventory.entries
        folders = (folder, *(each for each in named if each in entries))
        for match in _IMPORTS.finditer(source):
            path = match["path"].decode()
            if path.partition(".")[0] not in _BUILT_IN:
                parts = path.split(".")
                for end in range(1, len(parts) + 1):
                    name = "/".join(parts[:end])
                    places.extend(f"{each}/{name}.js" for each in folders)
        yield from filter(None, map(self._app.file, dict.fromkeys(places)))


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


def scripts_in(bundle: bytes) -> Iterator[bytes]:
    """Yield the scripts in a bundle of resources; none if it is broken."""
    total = 0
    for name, start, end in _members(bundle):
        if name.endswith(".js") and total <= MAX_MEMBERS_BYTES:
            script = _member(bundle[start:end])
            total += len(script)
            yield script


def _members(content: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of each file (``gvdb-format.h`` of GLib)."""
    try:
        magic, _, _, start, end = _HEADER.unpack_from(content)
        if magic != _MAGIC:
            return
        bloom_words, buckets = _TABLE.unpack_from(content, start)
        first = start + _TABLE.size + 4 * ((bloom_words & _BLOOM_MASK) + buckets)
        count = min((end - first) // _ITEM.size, MAX_ITEMS)
        places = (first + _ITEM.size * number for number in range(count))
        items = [_ITEM.unpack_from(content, place) for place in places]
    except struct.error:
        return
    names = _names(content, [(item[1], item[2], item[3]) for item in items])
    for name, item in zip(names, items, strict=True):
        if item[4] == ord("v") and name:
            yield name, item[5], item[6]


def _names(content: bytes, items: list[tuple[int, int, int]]) -> Iterator[str]:
    """Yield the names of items: that of the parent, and what follows."""
    for number in range(len(items)):
        parts: list[bytes] = []
        place = number
        while place < len(items) and len(parts) < _MAX_DEPTH:  # no parent is large
            place, start, size = items[place]
            parts.append(content[start : start + size])
        yield b"".join(reversed(parts)).decode(errors="replace")


def _member(value: bytes) -> bytes:
    """Return the content in a value of the type ``(uuay)``: length, flags, bytes."""
    if len(value) < _CONTENT.size or not value.endswith(_TYPE):
        return b""
    size, flags = _CONTENT.unpack_from(value)
    data = value[_CONTENT.size : -len(_TYPE)]
    if not flags & _COMPRESSED:
        return data[: min(size, MEMBER_MAX_BYTES)]
    try:
        return zlib.decompressobj().decompress(data, MEMBER_MAX_BYTES)
    except zlib.error:
        return b""
