"""Programs of .NET and Mono: the assemblies that they refer to, and native libraries.

An assembly's metadata holds the names of those that it refers to as texts that a NUL
ends (ECMA-335 II.24.2.3); so do those of the native libraries that it calls.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from typing import TYPE_CHECKING

from ....squashfs.entry import EntryKind
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....payload.inventory import Entry
    from .runtime import StartedApp

ASSEMBLY_MAX_BYTES = 8 * 1024 * 1024
"""How much of an assembly is looked at."""

MAX_ASSEMBLIES = 1000
"""Assemblies followed from one program."""

_MONO = re.compile(r"(?:mono|cli)(?:-sgen|-boehm)?|libmono\S*\.so\S*")
_NET = re.compile(r"dotnet|lib(?:hostfxr|coreclr)\.so")
_NAME = re.compile(rb"(?<=\0)[A-Za-z][\w.+-]{2,99}(?=\0)")
_MAPPED_NAME = re.compile(rb"<dllmap\b[^>]{0,500}?\btarget=\"(?P<target>[^\">]+)\"")
_ASSEMBLY = (".dll", ".exe")


class _Assemblies:
    """The assemblies and native libraries of a payload, by name."""

    def __init__(self, app: StartedApp) -> None:
        self._app = app
        self._managed: dict[str, list[Entry]] = {}
        self._native: dict[str, Entry] = {}
        for path, entry in app.payload.inventory.entries.items():
            name = posixpath.basename(path)
            if entry.kind is not EntryKind.DIRECTORY and ".so" in name:
                self._native.setdefault(name, entry)
            elif path.endswith(_ASSEMBLY) and entry.kind is EntryKind.FILE:
                self._managed.setdefault(name[:-4], []).append(entry)

    def loaded(self, programs: list[Entry], first: tuple[str, ...]) -> Iterator[Loaded]:
        """Yield what programs refer to, and what that does.

        :param first: assemblies that the runtime itself loads.
        """
        folders = [posixpath.dirname(program.path) for program in programs]
        pending = deque(programs)
        seen = {program.path for program in programs}
        names: list[str] = [*first]
        while (pending or names) and len(seen) <= MAX_ASSEMBLIES:
            native: list[str] = []
            if pending:
                referred = self._referred(pending.popleft())
                names.extend(name for name in referred if name in self._managed)
                native = [name for name in referred if name not in self._managed]
            for name in names:
                entry = self._nearest(name, folders)
                if entry is not None and entry.path not in seen:
                    seen.add(entry.path)
                    pending.append(entry)
                    yield Loaded(entry=entry, way="assembly")
                    yield from self._compiled(entry)
            names.clear()
            for name in native:
                library = self._library(name)
                if library is not None and library.path not in seen:
                    seen.add(library.path)
                    yield Loaded(entry=library, way="assembly-library", library=True)

    def _compiled(self, assembly: Entry) -> Iterator[Loaded]:
        """Yield what an assembly was compiled to ahead: beside it, or in a cache."""
        entry = self._native.get(f"{posixpath.basename(assembly.path)}.so")
        if entry is not None:
            yield Loaded(entry=entry, way="assembly-code", library=True)

    def _nearest(self, name: str, folders: list[str]) -> Entry | None:
        """Return the assembly of a name: of several, the one beside the program."""
        known = self._managed.get(name, ())
        beside = [each for each in known if posixpath.dirname(each.path) in folders]
        return max(beside or known, key=lambda entry: entry.path, default=None)

    def _referred(self, assembly: Entry) -> list[str]:
        read = self._app.payload.read
        content = read(assembly.path, offset=0, length=ASSEMBLY_MAX_BYTES)
        names = [name.decode() for name in dict.fromkeys(_NAME.findall(content))]
        settings = f"{assembly.path}.config"
        if settings in self._app.payload.inventory.entries:
            text = read(settings, offset=0, length=ASSEMBLY_MAX_BYTES)
            targets = _MAPPED_NAME.findall(text)
            names.extend(target.decode(errors="replace") for target in targets)
        return names

    def _library(self, name: str) -> Entry | None:
        for candidate in (name, f"{name}.so", f"lib{name}.so", f"lib{name}"):
            entry = self._native.get(candidate)
            if entry is not None:
                return self._app.paths.file(entry.path)
        return None


def loads(app: StartedApp) -> Iterator[Loaded]:
    """Yield the assemblies and libraries that programs load."""
    programs = [
        entry for entry in app.programs.started if entry.path.endswith(_ASSEMBLY)
    ]
    hosted = [*_hosted(app)]
    for entry in hosted:
        yield Loaded(entry=entry, way="assembly")
    if programs and app.runs(_MONO):
        yield from _Assemblies(app).loaded(programs, ("mscorlib", "System"))
    elif hosted or (programs and app.runs(_NET)):
        first = ("System.Private.CoreLib", "System.Runtime")
        yield from _Assemblies(app).loaded([*programs, *hosted], first)


def _hosted(app: StartedApp) -> Iterator[Entry]:
    """Yield the assemblies that .NET's launchers start: those of the same name."""
    for program in app.programs.started:
        assembly = app.paths.file(f"{program.path}.dll")
        if assembly and app.paths.file(f"{program.path}.runtimeconfig.json"):
            yield assembly
