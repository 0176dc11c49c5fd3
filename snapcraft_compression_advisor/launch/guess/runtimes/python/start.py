"""How programs in Python are started: scripts, directories, archives, modules, code."""

from __future__ import annotations

import configparser
import io
import itertools
import posixpath
import re
import zipfile
import zlib
from typing import TYPE_CHECKING

from .....payload.elf import ELF_MAGIC
from ..runtime import MAX_MEMBERS_BYTES, MEMBER_MAX_BYTES
from .importer import COMMAND_LINE
from .imports import imported_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from _typeshed import WriteableBuffer

    from .....payload.inventory import Entry
    from .....payload.source import Payload
    from ..runtime import StartedApp
    from .importer import Importer

ENTRY_POINTS_MAX_BYTES = 256 * 1024
"""Of one ``entry_points.txt``; those with hundreds of commands have 20 KB."""

MAX_MEMBERS = 2000
"""Sources read of one archive."""

_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, OSError,
    RuntimeError, ValueError,
)  # fmt: skip
"""What :mod:`zipfile` raises on archives that are broken, encrypted or too new."""

_MODULE = re.compile(r"\w+(?:\.\w+)*")
LOADED_ENTRY_POINT = re.compile(
    rb"load_entry_point\(\s*[\"'](?P<package>[^\"'\n]+)[\"']\s*,"
    rb"\s*[\"'](?P<group>[^\"'\n]+)[\"']\s*,\s*[\"'](?P<name>[^\"'\n]+)[\"']"
)
_METADATA = re.compile(r"(?:.*/)?(?P<name>[^/]+)\.(?:dist|egg)-info/entry_points\.txt")
_INTERPRETER = r"python[\d.]*"
_SEPARATORS = re.compile(r"[-_.]+")


class EntryPoints:
    """The entry points of a payload's installed packages.

    :ivar read: metadata that was looked at.
    """

    def __init__(self, app: StartedApp) -> None:
        self._app = app
        self._files: dict[str, list[Entry]] = {}
        self.read: dict[str, Entry] = {}
        for entry in app.files("/entry_points.txt"):
            if match := _METADATA.fullmatch(entry.path):
                name = _normal(match["name"].partition("-")[0])
                self._files.setdefault(name, []).append(entry)

    def named(self, package: str, group: str, name: str) -> Iterator[str]:
        """Yield an entry point's ``module:function``.

        :param package: with or without its version (``hello==1.0``).
        """
        for entry in self._files.get(_normal(package.partition("==")[0]), ()):
            points = self._points(entry, group)
            yield from (value for point, value in points if point == name)

    def modules(self, group: str) -> Iterator[str]:
        """Yield the modules of a group's entry points, of all packages."""
        for entry in itertools.chain(*self._files.values()):
            for _, value in self._points(entry, group):
                yield value.partition(":")[0].strip()

    def _points(self, entry: Entry, group: str) -> Iterator[tuple[str, str]]:
        self.read[entry.path] = entry
        text = self._app.source(entry, ENTRY_POINTS_MAX_BYTES)
        parser = configparser.RawConfigParser(delimiters="=", strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign] # as documented
        try:
            parser.read_string(text.decode(errors="replace"))
        except configparser.Error:
            return
        if parser.has_section(group):
            for name, value in parser.items(group):
                yield name, value.partition("[")[0].strip()


def start(app: StartedApp, importer: Importer, points: EntryPoints) -> None:
    """Follow all that an app starts with Python."""
    for script in app.scripts("python", ".py"):
        source = app.source(script)
        if not (source.startswith((b"PK", ELF_MAGIC)) or b"\0" in source[:4096]):
            importer.start_source(source, file=script.path)
            for match in LOADED_ENTRY_POINT.finditer(source):
                named = (part.decode(errors="replace") for part in match.groups())
                for point in points.named(*named):
                    module, _, function = point.partition(":")
                    importer.start_function(module.strip(), function.strip())
            continue
        for name, text in _sources_in(app.payload, script).items():
            if name == "__main__.py":
                importer.start_source(text, file=script.path)
            else:
                package = posixpath.dirname(name).replace("/", ".")
                importer.import_also(
                    name for name, _ in imported_names(text, package=package)
                )
    for invocation in app.invocations(_INTERPRETER):
        option, argument = _option(invocation.words[1:])
        if option == "-m" and _MODULE.fullmatch(argument):
            importer.start_module(argument)
        elif option == "-c":
            importer.start_source(argument.encode(errors="replace"), file=COMMAND_LINE)


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


def _sources_in(payload: Payload, entry: Entry) -> dict[str, bytes]:
    """Return the sources in an archive, by name; none of what isn't one."""
    found: dict[str, bytes] = {}
    total = 0
    try:
        file = io.BufferedReader(_PayloadFile(payload, entry))
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if len(found) >= MAX_MEMBERS or total > MAX_MEMBERS_BYTES:
                    break
                if info.filename.endswith(".py"):
                    with archive.open(info) as member:
                        found[info.filename] = member.read(MEMBER_MAX_BYTES)
                    total += len(found[info.filename])
    except _BROKEN:
        pass
    return found


class _PayloadFile(io.RawIOBase):
    """A file of a payload as one that can be read from any place."""

    def __init__(self, payload: Payload, entry: Entry) -> None:
        self._payload = payload
        self._entry = entry
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_CUR: self._position, io.SEEK_END: self._entry.size_bytes}
        self._position = max(0, base.get(whence, 0) + offset)
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        content = self._payload.read(
            self._entry.path, offset=self._position, length=len(view)
        )
        view[: len(content)] = content
        self._position += len(content)
        return len(content)
