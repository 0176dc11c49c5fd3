"""Node programs: the files that they require."""

from __future__ import annotations

import json
import posixpath
import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from ...launch_set import BlindSpot
from .runtime import SOURCE_MAX_BYTES, Loaded, is_program, may_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ....payload.inventory import Entry
    from .runtime import StartedApp

MAX_FILES = 5000
"""Files followed from one program."""

MAX_NAMES = 1000
"""Names looked for of one source; bundles of a MiB have some hundred."""

MAX_NAME_CHARACTERS = 4095
"""Of a name that can be a file's: the kernel's PATH_MAX."""

_TEXT = rb"""(?:"[^"\n]+"|'[^'\n]+'|`[^`$\n]+`)"""
_HERE = rb"(?:__dirname|import\.meta\.dirname)"
_JOIN = rb"(?:require\(%b\))?[\w.]*(?:join|resolve)\(" % _TEXT
_BESIDE = rb"%b\s*%b(?:\s*,\s*%b)+\s*\)" % (_JOIN, _HERE, _TEXT)
_NAME = rb"(?:%b|(?:%b|%b\s*\+\s*%b|`\$\{%b\}[^`$\n]+`)(?=\s*[,)]))" % (
    *(_TEXT, _BESIDE, _HERE, _TEXT, _HERE),
)
"""A text; or one that is added to the source's directory, in one of three ways."""
_REQUIRED = re.compile(
    rb"\b(?:(?:require|import|createRequire\([\w.]+\))\s*\(\s*"
    rb"|new URL\(\s*(?=%b\s*,\s*import\.meta\.url\b)"
    rb"|(?:import|from)\s*(?=[\"']))(?P<name>%b)" % (_TEXT, _NAME)
)
_PARTS = re.compile(rb"""["'`}]([^"'`\n]+)["'`]""")
COMPUTED = re.compile(
    rb"^(?![ \t]*(?:\*|//)).*?\b(?:require|import)\(\s*(?![\s)/]|%b\s*[,)/])" % _NAME,
    re.MULTILINE,
)
"""A name that isn't written out; behind a slash is a comment for bundlers. Types
and examples are named in lines of comments."""
_PACKAGES_KEPT = 100
"""Descriptions kept, of the packages required last."""
SCRIPTS = (".js", ".mjs", ".cjs")
PAGES = (*SCRIPTS, ".html", ".htm")
_SUFFIXES = ("", *SCRIPTS, ".json", ".node", ".jsc")
"""What a name may lack; the last one where a module for it is loaded (bytenode)."""

_GLOBAL = (
    "usr/share/nodejs",
    "usr/lib/nodejs",
    "usr/lib/node_modules",
    "lib/node_modules",
)


class Sources(Protocol):
    """Files that modules are looked for in: a payload's, or those of an archive."""

    def find(self, path: str) -> str | None:
        """Return the file that a path leads to, links followed."""

    def read(self, path: str) -> bytes:
        """Return the beginning of a file, as far as it is read."""

    def has_folder(self, path: str) -> bool:
        """Return whether there is a directory of this path."""


@dataclass(frozen=True, slots=True)
class _Shipped:
    """The files of a payload."""

    app: StartedApp

    def find(self, path: str) -> str | None:
        found = self.app.paths.file(path)
        return found.path if found is not None else None

    def read(self, path: str) -> bytes:
        return self.app.payload.read(path, offset=0, length=SOURCE_MAX_BYTES)

    def has_folder(self, path: str) -> bool:
        return path in self.app.payload.inventory.entries


def required_names(source: bytes) -> tuple[str, ...]:
    """Return what a source requires or imports with a name that is written out.

    Those that can be files' names, each once, and not too many.
    """
    found = (re.split(_HERE, match["name"]) for match in _REQUIRED.finditer(source))
    names = (
        b"/".join((*(b"." for _ in before), *_PARTS.findall(last))).decode(
            errors="replace"
        )
        for *before, last in found
    )
    short = (name for name in names if len(name) <= MAX_NAME_CHARACTERS)
    return tuple(islice(dict.fromkeys(short), MAX_NAMES))


