"""Node programs: the files that they require."""

from __future__ import annotations

import json
import posixpath
import re
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from ....payload.elf import ELF_MAGIC
from ....squashfs.entry import EntryKind
from ...launch_set import BlindSpot
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ....payload.inventory import Entry
    from ....payload.source import Payload
    from .runtime import StartedApp

MAX_FILES = 5000
"""Files followed from one program."""

MAX_NAMES = 1000
"""Names looked for of one source; bundles of a MiB have some hundred."""

MAX_NAME_CHARACTERS = 4095
"""Of a name that can be a file's: the kernel's PATH_MAX."""

SOURCE_MAX_BYTES = 1024 * 1024
"""How much of a file is looked at."""

_REQUIRED = re.compile(
    rb"""(?:\brequire\(\s*|\bimport\s*(?:\(\s*)?|\bfrom\s*)["'](?P<name>[^"'\n]+)["']"""
)
SCRIPTS = (".js", ".mjs", ".cjs")
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
        """Return what is looked at of a file."""

    def has_folder(self, path: str) -> bool:
        """Return whether there is a directory of this path."""


@dataclass(frozen=True, slots=True)
class _Shipped:
    """The files of a payload.

    :param entry: gives the file that a path of the payload leads to.
    """

    payload: Payload
    entry: Callable[[str], Entry | None]

    def find(self, path: str) -> str | None:
        found = self.entry(path)
        return found.path if found is not None else None

    def read(self, path: str) -> bytes:
        return self.payload.read(path, offset=0, length=SOURCE_MAX_BYTES)

    def has_folder(self, path: str) -> bool:
        return path in self.payload.inventory.entries


def required_names(source: bytes) -> Iterator[str]:
    """Yield what a source requires or imports with a name that is written out."""
    for match in _REQUIRED.finditer(source):
        yield match["name"].decode(errors="replace")


def required_files(
    scripts: Iterable[Entry],
    payload: Payload,
    find: Callable[[str], Entry | None],
    starts: set[str] | None = None,
) -> Iterator[Entry]:
    """Yield the files that scripts require, and those that these do.

    :param find: gives the file that a path of the payload leads to.
    :param starts: takes the scripts that start programs or WebAssembly.
    """
    shipped = _Shipped(payload, find)

    def reads(path: str) -> Iterator[str]:
        if path.endswith(SCRIPTS) or "." not in path:
            source = shipped.read(path)
            if starts is not None and _STARTS.search(source):
                starts.add(path)
            yield from required_by(source, path, shipped)

    for path in followed((entry.path for entry in scripts), reads):
        yield payload.inventory.entries[path]


def followed(
    starts: Iterable[str], reads: Callable[[str], Iterable[str]]
) -> Iterator[str]:
    """Yield the files that files read, and those that these do, each once.

    :param reads: gives what one file reads.
    """
    pending = deque(starts)
    seen = set(pending)
    while pending and len(seen) <= MAX_FILES:
        for found in reads(pending.popleft()):
            if found not in seen:
                seen.add(found)
                pending.append(found)
                yield found


def required_by(source: bytes, path: str, sources: Sources) -> Iterator[str]:
    """Yield the files that a source requires.

    :param path: of the source.
    """
    for name in some_of(required_names(source)):
        yield from _resolve(name, posixpath.dirname(path), sources)


def some_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return names that can be files', each once, and not too many."""
    short = (name for name in names if len(name) <= MAX_NAME_CHARACTERS)
    return tuple(islice(dict.fromkeys(short), MAX_NAMES))


def _resolve(name: str, folder: str, sources: Sources) -> Iterator[str]:
    if name.startswith("."):
        yield from module_files(
            posixpath.normpath(posixpath.join(folder, name)), sources
        )
        return
    if name.startswith(("/", "node:")):
        return
    for place in (*_above(folder, sources), *_GLOBAL):
        found = tuple(module_files(f"{place}/{name}", sources))
        if found:
            yield from found
            return


def _above(folder: str, sources: Sources) -> Iterator[str]:
    """Yield the ``node_modules`` that there are in a folder and those above it."""
    parts = folder.split("/")
    for end in range(len(parts), -1, -1):
        place = "/".join((*parts[:end], "node_modules"))
        if sources.has_folder(place):
            yield place


def module_files(path: str, sources: Sources) -> Iterator[str]:
    """Yield the file of a module, and the ``package.json`` that names it."""
    for suffix in _SUFFIXES:
        file = sources.find(path + suffix)
        if file is not None:
            yield file
            return
    described = sources.find(f"{path}/package.json")
    main = ""
    if described is not None:
        yield described
        main = _main(sources.read(described))
    for place in (f"{path}/{main}", f"{path}/{main}.js", f"{path}/{main}/index.js"):
        file = sources.find(posixpath.normpath(place)) if main else None
        if file is not None:
            yield file
            return
    file = sources.find(f"{path}/index.js")
    if file is not None:
        yield file


def _main(text: bytes) -> str:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    main = document.get("main") if isinstance(document, dict) else None
    return main if isinstance(main, str) else ""


_STARTS = re.compile(rb"\bchild_process\b|\bWebAssembly\.")
_PACKAGE = re.compile(r"(?:.*/)?node_modules/(?:@[^/]+/)?(?P<name>[^/]+)(?=/)")
MOST_NATIVES = 4
"""Of a package, of which each may be started; those with more choose among them."""


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what scripts require, and what of it can't be known."""
    scripts, starts = app.scripts("node", ".js"), set[str]()
    reached = {entry.path for entry in (*scripts, *app.programs.started)}
    for entry in required_files(scripts, app.payload, app.paths.file, starts):
        reached.add(entry.path)
        yield Loaded(entry=entry, way="node-module")
    for source in sorted(starts):
        natives = [each for each in _natives(app, source) if each.path not in reached]
        if natives:
            yield BlindSpot(reason="computed-program", where=source)
        for native in natives if len(natives) <= MOST_NATIVES else ():
            reached.add(native.path)
            yield Loaded(entry=native, way="node-child")


def _natives(app: StartedApp, source: str) -> Iterator[Entry]:
    """Yield the programs and WebAssembly of a source's package.

    Those for one system are often in a package of their own, of nearly the same name.
    """
    package = _PACKAGE.match(source)
    if package is None:
        return
    name = package["name"]
    own = re.compile(
        rf"{re.escape(package[0])}/.*"
        rf"|.*node_modules/(@{re.escape(name)}/|(@[^/]+/)?{re.escape(name)}-)"
        r"(cli-)?linux[^/]*/.*"
    )
    for path, entry in app.payload.inventory.entries.items():
        if entry.kind is EntryKind.FILE and own.fullmatch(path):
            head = path.endswith(".wasm") or (
                entry.executable
                and app.payload.read(path, offset=0, length=4) == ELF_MAGIC
            )
            if head and not path.endswith((".node", ".so")):
                yield entry
