"""Caches of libraries that spare launches work: missing ones, stale ones."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

from ..core.units import MIB
from ..squashfs.entry import EntryKind
from .copies import BASE_LIBRARIES
from .inventory import Entry, PathResolver
from .linkage import LIBRARY_DIRECTORIES, LibraryFinder
from .source import Payload

CacheKind = Literal[
    "settings-schemas",
    "image-loaders",
    "input-methods",
    "icon-theme",
    "fonts",
    "gio-modules",
    "python-bytecode",
]
CacheState = Literal["missing", "stale"]

READ_ALL_MAX_BYTES = 256 * MIB
"""How much of caches, lists and their sources is read in all."""
READ_MAX_BYTES = 4 * MIB
"""Larger than any of them that is read whole; bounds what a foreign one costs."""

LEAST_ICONS = 100
"""Fewer icons lie in a few directories, which are listed in no time."""

SCHEMA_READERS = ("libgio-2.0", "libgtk-3", "libgtk-4")
"""Libraries that read schemas; GTK does by GIO, which bases have."""
GTK = ("libgtk-3", "libgtk-4", "libgtk-x11-2.0")
QT = ("libQt5Gui", "libQt6Gui")
"""Libraries that look for icons in themes, and use the cache."""
KDE = ("libKF5IconThemes", "libKF6IconThemes")
"""Libraries that look for icons in Qt's place, and keep a cache of their own."""
GNOME_CONTENT = ("gnome-",)
"""How the names of content snaps begin that have GNOME's libraries."""

# An element's text holds no "<", so that looking for its end ends at the next one.
_ELEMENT = re.compile(
    rb"<(?:schema|key)\b[^<>]*?\s(?:id|name)\s*=\s*[\"']([^\"'<>]+)[\"']"
)
_ICON_SUFFIXES = (".png", ".svg", ".xpm")


