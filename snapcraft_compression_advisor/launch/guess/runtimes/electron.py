"""Electron's applications: what their archive's program loads, and its first pages.

An archive is a header in JSON, and behind it the members side by side
(https://github.com/electron/asar#format).
"""

from __future__ import annotations

import json
import posixpath
import re
import struct
from typing import TYPE_CHECKING

from ....codecs.codec import DATA_BLOCK_BYTES
from ....core.units import MIB
from ....payload.elf import ELF_MAGIC
from ....payload.inventory import block_count
from ...launch_set import BlindSpot
from .node import MAX_NAME_CHARACTERS, MAX_NAMES, SCRIPTS, Modules, followed, some_of
from .runtime import MAX_MEMBERS_BYTES, MEMBER_MAX_BYTES, Loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

HEADER_MAX_BYTES = 8 * MIB
"""How long a header is looked at; a member takes some 300 bytes of it."""

MAX_LINKS = 40
"""Links followed to one member, as the kernel does in one path (``namei.c``)."""

_MAX_DIGITS = 19
_SIZES = struct.Struct("<4I")
"""Chromium's pickles of a number and of a string: of the number; of the second pickle;
of that without this number; and of the JSON, without padding."""

Node = dict[str, object]

_CODE = "electron-code"
_EXTENSION = "electron-extensions"
_PAGES = (".html", ".htm")
_PACKAGE = re.compile(r"(?:.*/)?node_modules/(?:@[^/]+/)?[^/]+(?=/)")
_QUOTED = re.compile(rb"""(["'`])(?P<text>[^"'`\n]{1,300})\1""")
_JOINED = re.compile(
    rb"""(?:dirname|getAppPath\(\))(?P<parts>(?:\s*[,+]\s*["'`][^"'`\n]{1,300}["'`])+)"""
)
_LINKED = re.compile(
    rb"""<(?:script|link|img|iframe)\b[^<>]{0,1000}?\b(?:src|href)\s{0,9}=\s{0,9}"""
    rb"""["']?(?P<path>[^"'\s<>]{1,300})"""
)
_IN_FOLDER = (
    rb"""(?:__dirname|app\.getAppPath\(\))(?:[ \t]*[,+][ \t]*["'][^"'\n]*["'])+\s*\)"""
)
_COMPUTED = re.compile(
    rb"^(?:(?:const|let|var)[ \t][^=\n]{1,200}=[ \t]*)?(?:await[ \t]+)?"
    rb"(?:require|import)\([ \t]*(?=[A-Za-z_$])(?!(?:[\w.]{1,40}\([ \t]*)?"
    + _IN_FOLDER
    + rb")",
    re.MULTILINE,
)
"""A name of a module that isn't written out, outside of functions: such lines aren't
indented."""


class _Program:
    """What the program in an archive reads."""

    def __init__(self, archive: _Archive) -> None:
        self._archive = archive
        self._modules = Modules(archive)
        self.computed = False
        self.broken = self._modules.broken

    def files(self) -> tuple[str, ...]:
        """Return the files that a launch reads, the program first; none without one."""
        start = tuple(self._modules.files("."))
        code = (*SCRIPTS, ".jsc")
        if not any(path.endswith(code) or "." not in path for path in start):
            return ()
        return (*start, *followed(start, self._reads))

    def _reads(self, path: str) -> Iterator[str]:
        page = path.endswith(_PAGES)
        if not page and not path.endswith(SCRIPTS):
            return
        source = self._archive.read(path)
        yield from self._modules.required_by(source, path)
        if page:
            links = (_local(match["path"]) for match in _LINKED.finditer(source))
            yield from self._named(links, path)
        elif _package(path) is None:
            self.computed = self.computed or bool(_COMPUTED.search(source))
            yield from self._named(_written_out(source), path)

    def _named(self, names: Iterator[str], path: str) -> Iterator[str]:
        """Yield the files of names, relative to one that names them or to the root."""
        for name in some_of(names):
            beside = posixpath.join(posixpath.dirname(path), name)
            found = tuple(self._modules.files(beside))
            yield from found or self._modules.files(name)


def _written_out(source: bytes) -> Iterator[str]:
    """Yield the names of pages, scripts and extensions in a source's strings."""
    for match in _JOINED.finditer(source):
        parts = (_local(quoted["text"]) for quoted in _QUOTED.finditer(match["parts"]))
        yield "/".join(parts)
    for match in _QUOTED.finditer(source):
        name = _local(match["text"])
        if name.endswith((*_PAGES, *SCRIPTS, ".node")):
            yield name


def _local(text: bytes) -> str:
    """Return the path in an address or a template, as ``file://${here}/index.html``."""
    address = re.split(r"[?#]", text.decode(errors="replace"))[0]
    return re.split(r"://|\}", address)[-1].lstrip("/")


def _package(path: str) -> str | None:
    """Return the directory of the package that a file is of; the app's own has none."""
    match = _PACKAGE.match(path)
    return match[0] if match else None


def loads(app: StartedApp) -> Iterator[Loaded | BlindSpot]:
    """Yield what the code in archives loads, and what of it can't be known."""
    folders = {trigger.folder for trigger in app.triggers}
    places = (posixpath.join(each, "resources", "app.asar") for each in sorted(folders))
    beside = filter(None, map(app.paths.file, places))
    scripts = app.scripts("electron", ".asar")
    given = (entry for entry in scripts if entry.path.endswith(".asar"))
    for entry in {each.path: each for each in (*given, *beside)}.values():
        yield from _loaded(app, entry)


