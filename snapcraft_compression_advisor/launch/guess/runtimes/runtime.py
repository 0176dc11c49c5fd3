"""What a guess has to know of a language's runtime."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from ....core.units import MIB
from ....payload.elf import ELF_MAGIC
from ....payload.linkage import library_path
from ....squashfs.entry import EntryKind
from ...launch_set import BlindSpot

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ....payload.inventory import Entry
    from ....payload.linkage import Unresolved
    from ....payload.source import Payload
    from ..snap_paths import SnapPaths

SOURCE_MAX_BYTES = MIB
"""How much of a source is looked at."""

MEMBER_MAX_BYTES = MIB
"""How much of a file in an archive is looked at."""

MOST_PROGRAMS = 4
"""Of a package, of which each may be started; those with more choose among them."""

MAX_MEMBERS_BYTES = 16 * MIB
"""How much is read of one archive."""


class Trigger(NamedTuple):
    """What may make rules apply: a mapped library, a program, a word of a command.

    :param folder: where it is; empty for a word, and for what isn't in the payload.
    :param near: whether it was started itself, or linked by what was, or by a part in C
        of a script.
    :param opens: whether it would open windows: what was started, whatever that links,
        by however many libraries, and what modules link themselves.
    :param optional: whether it tells nothing of the application's kind: a word, or what
        only a part brought in that other desktops load.
    """

    name: str
    folder: str = ""
    near: bool = False
    opens: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A file that programs of a runtime load.

    :param way: how priors call files that are found like this one.
    :param needs: the way of the libraries that it links; its own by default.
    :param library: whether it is loaded as a library.
    :param reached: of an archive, the data blocks that hold members that are loaded.
    :param expected: whether it is expected to be read, or only may be.
    :param by: the file that imports it, if that is known.
    """

    entry: Entry
    way: str
    needs: str = ""
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
    :param script: the first file that its arguments name.
    """

    words: tuple[str, ...]
    folder: str = ""
    script: Entry | None = None

    def places(self, argument: str) -> tuple[str, ...]:
        """Return the paths that an argument may mean."""
        if self.folder and not argument.startswith(("/", "$")):
            return posixpath.normpath(f"{self.folder}/{argument}"), argument
        return (argument,)


@dataclass(slots=True, kw_only=True)
class Programs:
    """What an app starts, as far as it was followed.

    :ivar started: programs, scripts and files that arguments name, in order.
    :ivar words: of all commands, for what depends on arguments.
    :ivar unresolved: programs that the payload doesn't hold.
    :ivar followed: whether every program started is known; a script in another
        language than shell leaves that open.
    :ivar invocations: of interpreters, by commands of the app and of shell scripts.
    :ivar called: tools that shell scripts run by bare names, by path.
    :ivar variables: of the app's environment, and what shell scripts assign.
    :ivar without_script: whether a run time is started that the snap gives no script:
        its users name one.
    """

    started: list[Entry] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    unresolved: dict[str, Unresolved] = field(default_factory=dict)
    followed: bool = True
    blind_spots: dict[BlindSpot, None] = field(default_factory=dict)
    invocations: list[Invocation] = field(default_factory=list)
    called: dict[str, Entry] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    without_script: bool = False

    def library_folders(self) -> tuple[str, ...]:
        """Return where libraries are looked for first; PyInstaller sets its own."""
        folders = dict.fromkeys(posixpath.dirname(each.path) for each in self.started)
        frozen = (f"$SNAP/{folder}/_internal" for folder in folders)
        return (*frozen, *library_path(self.variables.get("LD_LIBRARY_PATH", "")))


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedApp:
    """An app as far as it is known when its runtimes are looked at.

    :param triggers: names of programs and libraries; what a runtime loads adds more.
    """

    name: str
    payload: Payload
    paths: SnapPaths
    programs: Programs
    triggers: Collection[Trigger]

    def runs(self, name: str) -> bool:
        """Return whether it runs a program, or maps a library, that a pattern names."""
        return any(re.fullmatch(name, trigger.name) for trigger in self.triggers)

    def source(self, entry: Entry, length: int = SOURCE_MAX_BYTES) -> bytes:
        """Return the beginning of a file, as far as it is read."""
        return self.payload.read(entry.path, offset=0, length=length)

    def file(self, path: str) -> Entry | None:
        """Return the regular file of a path in the payload, no link followed."""
        entry = self.payload.inventory.entries.get(path)
        return entry if entry is not None and entry.kind is EntryKind.FILE else None

    def files(self, *suffixes: str) -> Iterator[Entry]:
        """Yield the regular files whose paths end so."""
        for path, entry in self.payload.inventory.entries.items():
            if path.endswith(suffixes) and entry.kind is EntryKind.FILE:
                yield entry

    def invocations(self, interpreter: str) -> Iterator[Invocation]:
        """Yield the commands that run an interpreter that a pattern names."""
        for invocation in self.programs.invocations:
            if re.fullmatch(interpreter, posixpath.basename(invocation.words[0])):
                yield invocation

    def scripts(self, interpreter: str, suffix: str) -> tuple[Entry, ...]:
        """Return the scripts that it starts.

        :param suffix: of those that are named as arguments of an unknown program.
        """
        runs = self.invocations(rf"{re.escape(interpreter)}.*")
        run = {each.script.path for each in runs if each.script is not None}
        first_line = re.compile(rb"#![^\n]*" + re.escape(interpreter.encode()))
        return tuple(
            program
            for program in self.programs.started
            if program.path in run
            or program.path.endswith(suffix)
            or first_line.match(self.source(program, 128))
        )


def is_program(app: StartedApp, entry: Entry) -> bool:
    """Return whether a file is a program in machine code, by its mode and beginning."""
    library = re.search(r"\.(?:so|node)\b", posixpath.basename(entry.path))
    return entry.executable and not library and app.source(entry, 4) == ELF_MAGIC


def may_start(source: str, programs: Sequence[Entry]) -> Iterator[Loaded | BlindSpot]:
    """Yield a blind spot for what a source may start, and the programs if they are few.

    :param programs: of its package.
    """
    if programs:
        yield BlindSpot(reason="computed-program", where=source)
    for entry in programs if len(programs) <= MOST_PROGRAMS else ():
        yield Loaded(entry=entry, way="started")


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A language's runtime; names and paths are the texts of regular expressions.

    :param kind: what applications of this runtime are called, in priors and reports.
    :param mapped: names of the programs and libraries that make an app one of them.
    :param interpreter: stem of the interpreter's name. Directories of this name are the
        language's own, not the application's; empty if there are none.
    :param loader: ``module:function`` of this package, which gives what an app's
        programs load, if any are of this runtime; without one, that isn't known.
    :param libraries: names of libraries that also make its loader be asked.
    :param by_files: whether its loader is always asked, and looks for files itself.
    :param main_file: what is started of a directory that is named as a program.
    :param tells_all: whether what its scripts load is as good as all that they read;
        else they may start anything.
    """

    kind: str
    mapped: str
    interpreter: str = ""
    loader: str = ""
    libraries: str = ""
    by_files: bool = False
    main_file: str = ""
    tells_all: bool = False

    def loads(self, app: StartedApp) -> Iterator[Loaded | BlindSpot]:
        """Yield what an app's programs load, and what of it can't be known."""
        names = "|".join(filter(None, (self.mapped, self.libraries)))
        if self.loader and (self.by_files or app.runs(names)):
            yield from resolve_name(f"{__package__}.{self.loader}")(app)