def followed(
    starts: Iterable[str], reads: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Return the files that files read, and those that these do, each with its first.

    :param reads: gives what one file reads.
    """
    seen = dict.fromkeys(starts, "")
    pending = deque(seen)
    while pending and len(seen) <= MAX_FILES:
        by = pending.popleft()
        for found in reads(by):
            if found not in seen:
                seen[found] = by
                pending.append(found)
    return {path: by for path, by in seen.items() if by}


class Modules:
    """The files of modules, by https://nodejs.org/api/packages.html.

    :ivar broken: sources that require what a package is there for, but no file of it.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._described = lru_cache(_PACKAGES_KEPT)(self._description)
        self.broken: set[tuple[str, str]] = set()

    def required_by(self, source: bytes, path: str) -> Iterator[str]:
        """Yield the files that a source requires.

        :param path: of the source.
        """
        for name in required_names(source):
            found = tuple(self._resolve(name, posixpath.dirname(path)))
            alone = found[-1:] and found[-1].endswith("package.json")
            if alone and not name.endswith("package.json") and name[0] != "#":
                self.broken.add((path, name))
            yield from found

    def _resolve(self, name: str, folder: str) -> Iterator[str]:
        if name.startswith("."):
            yield from self.files(posixpath.normpath(posixpath.join(folder, name)))
        elif name.startswith("#"):
            while folder and not self._sources.find(f"{folder}/package.json"):
                folder = posixpath.dirname(folder)
            yield from self._named(folder or ".", "imports", name)
        elif not name.startswith(("/", "node:")):
            end = 2 if name.startswith("@") else 1
            package = "/".join(name.split("/")[:end])
            for place in (*self._above(folder), *_GLOBAL):
                key = name.replace(package, ".", 1)
                root = f"{place}/{package}"
                found = tuple(self._named(root, "exports", key))
                if found := found or tuple(self.files(f"{place}/{name}")):
                    yield from found
                    return

    def _above(self, folder: str) -> Iterator[str]:
        """Yield the ``node_modules`` that there are in a folder and those above it."""
        parts = folder.split("/")
        for end in range(len(parts), -1, -1):
            place = "/".join((*parts[:end], "node_modules"))
            if self._sources.has_folder(place):
                yield place

    def _named(self, package: str, field: str, name: str) -> Iterator[str]:
        """Yield a package's description and the file that it names; none without names.

        :param field: ``exports`` or ``imports``.
        """
        path, description = self._described(package)
        if path is None or (names := description.get(field)) is None:
            return
        yield path
        targets = _targets(names, name)
        places = (posixpath.normpath(f"{package}/{target}") for target in targets)
        if (file := self._first(places)) is not None:
            yield file

    def files(self, path: str) -> Iterator[str]:
        """Yield the file of a module, and the ``package.json`` that names it."""
        if (file := self._first(path + suffix for suffix in _SUFFIXES)) is not None:
            yield file
            return
        described, description = self._described(path)
        if described is not None:
            yield described
        main = description.get("main")
        named = (f"{path}/{main}", f"{path}/{main}.js", f"{path}/{main}/index.js")
        places = (*(named if isinstance(main, str) else ()), f"{path}/index.js")
        if (file := self._first(map(posixpath.normpath, places))) is not None:
            yield file

    def _first(self, places: Iterable[str]) -> str | None:
        return next(filter(None, map(self._sources.find, places)), None)

    def _description(self, package: str) -> tuple[str | None, dict[str, object]]:
        """Return the path of a package's description, and what is in it."""
        path = self._sources.find(posixpath.normpath(f"{package}/package.json"))
        try:
            document = json.loads(self._sources.read(path)) if path else None
        except (ValueError, RecursionError):
            document = None
        return path, document if isinstance(document, dict) else {}


_CONDITIONS = frozenset(("node", "import", "require", "default"))
"""Of a package's exports; the first that is named counts, however a source loads it."""


def _targets(names: object, name: str) -> Iterator[str]:
    """Yield the files that ``exports`` or ``imports`` name for a module, best first."""
    if not isinstance(names, dict) or not all(key[:1] in {".", "#"} for key in names):
        names = {".": names}
    matching = [
        (key != name, -len(head), key, name[len(head) : len(name) - len(tail)])
        for key in names
        for head, star, tail in [key.partition("*")]
        if key == name or (star and name.startswith(head) and name.endswith(tail))
    ]
    if not matching:
        return
    *_, best, part = min(matching)
    pending = [names[best]]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending.extend(value[key] for key in reversed(value) if key in _CONDITIONS)
        elif isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, str):
            added = value.count("*") * len(part)
            if len(value) + added <= MAX_NAME_CHARACTERS:
                yield value.replace("*", part)