def _loaded(app: StartedApp, entry: Entry) -> Iterator[Loaded | BlindSpot]:
    archive = _open_archive(app, entry)
    program = _Program(archive) if archive is not None else None
    files = program.files() if program is not None else ()
    if archive is None or program is None or not files:
        yield Loaded(entry=entry, way=_CODE)
        for extension in app.files(".node"):
            if extension.path.startswith(f"{entry.path}.unpacked/"):
                yield Loaded(entry=extension, way=_EXTENSION)
        yield BlindSpot(reason="embedded-code", where=entry.path)
        return
    yield Loaded(entry=entry, way=_CODE, reached=archive.blocks(files))
    yield from _unpacked(app, entry, archive, files)
    if any(path.endswith(".jsc") for path in files):
        yield BlindSpot(reason="embedded-code", where=entry.path)
    if program.computed:
        yield BlindSpot(reason="computed-import", where=entry.path)
    for name in sorted({name for _, name in program.broken})[:MAX_NAMES]:
        yield BlindSpot(reason="unresolved-import", where=entry.path, what=name)
    if archive.exhausted:
        yield BlindSpot(reason="limit-reached", where=entry.path, what="modules")


def _unpacked(
    app: StartedApp, entry: Entry, archive: _Archive, files: tuple[str, ...]
) -> Iterator[Loaded]:
    """Yield files beside the archive: those reached, and extensions of their packages.

    Most packages look for their extension in several places, by a name that they make.
    """
    reached = set(files)
    packages = {_package(path) for path in reached} - {None}
    for path in files:
        member = archive.member(path)
        unpacked = member is not None and member[0] is not entry
        if member is not None and unpacked and not path.endswith(".node"):
            yield Loaded(entry=member[0], way="node-module")
    machines = {_machine(app, each) for each in app.programs.started} - {b""}
    for extension in app.files(".node"):
        path = extension.path.removeprefix(f"{entry.path}.unpacked/")
        inside = path != extension.path
        if inside and (path in reached or _package(path) in packages):
            machine = _machine(app, extension)
            if machine and (machine in machines or not machines):
                yield Loaded(entry=extension, way=_EXTENSION)


def _machine(app: StartedApp, entry: Entry) -> bytes:
    """Return the machine of an ELF file; empty for any other file."""
    head = app.source(entry, 20)
    return head[4:6] + head[18:20] if head.startswith(ELF_MAGIC) else b""


def _open_archive(app: StartedApp, entry: Entry) -> _Archive | None:
    """Return an archive, ``None`` if it is broken or its header too long."""
    head = app.source(entry, _SIZES.size)
    if len(head) < _SIZES.size:
        return None
    _, header_bytes, _, text_bytes = _SIZES.unpack(head)
    start = _SIZES.size // 2 + header_bytes
    end = _SIZES.size + text_bytes
    if text_bytes > HEADER_MAX_BYTES or not end <= start <= entry.size_bytes:
        return None
    text = app.payload.read(entry.path, offset=_SIZES.size, length=text_bytes)
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _Archive(app, entry, root, start) if isinstance(root, dict) else None


_Member = tuple["Entry", int, int]
"""The file that holds a file of an archive, and where it starts and ends in that."""


class _Archive:
    """The files of an archive, looked for by their paths in it.

    :param start: where the members start.
    :ivar exhausted: whether more was asked for than is read of one archive.
    """

    def __init__(self, app: StartedApp, entry: Entry, root: Node, start: int) -> None:
        self._app = app
        self._entry = entry
        self._root = root
        self._start = start
        self._left_bytes = MAX_MEMBERS_BYTES
        self.exhausted = False

    def find(self, path: str) -> str | None:
        """Return the path of the file that a path leads to, links followed."""
        found = self._locate(path)
        return found[0] if found and self._member(*found) else None

    def has_folder(self, path: str) -> bool:
        """Return whether there is a directory of this path."""
        found = self._locate(path)
        return found is not None and "files" in found[1]

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
        found = self._locate(path)
        return self._member(*found) if found is not None else None

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

    def _locate(self, path: str) -> tuple[str, Node] | None:
        """Return the node at a path, and its path without links."""
        for _ in range(MAX_LINKS):
            if len(path) > MAX_NAME_CHARACTERS:
                return None
            path = posixpath.normpath(path)
            node, link = self._walk([part for part in path.split("/") if part != "."])
            if node is None:
                return None
            if link is None:
                return path, node
            path = link
        return None

    def _walk(self, parts: list[str]) -> tuple[Node | None, str | None]:
        """Return the node at a path, or the target of the first link on it."""
        node = self._root
        for number, part in enumerate(parts, 1):
            files = node.get("files")
            child = files.get(part) if isinstance(files, dict) else None
            if not isinstance(child, dict):
                return None, None
            node = child
            link = node.get("link")
            if isinstance(link, str):
                return node, posixpath.join(link, *parts[number:])
        return node, None

    def _member(self, path: str, node: Node) -> _Member | None:
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
