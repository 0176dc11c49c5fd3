"""Caches of libraries that spare launches work: missing ones, stale ones."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from ..squashfs.entry import EntryKind
from .copies import BASE_LIBRARIES, LIBRARY_DIRECTORIES
from .inventory import Entry
from .linkage import LibraryFinder
from .paths import PathResolver
from .tree import Tree

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
_Names = Callable[[Tree, Entry], Iterable[bytes]]
"""The names of a source, as the cache has them."""

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
    """Yield directories of schemas whose compiled form is missing or lacks some.

    GLib reads nothing but the compiled form, which holds the names of schemas and
    keys as they are.
    """
    if not tree.has_library(*SCHEMA_READERS, content=GNOME_CONTENT):
        return
    for directory in tree.directories():
        sources = tree.named(directory, ".gschema.xml")
        if sources and directory.endswith("glib-2.0/schemas"):
            path = f"{directory}/gschemas.compiled"
            fault = partial(cache_fault, "settings-schemas", readers=SCHEMA_READERS)
            if path not in tree.entries:
                reason = "there are schemas but no compiled form of them"
                yield fault("missing", path, sources, reason)
            elif unknown := _unknown(tree, path, sources, _names_of_schemas):
                reason = (
                    "schemas or keys of these files are missing from the compiled form"
                )
                yield fault("stale", path, unknown, reason)


def _names_of_schemas(tree: Tree, source: Entry) -> Iterable[bytes]:
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
    for theme in tree.directories():
        if not posixpath.dirname(theme).endswith("share/icons"):
            continue
        icons = [
            entry
            for entry in tree.below(theme)
            if entry.kind is EntryKind.FILE
            and entry.path.endswith(_ICON_SUFFIXES)
            and posixpath.dirname(entry.path) != theme
        ]
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
        for directory in tree.directories():
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
    unknown = _unknown(tree, path, modules, _loadable(tree))
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


def _loadable(tree: Tree) -> _Names:
    """Return what names a module, if all libraries that it needs are found."""
    finder = LibraryFinder(
        tree.payload,
        PathResolver(tree.payload.inventory, snap_name=tree.payload.snap.name),
        search=tuple(f"$SNAP/{each}" for each in LIBRARY_DIRECTORIES),
        elsewhere="elsewhere",
    )
    in_base = BASE_LIBRARIES.get(tree.payload.snap.base_name, frozenset())

    def names(_: Tree, module: Entry) -> Iterable[bytes]:
        loads = all(
            each.supplier == "base" or each.name in in_base
            for each in finder.closure(module).unresolved
        )
        return {os.fsencode(posixpath.basename(module.path))} if loads else ()

    return names


def _unknown(
    tree: Tree, path: str, sources: Iterable[Entry], names: _Names
) -> list[Entry]:
    """Return the sources with a name that a cache doesn't hold."""
    data = tree.contents(tree.file(path))
    if data is None:
        return []
    return [s for s in sources if any(name not in data for name in names(tree, s))]
