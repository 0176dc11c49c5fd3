"""Python programs: the modules that they import."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections import deque
from typing import TYPE_CHECKING

from ....payload.linkage import library_path
from ....squashfs.entry import EntryKind
from .introspection import introspected
from .runtime import Loaded, Runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ....payload.inventory import Entry
    from ....payload.source import Payload
    from .runtime import StartedApp

MAX_NAME_CHARACTERS = 4095
"""Of a module that can be a file: the kernel's PATH_MAX."""

MAX_MODULES = 5000
"""Modules followed from one program; the largest applications import some 2,000."""

SOURCE_MAX_BYTES = 1024 * 1024
"""How much of a module is looked at; imports stand at its start."""

STARTUP_MODULES = (
    "encodings",
    "encodings.utf_8",
    "encodings.aliases",
    "codecs",
    "site",
)
"""What CPython imports before the program and doesn't hold itself."""

# Nothing that a part takes may be left for the one behind it, or a forged line of a
# MiB takes hours: so a bracket holds no other, and a module has a name.
_LINE = re.compile(
    rb"^(?P<indent>[ \t]*)(?:(?P<block>def|class|async|if|elif|else|try|except|finally"
    rb"|with|for|while)\b(?P<test>[^\n]*)"
    rb"|import[ \t]+(?P<names>[^\n;#]+)"
    rb"|from[ \t]+(?P<module>[\w.]+)[ \t]*import[ \t]*"
    rb"(?P<members>\([^()#]*(?:#[^\n]*\n[^()#]*)*\)|[^\n;#]+))",
    re.MULTILINE,
)
_REQUIRED_VERSION = re.compile(
    rb"require_version\(\s*[\"'](?P<name>\w+)[\"']\s*,\s*[\"'](?P<version>[\d.]+)"
)
_LIBRARY = re.compile(
    r"(?:.*/)?(?:python3/(?:dist|site)-packages"
    r"|python3\.\d+(?:/(?:(?:dist|site)-packages|lib-dynload))?)"
)
_COMPILED = re.compile(r".*/__pycache__/[^/]+\.(?P<tag>\w+-\d+)\.pyc")
_PROGRAM = re.compile(r"(?:lib)?python\d[\d.]*(?:\.so\S*)?")
_MODULE = re.compile(r"\w+(?:\.\w+)*")
_NAMESPACE = "gi.repository."
_EXTENSION = re.compile(r"[^/]*?(?P<suffix>(?:\.(?:cpython-\d+\S*|abi3))?\.so)")


def imported_names(
    source: bytes, *, package: str, in_functions: bool = False
) -> Iterator[str]:
    """Yield the modules that a module imports while it is itself imported.

    Imports in functions happen later and those under ``TYPE_CHECKING`` never, so they
    are left out; those in ``try`` and ``if`` count. Text that isn't Python yields what
    looks like an import.

    :param package: that relative imports start from; empty at the top.
    :param in_functions: whether imports in functions count too: a program's own
        functions are likely to be called.
    """
    skipped_beyond: int | None = None
    for match in _LINE.finditer(source):
        indent = len(match["indent"])
        if skipped_beyond is not None and indent > skipped_beyond:
            continue
        skipped_beyond = None
        if match["block"] is not None:
            is_function = match["block"] in (b"def", b"async")
            if (is_function and not in_functions) or b"TYPE_CHECKING" in match["test"]:
                skipped_beyond = indent
        elif match["names"] is not None:
            yield from _names(match["names"])
        else:
            yield from _members(match["module"], match["members"], package)


def _names(text: bytes) -> Iterator[str]:
    for part in text.decode(errors="replace").split(","):
        name = part.split()[0] if part.split() else ""
        if name:
            yield name


def _members(module: bytes, members: bytes, package: str) -> Iterator[str]:
    text = module.decode(errors="replace")
    level = len(text) - len(text.lstrip("."))
    base = text.lstrip(".")
    if level:
        parents = package.split(".") if package else []
        kept = parents[: len(parents) - level + 1]
        base = ".".join((*kept, base)) if base else ".".join(kept)
    if base:
        yield base
    for name in _names(re.sub(rb"[()\\]|#[^\n]*", b" ", members)):
        if name.isidentifier():
            yield f"{base}.{name}" if base else name


