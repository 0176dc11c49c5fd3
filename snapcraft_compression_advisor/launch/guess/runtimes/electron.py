"""Electron's applications: their own code, and what that requires.

It is in a directory or an archive: a header in JSON, and behind it the members side by
side (https://github.com/electron/asar#format).
"""

from __future__ import annotations

import json
import posixpath
import struct
from typing import TYPE_CHECKING

from ....codecs.codec import DATA_BLOCK_BYTES
from ....core.units import MIB
from ....payload.inventory import block_count
from ...launch_set import BlindSpot
from .node import (
    COMPUTED,
    MAX_NAME_CHARACTERS,
    MAX_NAMES,
    PAGES,
    SCRIPTS,
    Modules,
    followed,
    loaded_from,
    package_of,
)
from .runtime import MAX_MEMBERS_BYTES, MEMBER_MAX_BYTES, Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

HEADER_MAX_BYTES = 8 * MIB
"""How long a header is looked at; a member takes some 300 bytes of it."""

_MAX_DIGITS = 19
_SIZES = struct.Struct("<4I")
"""Chromium's pickles of a number and of a string: of the number; of the second pickle;
of that without this number; and of the JSON, without padding."""

Node = dict[str, object]

_CODE = "electron-code"
_EXTENSION = "electron-extensions"
_OWN = (*PAGES, ".css")
_CODES = (*SCRIPTS, ".jsc")


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what the code in archives loads, and what of it can't be known."""
    folders = {trigger.folder for trigger in app.triggers}
    places = (posixpath.join(each, "resources", "app.asar") for each in sorted(folders))
    beside = filter(None, map(app.paths.file, places))
    scripts = app.scripts("electron", ".asar")
    given = (entry for entry in scripts if entry.path.endswith(".asar"))
    archives = {each.path: each for each in (*given, *beside)}.values()
    for entry in archives:
        yield from _loaded(app, entry)
    for folder in sorted(folders) if not archives else ():
        place = posixpath.join(folder, "resources", "app")
        if app.file(f"{place}/package.json"):
            yield from loaded_from(app, place)


def _loaded(app: StartedApp, entry: Entry) -> Iterator[Loaded | BlindSpot]:
    archive, computed = _Archive(app, entry), set[str]()
    modules = Modules(archive)

    def required(path: str) -> Iterator[str]:
        if path.endswith(SCRIPTS):
            source = archive.read(path)
            if not package_of(path) and COMPUTED.search(source):
                computed.add(path)
            yield from modules.required_by(source, path)

    program = tuple(modules.files("."))
    if not any(path.endswith(_CODES) or "." not in path for path in program):
        yield from _unread(app, entry)
        return
    own = (path for path in archive.own_files() if path.endswith(_OWN))
    first = dict.fromkeys((*program, *own))
    files = (*first, *followed(first, required))
    yield Loaded(entry=entry, way=_CODE, reached=archive.blocks(files))
    yield from _unpacked(app, entry, archive, files)
    if any(path.endswith(".jsc") for path in files):
        yield BlindSpot(reason="embedded-code", where=entry.path)
    if computed:
        yield BlindSpot(reason="computed-import", where=entry.path)
    for name in sorted({name for _, name in modules.broken})[:MAX_NAMES]:
        yield BlindSpot(reason="unresolved-import", where=entry.path, what=name)
    if archive.exhausted:
        yield BlindSpot(reason="limit-reached", where=entry.path, what="modules")


def _unread(app: StartedApp, entry: Entry) -> Iterator[Loaded | BlindSpot]:
    """Yield all of an archive without a program, or that is broken."""
    yield Loaded(entry=entry, way=_CODE)
    for extension in app.files(".node"):
        if extension.path.startswith(f"{entry.path}.unpacked/"):
            yield Loaded(entry=extension, way=_EXTENSION)
    yield BlindSpot(reason="embedded-code", where=entry.path)


def _unpacked(
    app: StartedApp, entry: Entry, archive: _Archive, files: tuple[str, ...]
) -> Iterator[Loaded]:
    """Yield files beside the archive: those reached, and extensions of their packages.

    Most packages look for their extension in several places, by a name that they make.
    """
    reached = set(files)
    packages = {*map(package_of, reached)} - {""}
    for path in files:
        member = archive.member(path)
        unpacked = member is not None and member[0] is not entry
        if member is not None and unpacked and not path.endswith(".node"):
            yield Loaded(entry=member[0], way="node-module")
    for extension in app.files(".node"):
        path = extension.path.removeprefix(f"{entry.path}.unpacked/")
        inside = path != extension.path
        if inside and (path in reached or package_of(path) in packages):
            yield Loaded(entry=extension, way=_EXTENSION)


