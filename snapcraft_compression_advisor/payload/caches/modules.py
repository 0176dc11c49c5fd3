"""Lists of modules that libraries would otherwise have to load and ask."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ...core.frozen import frozen
from ..copies import BASE_LIBRARIES, LIBRARY_DIRECTORIES
from ..inventory import Entry
from ..linkage import LibraryFinder
from ..paths import PathResolver
from ..tree import Tree
from . import CacheFault, CacheKind, CacheState, cache_fault
from .schemas import GNOME_CONTENT, READERS

_QUOTED_MODULE = re.compile(rb'"([^"\n]*\.so)"')
_LISTED_MODULE = re.compile(rb"^([^\s:#][^:\n]*):", re.MULTILINE)


@frozen
class _ModuleCache:
    """A directory of modules and the list of what is in it.

    :param libraries: that read it, or need the one that does.
    :param directory: what the directory's path ends with.
    :param cache: the list's place, from that directory.
    :param entry: of the list, with the module as its first group.
    :param checks_times: whether the library ignores entries that are older than
        their module.
    """

    kind: CacheKind
    libraries: tuple[str, ...]
    directory: re.Pattern[str]
    cache: str
    entry: re.Pattern[bytes]
    checks_times: bool = False


_CACHES = (
    _ModuleCache(
        kind="image-loaders",
        libraries=("libgdk_pixbuf-2.0",),
        directory=re.compile(r"(?:.*/)?gdk-pixbuf-2\.0/[\d.]+/loaders"),
        cache="../loaders.cache",
        entry=_QUOTED_MODULE,
    ),
    _ModuleCache(
        kind="input-methods",
        libraries=("libgtk-3",),
        directory=re.compile(r"(?:.*/)?gtk-3\.0/[\d.]+/immodules"),
        cache="../immodules.cache",
        entry=_QUOTED_MODULE,
    ),
    _ModuleCache(
        kind="input-methods",
        libraries=("libgtk-x11-2.0",),
        directory=re.compile(r"(?:.*/)?gtk-2\.0/[\d.]+/immodules"),
        cache="../immodules.cache",
        entry=_QUOTED_MODULE,
    ),
    _ModuleCache(
        kind="gio-modules",
        libraries=READERS,
        directory=re.compile(r"(?:.*/)?gio/modules"),
        cache="giomodule.cache",
        entry=_LISTED_MODULE,
        checks_times=True,
    ),
)


def module_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield directories of modules whose list is missing or doesn't name them all.

    Modules are known by their names: a list says where they lay when it was made, and
    a layout may have put them there. The tools that write lists load each module, and
    leave out those that they can't load. So a module counts as forgotten only if all
    libraries that it needs are where the loader looks for them.
    """
    for cache in _CACHES:
        if tree.has_library(*cache.libraries, content=GNOME_CONTENT):
            for directory in tree.directories():
                if cache.directory.fullmatch(directory):
                    yield from _faults(tree, cache, directory)


def _faults(tree: Tree, cache: _ModuleCache, directory: str) -> Iterator[CacheFault]:
    modules = [
        entry
        for entry in tree.named(directory, ".so")
        if not cache.checks_times or posixpath.basename(entry.path).startswith("lib")
    ]
    path = posixpath.normpath(posixpath.join(directory, cache.cache))
    state: CacheState = "missing"
    reason = "the directory has modules but no list of them"
    if path in tree.entries:
        modules, state = _unknown(tree, cache, path, modules), "stale"
        reason = "these modules aren't in the list"
        reason += ", or the list is older than they are" if cache.checks_times else ""
    if modules:
        yield cache_fault(
            cache.kind, state, path, modules, reason, readers=cache.libraries
        )


def _unknown(
    tree: Tree, cache: _ModuleCache, path: str, modules: list[Entry]
) -> list[Entry]:
    """Return the modules that the list doesn't name, or that are younger than it.

    GIO asks for times (``gio/giomodule.c``); those of a prime directory may be of its
    copying, so only a built snap's count.
    """
    entry = tree.file(path)
    data = tree.contents(entry)
    if entry is None or data is None:
        return []
    listed = {
        posixpath.basename(match[1].decode("utf-8", "surrogateescape"))
        for match in cache.entry.finditer(data)
    }
    times = cache.checks_times and tree.payload.kind == "snap"
    finder = LibraryFinder(
        tree.payload,
        PathResolver(tree.payload.inventory, snap_name=tree.payload.snap.name),
        search=tuple(f"$SNAP/{directory}" for directory in LIBRARY_DIRECTORIES),
        elsewhere="elsewhere",
    )
    return [
        module
        for module in modules
        if (times and module.modified_s > entry.modified_s)
        or (
            posixpath.basename(module.path) not in listed
            and _loads(tree, finder, module)
        )
    ]


def _loads(tree: Tree, finder: LibraryFinder, module: Entry) -> bool:
    """Tell whether a module surely finds its libraries, in the snap or the base."""
    in_base = BASE_LIBRARIES.get(tree.payload.snap.base_name, frozenset())
    return all(
        each.supplier == "base" or each.name in in_base
        for each in finder.closure(module).unresolved
    )
