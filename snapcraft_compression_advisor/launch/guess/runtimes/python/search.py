"""What programs in Python load: how they are started, modules, metadata, typelibs.

They are started by scripts, directories, as modules and from a text. Those in an
archive (zipapp) aren't followed.
"""

from __future__ import annotations

import configparser
import posixpath
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from .....payload.elf import ELF_MAGIC
from .....payload.linkage import library_path
from .....squashfs.entry import EntryKind
from ....launch_set import BlindSpot
from ..gobject import introspected
from ..runtime import Loaded, is_program, may_start
from .finder import ModuleFinder
from .importer import COMMAND_LINE, Importer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .....payload.inventory import Entry
    from ..runtime import StartedApp

MOST_LIBRARIES = 8
"""Of a package, of which any may be opened; those with more choose among them."""

ENTRY_POINTS_MAX_BYTES = 256 * 1024
"""Of one ``entry_points.txt``; those with hundreds of commands have 20 KB."""

_MODULE = re.compile(r"\w+(?:\.\w+)*")
LOADED_ENTRY_POINT = re.compile(
    rb"load_entry_point\(\s*[\"'](?P<package>[^\"'\n]+)[\"']\s*,"
    rb"\s*[\"'](?P<group>[^\"'\n]+)[\"']\s*,\s*[\"'](?P<name>[^\"'\n]+)[\"']"
)
_METADATA = re.compile(
    r"(?:.*/)?(?P<name>[^/-]+)(?:-[^/]+)?\.(?:dist|egg)-info/entry_points\.txt"
)
_INTERPRETER = r"python[\d.]*"
_PACKAGE = re.compile(r"(?:.*/)?(?:dist|site)-packages/[^/]+(?=/)")
_SEPARATORS = re.compile(r"[-_.]+")
_PROGRAM = r"(?:lib)?python[\d.]*(?:\.so\S*)?"
_NAMESPACE = "gi.repository."


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what programs load, and what of it can't be known."""
    finder = ModuleFinder(app.payload.inventory, folders=_folders(app))
    importer = Importer(app.payload, finder, folder_of=lambda path: _folder(app, path))
    yield from _start(app, importer)
    importer.run()
    namespaces = {
        name.removeprefix(_NAMESPACE).partition(".")[0]
        for name in importer.names
        if name.startswith(_NAMESPACE)
    }
    typelibs = tuple(introspected(app, sorted(namespaces), importer.versions))
    for typelib in (posixpath.basename(each.entry.path) for each in typelibs):
        if typelib.endswith(".typelib"):
            importer.import_also([f"gi.overrides.{typelib.partition('-')[0]}"])
    importer.run()
    yield from importer.files.values()
    for entry in _unnamed(finder, importer):
        yield Loaded(entry=entry, way="python-unnamed-extension")
    for library in _opened(app, importer):
        yield Loaded(entry=library, way="python-library", library=True)
    yield from typelibs
    yield from _started(app, importer.starting)
    spots = tuple(importer.blind_spots)
    yield from spots
    yield from _computed(finder, importer, spots)


def _computed(
    finder: ModuleFinder, importer: Importer, spots: Iterable[BlindSpot]
) -> Iterator[Loaded]:
    """Yield what packages that compute the names of modules may load of their own."""
    known = {*importer.files}
    for spot in spots:
        if spot.reason == "computed-import":
            importer.import_also(finder.modules_around(spot.where))
    importer.run()
    for path, file in importer.files.items():
        if path not in known:
            yield replace(file, expected=False)


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


def _started(
    app: StartedApp, sources: Mapping[str, bool]
) -> Iterator[Loaded | BlindSpot]:
    """Yield the programs of packages whose sources start others.

    Of several it is the one that is named as the app's own script. Those of packages
    whose sources a launch may import, but isn't expected to, are a blind spot alone.
    """
    scripts = {posixpath.basename(each.path) for each in app.programs.started}
    starting = {
        _package(each): each for each in sorted(sources, key=sources.__getitem__)
    }
    programs: dict[str, list[Entry]] = {}
    for entry in app.files("") if starting else ():
        package = _package(entry.path)
        if package in starting and is_program(app, entry):
            programs.setdefault(package, []).append(entry)
    for package, entries in programs.items():
        named = [each for each in entries if posixpath.basename(each.path) in scripts]
        if named:
            yield from (Loaded(entry=each, way="started") for each in named)
        else:
            found = may_start(starting[package], entries)
            yield from found if sources[starting[package]] else islice(found, 1)


