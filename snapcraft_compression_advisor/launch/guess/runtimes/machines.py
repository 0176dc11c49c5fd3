"""What virtual machines and hosts of plug-ins load: .NET, Mono, Java, VLC.

A .NET assembly's metadata holds the names of those that it refers to as texts that a
NUL ends (ECMA-335 II.24.2.3); so do those of the native libraries that it calls.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from typing import TYPE_CHECKING

from ....core.units import MIB
from ....squashfs.entry import EntryKind
from .runtime import Loaded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....payload.inventory import Entry
    from .runtime import StartedApp

ASSEMBLY_MAX_BYTES = 8 * MIB
"""How much of an assembly is looked at."""

MAX_ASSEMBLIES = 1000
"""Assemblies followed from one program."""

LINKED_MAX_BYTES = 80 * MIB
"""Of the modules that jlink put together; those of a whole runtime have 100 MiB and
more, and a smaller part of them is read."""

MAX_PLUGINS = 1000
"""Of VLC; Debian ships some 370 of them."""

_MONO = r"(?:mono|cli)(?:-sgen|-boehm)?|libmono\S*\.so\S*"
_NET = r"dotnet|lib(?:hostfxr|coreclr)\.so"
_NET_CORE = "System.Private.CoreLib"
_NET_WAYS = ("net-runtime", "net-assembly", "net-assembly-second", "net-assembly-far")
"""Of the runtime and the program, of what that refers to, what this does, and more."""

_NET_MACHINE = ("coreclr", "clrjit")
_EXTENSION = re.compile(r"\S+\.cpython-3\S+\.so")
_NAME = re.compile(rb"(?<=\0)[A-Za-z][\w.+-]{2,99}(?=\0)")
_MAPPED_NAME = re.compile(rb"<dllmap\b[^>]{0,500}?\btarget=\"(?P<target>[^\">]+)\"")
_ASSEMBLY = (".dll", ".exe")
_PLUGIN = re.compile(r"(?P<root>.*/vlc/plugins)/(?P<kind>\w+)/lib\w+_plugin\.so")
_WITH_CACHE = frozenset(("control", "gui", "keystore", "logger", "lua", "misc"))


def java(app: StartedApp) -> Iterator[Loaded]:
    """Yield the modules that jlink put together."""
    for program in app.programs.started:
        root = program.path.removesuffix("/bin/java")
        modules = app.paths.file(f"{root}/lib/modules")
        if modules is not None and modules.size_bytes < LINKED_MAX_BYTES:
            yield Loaded(entry=modules, way="java-linked-modules")


def vlc(app: StartedApp) -> Iterator[Loaded]:
    """Yield all plug-ins, or if there is a list of them, those of the interface.

    Without its ``plugins.dat``, libVLC opens each plug-in to ask what it can do.
    """
    plugins = [
        (entry, match, f"{match['root']}/plugins.dat" in app.payload.inventory.entries)
        for entry in app.files("_plugin.so")
        if (match := _PLUGIN.fullmatch(entry.path))
    ]
    for entry, match, listed in plugins[:MAX_PLUGINS]:
        if not listed:
            yield Loaded(entry=entry, way="vlc-plugin")
        elif match["kind"] in _WITH_CACHE:
            yield Loaded(entry=entry, way="vlc-interface")


def dotnet(app: StartedApp) -> Iterator[Loaded]:
    """Yield the assemblies and libraries that programs load."""
    started = app.programs.started
    programs = [entry for entry in started if entry.path.endswith(_ASSEMBLY)]
    hosted = [
        assembly  # of the same name as the launcher that starts it
        for program in started
        if (assembly := app.paths.file(f"{program.path}.dll"))
        and app.paths.file(f"{program.path}.runtimeconfig.json")
    ]
    for entry in hosted:
        yield Loaded(entry=entry, way=_NET_WAYS[0])
    if programs and app.runs(_MONO):
        yield from _Assemblies(app).loaded(programs, ("mscorlib", "System"))
    elif hosted or (programs and app.runs(_NET)):
        yield from _Assemblies(app).net([*programs, *hosted])
    else:
        yield from _hosted_by_modules(app)


def _hosted_by_modules(app: StartedApp) -> Iterator[Loaded]:
    """Yield the .NET that modules in machine code of a Python package bring and run."""
    for core in app.files("/libcoreclr.so"):
        hosts = [
            host
            for trigger in app.triggers
            if _EXTENSION.fullmatch(trigger.name)
            and core.path.startswith(f"{trigger.folder}/")
            and (host := app.file(f"{trigger.folder}/{trigger.name}"))
        ]
        if hosts:
            yield Loaded(entry=core, way=_NET_WAYS[0], library=True)
            yield from _Assemblies(app).net(hosts)


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

    def net(self, programs: list[Entry]) -> Iterator[Loaded]:
        """Yield what .NET itself loads, and what programs refer to, near and far."""
        folders = [posixpath.dirname(program.path) for program in programs]
        core = self._nearest(_NET_CORE, folders)
        if core is not None:
            yield Loaded(entry=core, way=_NET_WAYS[0])
            folder = posixpath.dirname(core.path)
            for name in _NET_MACHINE:
                if library := self._app.paths.file(f"{folder}/lib{name}.so"):
                    yield Loaded(entry=library, way=_NET_WAYS[0], library=True)
        yield from self.loaded(programs, (), ways=_NET_WAYS[1:])

    def loaded(
        self,
        programs: list[Entry],
        first: tuple[str, ...],
        *,
        ways: Sequence[str] = ("assembly",),
    ) -> Iterator[Loaded]:
        """Yield what programs refer to, and what that does.

        :param first: assemblies that the runtime itself loads.
        :param ways: by distance from the programs; the last is of all further ones.
        """
        folders = [posixpath.dirname(program.path) for program in programs]
        pending = deque((program, 0) for program in programs)
        seen = {program.path for program in programs}
        names: list[str] = [*first]
        while (pending or names) and len(seen) <= MAX_ASSEMBLIES:
            assembly, distance = pending.popleft() if pending else (None, 0)
            referred = self._referred(assembly) if assembly is not None else []
            way = ways[min(distance, len(ways) - 1)]
            for name in (*names, *(each for each in referred if each in self._managed)):
                entry = self._nearest(name, folders)
                if entry is not None and entry.path not in seen:
                    seen.add(entry.path)
                    pending.append((entry, distance + 1))
                    yield Loaded(entry=entry, way=way)
                    # What it was compiled to ahead: beside it, or in a cache.
                    ahead = f"{posixpath.basename(entry.path)}.so"
                    if code := self._native.get(ahead):
                        yield Loaded(entry=code, way="assembly-code", library=True)
            names.clear()
            for name in referred:
                library = None if name in self._managed else self._library(name)
                if library is not None and library.path not in seen:
                    seen.add(library.path)
                    yield Loaded(entry=library, way="assembly-library", library=True)

    def _nearest(self, name: str, folders: list[str]) -> Entry | None:
        """Return the assembly of a name: of several, the one beside the program."""
        known = self._managed.get(name, ())
        beside = [each for each in known if posixpath.dirname(each.path) in folders]
        return max(beside or known, key=lambda entry: entry.path, default=None)

    def _referred(self, assembly: Entry) -> list[str]:
        content = self._app.source(assembly, ASSEMBLY_MAX_BYTES)
        names = [name.decode() for name in dict.fromkeys(_NAME.findall(content))]
        settings = self._app.file(f"{assembly.path}.config")
        if settings is not None:
            text = self._app.source(settings, ASSEMBLY_MAX_BYTES)
            targets = _MAPPED_NAME.findall(text)
            names.extend(target.decode(errors="replace") for target in targets)
        return names

    def _library(self, name: str) -> Entry | None:
        names = (name, f"{name}.so", f"lib{name}.so", f"lib{name}")
        entry = next(filter(None, map(self._native.get, names)), None)
        return self._app.paths.file(entry.path) if entry is not None else None
