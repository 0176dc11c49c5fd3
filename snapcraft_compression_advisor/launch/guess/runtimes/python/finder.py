"""Where Python finds modules in a payload."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .....payload.inventory import Entry, Inventory

_LIBRARY = re.compile(
    r"(?:.*/)?(?:python3/(?:dist|site)-packages"
    r"|python3\.\d+(?:/(?:(?:dist|site)-packages|lib-dynload))?)"
)
_VERSION = re.compile(r"/python3\.(\d+)(?:/|$)")
_PACKAGES = re.compile(r"(?:.*/)?(?:dist|site)-packages")
_COMPILED = re.compile(r".*/__pycache__/[^/]+\.(?P<tag>\w+-\d+)\.pyc")
_PART_IN_C = re.compile(
    rf"{_PACKAGES.pattern}/(?P<top>[^/]+)/(?:.*/)?[^/]+\.(?:cpython-\d+\S*|abi3)\.so"
)
_EXTENSION = re.compile(r"[^/]*?(?P<suffix>(?:\.(?:cpython-\d+\S*|abi3))?\.so)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module that was found.

    :param read: the file that an import of it reads.
    :param source: its source, ``None`` of an extension without one beside it.
    :param package: that its relative imports start from.
    :param folder: the directory that was searched.
    """

    read: Entry
    source: Entry | None
    package: str
    folder: str


class ModuleFinder:
    """Finds modules on the paths of a payload's Python.

    :param folders: directories that are searched first, relative to the payload:
        those of scripts and of ``PYTHONPATH``.
    """

    def __init__(self, inventory: Inventory, *, folders: Iterable[str] = ()) -> None:
        self._entries = inventory.entries
        compiled = filter(None, map(_COMPILED.fullmatch, self._entries))
        names = map(posixpath.basename, self._entries)
        extensions = filter(None, map(_EXTENSION.fullmatch, names))
        libraries = [path for path in inventory.folders if _LIBRARY.fullmatch(path)]
        versions = [match for path in libraries for match in _VERSION.findall(path)]

        def order(name: str) -> tuple[bool, str]:
            return not any(f"cpython-3{each}" in name for each in versions), name

        # A package may have files for several versions of Python.
        self._tags = sorted({match["tag"] for match in compiled}, key=order)
        suffixes = {match["suffix"] for match in extensions}
        self._suffixes = sorted(suffixes, key=order)
        self._libraries = frozenset(libraries)
        self._path = tuple(dict.fromkeys((*folders, *libraries)))

    def search_also(self, folders: Iterable[str]) -> None:
        """Search in more directories, before all others."""
        self._path = tuple(dict.fromkeys((*folders, *self._path)))

    def is_own(self, folder: str) -> bool:
        """Return whether a directory is an application's own, not the language's."""
        return folder not in self._libraries

    def is_standard(self, folder: str) -> bool:
        """Return whether a directory holds Python's own modules."""
        return folder in self._libraries and not _PACKAGES.fullmatch(folder)

    def find(self, name: str) -> Module | None:
        """Return the module of an absolute name."""
        relative, above = name.replace(".", "/"), name.rpartition(".")[0]
        for folder in self._path:
            place = f"{folder}/{relative}" if folder else relative
            for stem, package in ((f"{place}/__init__", name), (place, above)):
                source = self._entries.get(f"{stem}.py")
                names = (stem + suffix for suffix in self._suffixes)
                read = next(filter(None, map(self._entries.get, names)), None)
                if read is None and source is not None:
                    read = self._compiled(source)
                if read is not None:
                    return Module(
                        read=read, source=source, package=package, folder=folder
                    )
        return None

    def parts_in_c(self) -> dict[str, list[Entry]]:
        """Return the extension modules of installed packages, by the packages."""
        found: dict[str, list[Entry]] = {}
        for path, entry in self._entries.items():
            if match := _PART_IN_C.fullmatch(path):
                found.setdefault(match["top"], []).append(entry)
        return found

    def modules_around(self, file: str) -> Iterator[str]:
        """Yield the names of all modules of the package that a source belongs to.

        In an application's own directory, that is all of it.
        """
        places = (f"{folder}/" if folder else "" for folder in self._path)
        place = max(filter(file.startswith, places), key=len, default=file)
        top = file[len(place) :].partition("/")[0]
        prefix = place if self.is_own(place[:-1]) else f"{place}{top}/"
        for path in self._entries:
            if path.startswith(prefix) and path.endswith(".py"):
                parts = path[len(place) :].removesuffix(".py").split("/")
                if all(map(str.isidentifier, parts)):
                    yield ".".join(parts).removesuffix(".__init__")

    def _compiled(self, source: Entry) -> Entry:
        folder, _, file = source.path.rpartition("/")
        stem = f"{folder}/__pycache__/{file.removesuffix('.py')}"
        places = (f"{stem}.{tag}.pyc" for tag in self._tags)
        return next(filter(None, map(self._entries.get, places)), source)
