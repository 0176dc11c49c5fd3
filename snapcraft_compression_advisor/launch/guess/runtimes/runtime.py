"""What a guess has to know of a language's runtime."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from ....payload.linkage import library_path
from ...launch_set import BlindSpot

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator, Mapping

    from ....payload.inventory import Entry
    from ....payload.linkage import Unresolved
    from ....payload.source import Payload
    from ..families import Family, Trigger
    from ..snap_paths import SnapPaths


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A file that programs of a runtime load.

    :param way: how priors call files that are found like this one.
    :param needs: likewise, the libraries that it links; as itself by default.
    :param library: whether it is loaded as a library.
    :param reached: of an archive, the data blocks that hold members that are loaded.
    :param expected: whether it is expected to be read, or only may be.
    :param by: the file that imports it, if that is known.
    """

    entry: Entry
    way: str
    needs: str | None = None
    library: bool = False
    reached: frozenset[int] | None = None
    expected: bool = True
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A command that runs an interpreter.

    :param words: the interpreter as it is named, and its arguments.
    :param folder: the directory that its script changed into, relative to the payload;
        empty if it changed into none.
    """

    words: tuple[str, ...]
    folder: str = ""

    def places(self, argument: str) -> tuple[str, ...]:
        """Return the paths that an argument may mean."""
        if self.folder and not argument.startswith(("/", "$")):
            return posixpath.normpath(f"{self.folder}/{argument}"), argument
        return (argument,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """What an app starts.

    :param started: programs, scripts and files that arguments name, in order.
    :param words: of all commands, for what depends on arguments.
    :param unresolved: programs that the payload doesn't hold.
    :param followed: whether every program started is known; a script in another
        language than shell leaves that open.
    :param blind_spots: what could not be followed.
    :param invocations: of interpreters, by commands of the app and of shell scripts.
    :param called: tools that shell scripts run by bare names.
    :param variables: what shell scripts assign.
    """

    started: tuple[Entry, ...]
    words: tuple[str, ...]
    unresolved: Mapping[str, Unresolved]
    followed: bool
    blind_spots: tuple[BlindSpot, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    called: tuple[Entry, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def library_folders(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Return where libraries are looked for first; PyInstaller sets its own."""
        folders = dict.fromkeys(posixpath.dirname(each.path) for each in self.started)
        frozen = (f"$SNAP/{folder}/_internal" for folder in folders)
        return (*frozen, *library_path(environment.get("LD_LIBRARY_PATH", "")))


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedApp:
    """An app as far as it is known when its runtimes are looked at.

    :param triggers: names of programs and libraries; what a runtime loads adds more.
    """

    payload: Payload
    paths: SnapPaths
    environment: Mapping[str, str]
    programs: Programs
    triggers: Collection[Trigger]

    def runs(self, name: re.Pattern[str]) -> bool:
        """Return whether it runs a program, or maps a library, of this name."""
        return any(name.fullmatch(trigger.name) for trigger in self.triggers)

    def invocations(self, interpreter: re.Pattern[str]) -> Iterator[Invocation]:
        """Yield the commands that run an interpreter of this name."""
        for invocation in self.programs.invocations:
            if interpreter.fullmatch(posixpath.basename(invocation.words[0])):
                yield invocation

    def scripts(self, interpreter: str, suffix: str) -> tuple[Entry, ...]:
        """Return the scripts that it starts.

        :param suffix: of those that are named as arguments of an unknown program.
        """
        return tuple(self._scripts(interpreter.encode(), suffix))

    def _scripts(self, interpreter: bytes, suffix: str) -> Iterator[Entry]:
        run = {entry.path for entry in self._arguments(interpreter.decode())}
        for program in self.programs.started:
            head = self.payload.read(program.path, offset=0, length=128)
            first_line = head.partition(b"\n")[0]
            if (
                program.path in run
                or program.path.endswith(suffix)
                or (head.startswith(b"#!") and interpreter in first_line)
            ):
                yield program

    def _arguments(self, interpreter: str) -> Iterator[Entry]:
        """Yield the first file among the arguments of each run of an interpreter."""
        for invocation in self.programs.invocations:
            if not posixpath.basename(invocation.words[0]).startswith(interpreter):
                continue
            places = (
                place
                for word in invocation.words[1:]
                if not word.startswith("-")
                for place in invocation.places(word)
            )
            found = next(filter(None, map(self.paths.shipped, places)), None)
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A language's runtime.

    :param kind: what applications of this runtime are called, in priors and reports.
    :param mapped: names of the programs and libraries that make an app one of them.
    :param interpreter: stem of the interpreter's name. Directories of this name are the
        language's own, not the application's; empty if there are none.
    :param families: what it opens by itself.
    :param libraries: names of libraries that also make its module be asked.
    :param scripts: interpreters and suffixes of scripts that do so.
    :param files: ends of the names of files that do so.
    :param module: of this package, with the function ``loads``; without one, what its
        scripts load isn't known.
    :param starts: by a program's name, patterns of the programs that it starts without
        a script that says so.
    :param main_file: what is started of a directory that is named as a program.
    :param tells_all: whether what its scripts load is as good as all that they read;
        else they may start anything.
    """

    kind: str
    mapped: re.Pattern[str]
    interpreter: str = ""
    families: tuple[Family, ...] = ()
    libraries: re.Pattern[str] | None = None
    scripts: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    module: str = ""
    starts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    main_file: str = ""
    tells_all: bool = False

    def loads(self, app: StartedApp) -> Iterator[Loaded | BlindSpot]:
        """Yield what an app's programs load, if they are of this runtime.

        And what of it can't be known. Its module is imported only for apps that may
        have such programs.
        """
        scripts = [entry for each in self.scripts for entry in app.scripts(*each)]
        if not self.module:
            for script in scripts:
                yield BlindSpot(reason="computed-import", where=script.path)
        elif (
            scripts
            or app.runs(self.mapped)
            or (self.libraries is not None and app.runs(self.libraries))
            or self._has_files(app)
        ):
            yield from import_module(f".{self.module}", __package__).loads(app)

    def _has_files(self, app: StartedApp) -> bool:
        paths = app.payload.inventory.entries if self.files else ()
        return any(path.endswith(self.files) for path in paths)