def _package(path: str) -> str:
    """Return the directory of an installed package, or itself if it is in none."""
    match = _PACKAGE.match(path)
    return match[0] if match else path


def _folders(app: StartedApp) -> Iterator[str]:
    """Yield the directories that are searched before the language's own."""
    for script in app.scripts("python", ".py"):
        yield posixpath.dirname(script.path)
    for invocation in app.invocations(_PROGRAM):
        if invocation.folder:  # -m and -c search the current directory
            yield invocation.folder
    parts = library_path(app.programs.variables.get("PYTHONPATH", ""))
    yield from (found for part in parts if (found := _folder(app, part)) is not None)


def _folder(app: StartedApp, path: str) -> str | None:
    """Return the directory that a path leads to, one of the payload's root too."""
    for place in (path, path.lstrip("/")):
        entry = app.paths.locate(place).entry
        if entry is not None and entry.kind is EntryKind.DIRECTORY:
            return entry.path
    return None


def _start(app: StartedApp, importer: Importer) -> Iterator[Loaded | BlindSpot]:
    """Follow all that an app starts with Python.

    Yields metadata of packages whose entry points it loads, and what can't be read.
    """
    for script in app.scripts("python", ".py"):
        source = app.source(script)
        if b"\0" in source[:4096]:
            if not source.startswith(ELF_MAGIC):
                yield BlindSpot(reason="embedded-code", where=script.path)
            continue
        importer.start_source(source, file=script.path)
        for match in LOADED_ENTRY_POINT.finditer(source):
            package, group, name = (
                part.decode(errors="replace") for part in match.groups()
            )
            for entry in _metadata(app, package.partition("==")[0]):
                yield Loaded(entry=entry, way="python-metadata")
                text = app.source(entry, ENTRY_POINTS_MAX_BYTES)
                if point := _entry_point(text, group, name):
                    module, _, function = point.partition(":")
                    importer.start_function(module.strip(), function.strip())
    for invocation in app.invocations(_INTERPRETER):
        option, argument = _option(invocation.words[1:])
        if option == "-m" and _MODULE.fullmatch(argument):
            importer.start_module(argument)
        elif option == "-c":
            importer.start_source(argument.encode(errors="replace"), file=COMMAND_LINE)


def _metadata(app: StartedApp, package: str) -> Iterator[Entry]:
    """Yield the lists of entry points that installed versions of a package have."""
    for entry in app.files("/entry_points.txt"):
        match = _METADATA.fullmatch(entry.path)
        if match and _normal(match["name"]) == _normal(package):
            yield entry


def _entry_point(metadata: bytes, group: str, name: str) -> str:
    """Return an entry point's ``module:function``; empty if there is none."""
    parser = configparser.RawConfigParser(delimiters="=", strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # as documented
    try:
        parser.read_string(metadata.decode(errors="replace"))
    except configparser.Error:
        return ""
    return parser.get(group, name, fallback="").partition("[")[0].strip()


def _option(words: Sequence[str]) -> tuple[str, str]:
    """Return ``-m`` or ``-c`` with what is behind it, else two empty texts."""
    for number, word in enumerate(words):
        if not word.startswith("-"):
            break
        for option in ("-m", "-c"):
            if word.endswith(option[1]) and not word.startswith("--"):
                return option, words[number + 1] if number + 1 < len(words) else ""
            if word.startswith(option) and len(word) > len(option):
                return option, word[len(option) :]
    return "", ""


def _normal(name: str) -> str:
    """Return a package's name as packaging compares it (PEP 503)."""
    return _SEPARATORS.sub("-", name).lower()