class ModuleFinder:
    """Finds modules on the paths of a payload's Python.

    :param script_folders: directories of the scripts, searched first.
    :param search: directories of ``PYTHONPATH``, relative to the payload.
    """

    def __init__(
        self,
        payload: Payload,
        *,
        script_folders: Iterable[str],
        search: Sequence[str] = (),
    ) -> None:
        self._payload = payload
        self._entries = payload.inventory.entries
        tags: set[str] = set()
        suffixes: set[str] = set()
        libraries: list[str] = []
        for path, entry in self._entries.items():
            if entry.kind is EntryKind.DIRECTORY and _LIBRARY.fullmatch(path):
                libraries.append(path)
            elif path.endswith(".pyc") and (found := _COMPILED.fullmatch(path)):
                tags.add(found["tag"])
            elif path.endswith(".so") and (
                found := _EXTENSION.fullmatch(posixpath.basename(path))
            ):
                suffixes.add(found["suffix"])
        self._tags = sorted(tags)
        self._suffixes = sorted(suffixes)
        self._path = tuple(dict.fromkeys((*script_folders, *search, *libraries)))
        self.names: set[str] = set()
        self.versions: dict[str, str] = {}

    def imported(
        self, scripts: Iterable[Entry], *, modules: Iterable[str] = ()
    ) -> tuple[Entry, ...]:
        """Return the files read as these scripts' modules are imported.

        Compiled modules in place of their sources where both are there; extension
        modules as they are. ``names`` then holds all modules named, ``versions`` what
        GObject namespaces were asked for in.

        :param modules: started as programs (``python3 -m``).
        """
        files: dict[str, Entry] = {}
        pending: deque[str] = deque(STARTUP_MODULES)
        for module in modules:
            pending.extend((module, f"{module}.__main__"))
        for script in scripts:
            source = self._source(script)
            pending.extend(imported_names(source, package="", in_functions=True))
        while pending and len(self.names) <= MAX_MODULES:
            for part in _with_parents(pending.popleft()):
                if part in self.names:
                    continue
                self.names.add(part)
                found = self._find(part)
                if found is None:
                    continue
                read, source_entry, package = found
                files.setdefault(read.path, read)
                if source_entry is not None:
                    source = self._source(source_entry)
                    pending.extend(imported_names(source, package=package))
        return tuple(files.values())

    def _source(self, entry: Entry) -> bytes:
        source = self._payload.read(entry.path, offset=0, length=SOURCE_MAX_BYTES)
        for match in _REQUIRED_VERSION.finditer(source):
            self.versions.setdefault(match["name"].decode(), match["version"].decode())
        return source

    def _find(self, name: str) -> tuple[Entry, Entry | None, str] | None:
        """Return the file read for a module, its source, and its package."""
        relative = name.replace(".", "/")
        for folder in self._path:
            place = f"{folder}/{relative}" if folder else relative
            package = self._entries.get(f"{place}/__init__.py")
            if package is not None:
                return self._compiled(package), package, name
            for suffix in self._suffixes:
                extension = self._entries.get(place + suffix)
                if extension is not None:
                    return extension, None, ""
            module = self._entries.get(f"{place}.py")
            if module is not None:
                return self._compiled(module), module, name.rpartition(".")[0]
        return None

    def _compiled(self, source: Entry) -> Entry:
        folder, _, file = source.path.rpartition("/")
        stem = file.removesuffix(".py")
        for tag in self._tags:
            entry = self._entries.get(f"{folder}/__pycache__/{stem}.{tag}.pyc")
            if entry is not None:
                return entry
        return source


def _with_parents(name: str) -> Iterator[str]:
    """Yield ``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``: all of them are imported."""
    if len(name) > MAX_NAME_CHARACTERS:
        return
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def _loads(app: StartedApp) -> Iterator[Loaded]:
    if not app.runs(_PROGRAM):
        return
    scripts = app.scripts("python", ".py")
    search = map(
        app.paths.in_payload, library_path(app.environment.get("PYTHONPATH", ""))
    )
    finder = ModuleFinder(
        app.payload,
        script_folders=(posixpath.dirname(script.path) for script in scripts),
        search=tuple(part for part in search if part is not None),
    )
    modules = _modules_started(app.programs.words)
    for entry in finder.imported(scripts, modules=modules):
        kind = "extension" if entry.path.endswith(".so") else "module"
        yield Loaded(entry=entry, way=f"python-{kind}")
    namespaces = {
        module.removeprefix(_NAMESPACE)
        for module in finder.names
        if module.startswith(_NAMESPACE)
    }
    yield from introspected(app, sorted(namespaces), finder.versions)


def _modules_started(words: Sequence[str]) -> tuple[str, ...]:
    """Return what ``-m`` names in commands of Python: modules started as programs."""
    return tuple(
        module
        for option, module in itertools.pairwise(words)
        if option == "-m"
        and "python" in posixpath.basename(words[0])
        and _MODULE.fullmatch(module)
    )


RUNTIME = Runtime(
    kind="Python",
    mapped=re.compile(r"python\d[\d.]*"),
    interpreter="python",
    loads=_loads,
    tells_all=True,
)
