"""What an app's programs in Python load: modules, metadata, typelibs."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from .....payload.linkage import library_path
from .....squashfs.entry import EntryKind
from ..introspection import introspected
from ..runtime import Loaded
from .finder import ModuleFinder
from .importer import Importer
from .start import EntryPoints, start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .....payload.inventory import Entry
    from ....launch_set import BlindSpot
    from ..runtime import StartedApp

MOST_LIBRARIES = 8
"""Of a package, of which any may be opened; those with more choose among them."""

_PROGRAM = r"(?:lib)?python[\d.]*(?:\.so\S*)?"
_NAMESPACE = "gi.repository."


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what programs load, and what of it can't be known."""
    if not app.runs(_PROGRAM):
        return
    points = EntryPoints(app)
    finder = ModuleFinder(app.payload.inventory, folders=_folders(app))
    importer = Importer(
        app.payload,
        finder,
        groups=points.modules,
        folder_of=lambda path: _folder(app, path),
    )
    start(app, importer, points)
    importer.run()
    named = (each for each in importer.names if each.startswith(_NAMESPACE))
    namespaces = sorted(each.removeprefix(_NAMESPACE) for each in named)
    typelibs = tuple(introspected(app, namespaces, importer.versions))
    for typelib in (posixpath.basename(each.entry.path) for each in typelibs):
        if typelib.endswith(".typelib"):
            importer.import_also([f"gi.overrides.{typelib.partition('-')[0]}"])
    importer.run()
    for entry in importer.files.values():
        kind = "extension" if entry.path.endswith(".so") else "module"
        yield Loaded(
            entry=entry,
            way=f"python-{kind}",
            expected=entry.path not in importer.depending,
            by=importer.by[entry.path],
        )
    for entry in _unnamed(finder, importer):
        yield Loaded(entry=entry, way="python-unnamed-extension")
    for entry in points.read.values():
        yield Loaded(entry=entry, way="python-metadata")
    for library in _opened(app, importer):
        yield Loaded(entry=library, way="python-library", library=True)
    yield from typelibs
    spots = tuple(importer.blind_spots)
    yield from spots
    for entry in _computed(finder, importer, spots):
        yield Loaded(entry=entry, way="python-module", expected=False)


def _computed(
    finder: ModuleFinder, importer: Importer, spots: Iterable[BlindSpot]
) -> Iterator[Entry]:
    """Yield what packages that compute the names of modules may load of their own."""
    known = {*importer.files}
    for spot in spots:
        if spot.reason == "computed-import":
            importer.import_also(finder.modules_around(spot.where))
    importer.run()
    yield from (each for path, each in importer.files.items() if path not in known)


def _unnamed(finder: ModuleFinder, importer: Importer) -> Iterator[Entry]:
    """Yield the extension modules of packages that need one, but name none to follow.

    Such a package is imported, and none of its extension modules: it has their names
    from a computation, or keeps them in a package that is named after it.
    """
    imported = {name.partition(".")[0] for name in importer.names}
    parts = finder.parts_in_c()
    lost = {
        top
        for top, entries in parts.items()
        if not any(entry.path in importer.files for entry in entries)
    }
    for top in sorted(lost):
        owner = next((o for o in imported if top.startswith(f"_{o}_")), top)
        if owner in imported and (owner == top or owner not in parts.keys() - lost):
            by_depth = sorted(parts[top], key=lambda e: (e.path.count("/"), e.path))
            yield from by_depth[:MOST_LIBRARIES]


def _opened(app: StartedApp, importer: Importer) -> Iterator[Entry]:
    """Yield the libraries that sources open by ``ctypes``.

    Their names are often put together: then it is the few of the source's package.
    """
    if not importer.opens:
        return
    libraries = [entry for entry in app.files("") if ".so" in entry.path]
    for source, names in importer.opens.items():
        folder = f"{posixpath.dirname(source)}/"
        beside = [each for each in libraries if each.path.startswith(folder)]
        known = [*beside, *libraries]
        for name in names:
            named = (each for each in known if posixpath.basename(each.path) == name)
            if found := next(named, None):
                yield found
        own = [e for e in beside if posixpath.basename(e.path).startswith("lib")]
        if not names and len(own) <= MOST_LIBRARIES:
            yield from own


def _folders(app: StartedApp) -> Iterator[str]:
    """Yield the directories that are searched before the language's own."""
    for script in app.scripts("python", ".py"):
        yield posixpath.dirname(script.path)
    for invocation in app.invocations(_PROGRAM):
        if invocation.folder:  # -m and -c search the current directory
            yield invocation.folder
    parts = library_path(app.environment.get("PYTHONPATH", ""))
    yield from (found for part in parts if (found := _folder(app, part)) is not None)


def _folder(app: StartedApp, path: str) -> str | None:
    """Return the directory that a path leads to, one of the payload's root too."""
    for place in (path, path.lstrip("/")):
        entry = app.paths.locate(place).entry
        if entry is not None and entry.kind is EntryKind.DIRECTORY:
            return entry.path
    return None
