"""Electron's applications: what their archive's program loads, and its first pages."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from ....payload.elf import ELF_MAGIC
from ....squashfs.entry import EntryKind
from ...launch_set import BlindSpot
from .asar import Archive, open_archive
from .node import MAX_NAMES, SCRIPTS, Modules, followed, some_of
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

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

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._modules = Modules(archive)
        self.computed = False
        self.broken = self._modules.broken

    def files(self) -> tuple[str, ...]:
        """Return the files that a launch reads, the program first; none without one."""
        start = tuple(self._modules.files("."))
        if not any(self._is_code(path) for path in start):
            return ()
        return (*start, *followed(start, self._reads))

    def _is_code(self, path: str) -> bool:
        return path.endswith((*SCRIPTS, ".jsc")) or "." not in path

    def _reads(self, path: str) -> Iterator[str]:
        page = path.endswith(_PAGES)
        if not page and not path.endswith(SCRIPTS):
            return
        source = self._archive.read(path)
        yield from self._modules.required_by(source, path)
        if page:
            yield from self._named(_linked(source), path)
        elif _package(path) is None:
            self.computed = self.computed or bool(_COMPUTED.search(source))
            yield from self._named(_written_out(source), path)

    def _named(self, names: Iterator[str], path: str) -> Iterator[str]:
        """Yield the files of names, relative to one that names them or to the root."""
        for name in some_of(names):
            beside = posixpath.join(posixpath.dirname(path), name)
            found = tuple(self._modules.files(beside))
            yield from found or self._modules.files(name)


def _linked(page: bytes) -> Iterator[str]:
    for match in _LINKED.finditer(page):
        yield _local(match["path"])


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
    for entry in _archives(app):
        yield from _loaded(app, entry)


def _archives(app: StartedApp) -> tuple[Entry, ...]:
    """Return the archives beside programs, and those that Electron is given."""
    folders = {trigger.folder for trigger in app.triggers}
    places = (posixpath.join(each, "resources", "app.asar") for each in sorted(folders))
    given = [
        each for each in app.scripts("electron", ".asar") if each.path.endswith(".asar")
    ]
    beside = filter(None, map(app.paths.file, places))
    return tuple({entry.path: entry for entry in (*given, *beside)}.values())


def _loaded(app: StartedApp, entry: Entry) -> Iterator[Loaded | BlindSpot]:
    archive = open_archive(app.payload, entry, app.paths.file)
    program = _Program(archive) if archive is not None else None
    files = program.files() if program is not None else ()
    if archive is None or program is None or not files:
        yield Loaded(entry=entry, way=_CODE)
        for extension in _extensions(app, entry):
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
    app: StartedApp, entry: Entry, archive: Archive, files: tuple[str, ...]
) -> Iterator[Loaded]:
    """Yield files beside the archive: those reached, and extensions of their packages.

    Most packages look for their extension in several places, by a name that they make.
    """
    reached = set(files)
    packages = {_package(path) for path in reached} - {None}
    for path in files:
        member = archive.member(path)
        if member is not None and member.unpacked and not path.endswith(".node"):
            yield Loaded(entry=member.unpacked, way="node-module")
    machines = {_machine(app, each) for each in app.programs.started} - {b""}
    for extension in _extensions(app, entry):
        path = extension.path.removeprefix(f"{entry.path}.unpacked/")
        if path in reached or _package(path) in packages:
            machine = _machine(app, extension)
            if machine and (machine in machines or not machines):
                yield Loaded(entry=extension, way=_EXTENSION)


def _extensions(app: StartedApp, archive: Entry) -> Iterator[Entry]:
    """Yield the unpacked parts in C."""
    for path, entry in app.payload.inventory.entries.items():
        if (
            path.endswith(".node")
            and path.startswith(f"{archive.path}.unpacked/")
            and entry.kind is EntryKind.FILE
        ):
            yield entry


def _machine(app: StartedApp, entry: Entry) -> bytes:
    """Return what an ELF file runs on, nothing for any other file."""
    head = app.payload.read(entry.path, offset=0, length=20)
    return head[4:6] + head[18:20] if head.startswith(ELF_MAGIC) else b""