_STARTS = re.compile(rb"\bchild_process\b|\bWebAssembly\.")
_PACKAGE = re.compile(
    r"(?:.*/)?node_modules/(?:@(?P<scope>[^/]+)/)?(?P<name>[^/]+)(?=/)"
)


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what an app's scripts require, and what of it can't be known."""
    yield from _loaded_by(app, app.scripts("node", ".js"))


def loaded_from(app: StartedApp, folder: str) -> Iterator[Loaded | BlindSpot]:
    """Yield a directory's program, pages and scripts, and what all these require."""
    program = Modules(_Shipped(app)).files(folder)
    own = (e.path for e in app.files(*PAGES) if posixpath.dirname(e.path) == folder)
    entries = app.payload.inventory.entries
    first = [entries[path] for path in dict.fromkeys((*program, *own))]
    yield from (Loaded(entry=entry, way="node-module") for entry in first)
    yield from _loaded_by(app, first)


def _loaded_by(
    app: StartedApp, scripts: Sequence[Entry]
) -> Iterator[Loaded | BlindSpot]:
    starts = set[str]()
    own, computed = {package_of(entry.path) for entry in scripts}, set[str]()
    reached = {entry.path for entry in (*scripts, *app.programs.started)}
    shipped = _Shipped(app)
    modules = Modules(shipped)

    def reads(path: str) -> Iterator[str]:
        if path.endswith(PAGES) or "." not in path:
            source = shipped.read(path)
            if _STARTS.search(source):
                starts.add(path)
            if package_of(path) in own and COMPUTED.search(source):
                computed.add(path)
            yield from modules.required_by(source, path)

    for path, by in followed((entry.path for entry in scripts), reads).items():
        reached.add(path)
        entry = app.payload.inventory.entries[path]
        yield Loaded(entry=entry, way="node-module", by=by)
    for where in sorted(computed):
        yield BlindSpot(reason="computed-import", where=where)
    for where, what in sorted(modules.broken)[:MAX_NAMES]:
        yield BlindSpot(reason="unresolved-import", where=where, what=what)
    for where in sorted(starts):
        natives = [each for each in _natives(app, where) if each.path not in reached]
        yield from may_start(where, natives)


def package_of(path: str) -> str:
    """Return the directory of a source's package, or of the program if it has none."""
    package = _PACKAGE.match(path)
    return package[0] if package else ""


def _natives(app: StartedApp, source: str) -> Iterator[Entry]:
    """Yield the programs and WebAssembly of a source's package.

    Those for one system are often in a package of their own, of nearly the same name.
    """
    package = _PACKAGE.match(source)
    if package is None:
        return
    name = re.escape(package["name"])
    scope = re.escape(package["scope"] or package["name"])
    own = re.compile(
        rf"{re.escape(package[0])}/.*"
        rf"|.*node_modules/(@{scope}/|(@[^/]+/)?{name}-)(cli-)?linux[^/]*/.*"
    )
    for entry in app.files(""):
        if own.fullmatch(entry.path) and (
            entry.path.endswith(".wasm") or is_program(app, entry)
        ):
            yield entry