class Tree:
    """A payload in which caches are looked for; no link is followed.

    :ivar unread: paths of files whose contents were too large to be read.
    """

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.entries: Mapping[str, Entry] = payload.inventory.entries
        self.folders = payload.inventory.folders
        self._left_bytes = READ_ALL_MAX_BYTES
        self.unread: dict[str, None] = {}

    def named(self, directory: str, suffix: str | tuple[str, ...]) -> list[Entry]:
        """Return a directory's files and links whose names end so."""
        return [
            entry
            for entry in self.folders.get(directory, ())
            if entry.path.endswith(suffix)
            and entry.kind in (EntryKind.FILE, EntryKind.SYMLINK)
        ]

    def file(self, path: str) -> Entry | None:
        """Return a regular file's entry; None if there is none."""
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

    def loads(self, module: Entry) -> bool:
        """Return whether all libraries that a module needs are found."""
        in_base = BASE_LIBRARIES.get(self.payload.snap.base_name, frozenset())
        return all(
            each.supplier == "base" or each.name in in_base
            for each in self._finder.closure(module).unresolved
        )

    @cached_property
    def _finder(self) -> LibraryFinder:
        return LibraryFinder(
            self.payload,
            PathResolver(self.payload.inventory, snap_name=self.payload.snap.name),
            search=tuple(f"$SNAP/{each}" for each in LIBRARY_DIRECTORIES),
            elsewhere="elsewhere",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheFault:
    """A cache that would spare launches work, but isn't there or doesn't fit.

    :param state: ``missing``, or ``stale`` if it is there but doesn't know all of the
        files that it is of.
    :param path: of the cache, or where it should be; of bytecode the directory of the
        sources.
    :param sources: files that the cache doesn't know, by path.
    :param source_count: how many there are; more than ``sources`` if only some were
        looked at.
    :param reason: what was compared, in words.
    :param readers: libraries that read it, their names up to ``.so``; empty if it isn't
        a library that does.
    :param doubt: why a launch may do without; None if nothing says so.
    """

    kind: CacheKind
    state: CacheState
    path: str
    sources: tuple[str, ...]
    source_count: int
    reason: str
    readers: tuple[str, ...] = ()
    doubt: str | None = None


def cache_fault(
    kind: CacheKind,
    state: CacheState,
    path: str,
    sources: Iterable[Entry],
    reason: str,
    **more: Any,  # noqa: ANN401 # further fields of CacheFault
) -> CacheFault:
    """Return the fault of a cache that doesn't know some files; all were looked at."""
    paths = tuple(sorted(entry.path for entry in sources))
    fields = {"source_count": len(paths), **more}
    return CacheFault(
        kind=kind, state=state, path=path, sources=paths, reason=reason, **fields
    )


def schema_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield compiled forms of GSettings schemas that are missing, or lack some.

    GLib reads nothing but the compiled form, which holds the names of schemas and
    keys as they are.
    """
    if not tree.has_library(*SCHEMA_READERS, content=GNOME_CONTENT):
        return
    fault = partial(cache_fault, "settings-schemas", readers=SCHEMA_READERS)
    for directory in tree.folders:
        sources = tree.named(directory, ".gschema.xml")
        if not sources or not directory.endswith("glib-2.0/schemas"):
            continue
        path = f"{directory}/gschemas.compiled"
        if path not in tree.entries:
            reason = "there are schemas but no compiled form of them"
            yield fault("missing", path, sources, reason)
        elif (compiled := tree.contents(tree.file(path))) is not None:
            unknown = [
                source
                for source in sources
                if any(name not in compiled for name in _names(tree, source))
            ]
            reason = "schemas or keys of these files are missing from the compiled form"
            if unknown:
                yield fault("stale", path, unknown, reason)


def _names(tree: Tree, source: Entry) -> Iterable[bytes]:
    """Return the names of schemas and keys in a file; none if it is too large."""
    text = tree.contents(tree.file(source.path)) or b""
    kept, *commented = text.split(b"<!--")
    text = kept + b"".join(each.partition(b"-->")[2] for each in commented)
    return set(_ELEMENT.findall(text))


def icon_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield icon themes whose cache is missing, or ignored by GTK and Qt."""
    qt = () if tree.has_library(*KDE) else QT
    if not tree.has_library(*GTK, *qt, content=GNOME_CONTENT):
        return
    for theme, icons in _icons_by_theme(tree).items():
        if len(icons) < LEAST_ICONS:
            continue
        path = f"{theme}/icon-theme.cache"
        cache, directory = tree.file(path), tree.entries.get(theme)
        fault = partial(cache_fault, "icon-theme", readers=(*GTK, *QT))
        if path not in tree.entries:
            yield fault("missing", path, icons, "the theme has icons but no cache")
        # gtk_icon_cache_new_for_path and Qt's QIconCacheGtkReader compare these times.
        # Those of a prime directory may be of its copying; a built snap's stay.
        elif (
            tree.payload.kind == "snap"
            and cache
            and directory
            and cache.modified_s < directory.modified_s
        ):
            reason = "GTK and Qt ignore it because it is older than its directory"
            yield fault("stale", path, icons, reason)


def _icons_by_theme(tree: Tree) -> Mapping[str, list[Entry]]:
    themes: dict[str, list[Entry]] = defaultdict(list)
    for entry in tree.entries.values():
        above, icons, below = entry.path.partition("share/icons/")
        theme, _, name = below.partition("/")
        is_icon = entry.kind is EntryKind.FILE and name.endswith(_ICON_SUFFIXES)
        if is_icon and "/" in name:
            themes[f"{above}{icons}{theme}"].append(entry)
    return themes


class _ModuleCache(NamedTuple):
    """A directory of modules and the list of what is in it.

    :param libraries: that read it, or need the one that does.
    :param directory: pattern of what the directory's path ends with.
    :param cache: the list's place, from that directory.
    """

    kind: CacheKind
    libraries: tuple[str, ...]
    directory: str
    cache: str


_PIXBUF, _GTK = r"gdk-pixbuf-2\.0/[\d.]+/loaders", r"gtk-{}\.0/[\d.]+/immodules"
_MODULE_CACHES = (
    _ModuleCache("image-loaders", ("libgdk_pixbuf-2.0",), _PIXBUF, "../loaders.cache"),
    _ModuleCache("input-methods", ("libgtk-3",), _GTK.format(3), "../immodules.cache"),
    _ModuleCache(
        "input-methods", ("libgtk-x11-2.0",), _GTK.format(2), "../immodules.cache"
    ),
    _ModuleCache("gio-modules", SCHEMA_READERS, "gio/modules", "giomodule.cache"),
)


def module_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield directories of modules whose list is missing or doesn't name them all.

    Modules are known by their names: a list says where they lay when it was made, and
    a layout may have put them there. The tools that write lists load each module, and
    leave out those that they can't load. So a module counts as forgotten only if all
    libraries that it needs are where the loader looks for them.
    """
    for cache in _MODULE_CACHES:
        if not tree.has_library(*cache.libraries, content=GNOME_CONTENT):
            continue
        for directory in tree.folders:
            if re.fullmatch(rf"(?:.*/)?{cache.directory}", directory):
                yield from _module_faults(tree, cache, directory)


def _module_faults(
    tree: Tree, cache: _ModuleCache, directory: str
) -> Iterator[CacheFault]:
    path = posixpath.normpath(posixpath.join(directory, cache.cache))
    is_gio = cache.kind == "gio-modules"
    modules = [
        entry
        for entry in tree.named(directory, ".so")
        if not is_gio or posixpath.basename(entry.path).startswith("lib")
    ]
    fault = partial(cache_fault, cache.kind, readers=cache.libraries)
    if path not in tree.entries:
        if modules:
            reason = "the directory has modules but no list of them"
            yield fault("missing", path, modules, reason)
        return
    listed = tree.contents(tree.file(path))
    unknown = [
        module
        for module in modules
        if listed is not None
        and os.fsencode(posixpath.basename(module.path)) not in listed
        and tree.loads(module)
    ]
    reason = "these modules aren't in the list"
    if is_gio:
        reason += ", or the list is older than they are"
        # GIO asks for times (gio/giomodule.c); those of a prime directory may be of
        # its copying, so only a built snap's count.
        listed_s = tree.entries[path].modified_s
        is_younger = (each for each in modules if each.modified_s > listed_s)
        unknown += is_younger if tree.payload.kind == "snap" else ()
    if unknown:
        yield fault(
            "stale", path, {each.path: each for each in unknown}.values(), reason
        )