def _header(app: StartedApp, entry: Entry) -> tuple[Node, int]:
    """Return an archive's root, and where the members start.

    Nothing is in one that is broken, or whose header is too long.
    """
    head = app.source(entry, _SIZES.size).ljust(_SIZES.size, b"\0")
    _, header_bytes, _, text_bytes = _SIZES.unpack(head)
    start = _SIZES.size // 2 + header_bytes
    end = _SIZES.size + text_bytes
    if text_bytes > HEADER_MAX_BYTES or not end <= start <= entry.size_bytes:
        return {}, 0
    text = app.payload.read(entry.path, offset=_SIZES.size, length=text_bytes)
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        root = None
    return root if isinstance(root, dict) else {}, start


_Member = tuple["Entry", int, int]
"""The file that holds a file of an archive, and where it starts and ends in that."""


class _Archive:
    """The files of an archive, looked for by their paths in it.

    :ivar exhausted: whether more was asked for than is read of one archive.
    """

    def __init__(self, app: StartedApp, entry: Entry) -> None:
        self._app = app
        self._entry = entry
        self._root, self._start = _header(app, entry)
        self._left_bytes = MAX_MEMBERS_BYTES
        self.exhausted = False

    def find(self, path: str) -> str | None:
        """Return the path of the file that a path leads to."""
        return posixpath.normpath(path) if self.member(path) else None

    def own_files(self) -> Iterator[str]:
        """Yield all paths outside of packages, directories too."""
        pending = [("", self._root)]
        while pending:
            folder, node = pending.pop()
            inside = node.get("files")
            for name, child in inside.items() if isinstance(inside, dict) else ():
                path = f"{folder}/{name}" if folder else name
                if isinstance(child, dict) and len(path) <= MAX_NAME_CHARACTERS:
                    yield path
                    if name != "node_modules":
                        pending.append((path, child))

    def has_folder(self, path: str) -> bool:
        """Return whether there is a directory of this path."""
        return "files" in self._node(path)

    def read(self, path: str) -> bytes:
        """Return the start of a file; nothing once too much of the archive was read."""
        member = self.member(path)
        if member is None:
            return b""
        file, start, end = member
        length = min(end - start, MEMBER_MAX_BYTES)
        if length > self._left_bytes:
            self.exhausted = True
            return b""
        self._left_bytes -= length
        return self._app.payload.read(file.path, offset=start, length=length)

    def member(self, path: str) -> _Member | None:
        """Return where a file is, ``None`` if there is none."""
        node = self._node(path)
        size, offset = node.get("size"), node.get("offset")
        if node.get("unpacked"):
            beside = self._app.paths.file(f"{self._entry.path}.unpacked/{path}")
            return (beside, 0, beside.size_bytes) if beside is not None else None
        if not isinstance(size, int) or not isinstance(offset, str):
            return None
        if not (offset.isdecimal() and len(offset) <= _MAX_DIGITS and size >= 0):
            return None
        start = self._start + int(offset)
        if start + size > self._entry.size_bytes:
            return None
        return self._entry, start, start + size

    def blocks(self, paths: Iterable[str]) -> frozenset[int]:
        """Return the data blocks of the archive that hold files, or its header."""
        members = filter(None, map(self.member, paths))
        held = sorted(
            (start, end)
            for file, start, end in members
            if file is self._entry and end > start
        )
        found: list[int] = []
        behind = 0
        for start, end in ((0, self._start), *held):
            first = max(behind, start // DATA_BLOCK_BYTES)
            behind = max(behind, block_count(end))
            found.extend(range(first, behind))
        return frozenset(found)

    def _node(self, path: str) -> Node:
        """Return what the header says of a path; nothing if there is no such."""
        node = self._root
        if len(path) > MAX_NAME_CHARACTERS:
            return {}
        for part in posixpath.normpath(path).split("/"):
            files = node.get("files")
            child = files.get(part) if isinstance(files, dict) else None
            node = child if isinstance(child, dict) else {}
        return node
