"""Which programs an app starts: command, command-chain, scripts and interpreters."""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...payload.linkage import Unresolved
from ...payload.paths import PathResolver
from ...squashfs.entry import EntryKind
from ..launch_set import BlindSpot
from .runtimes import RUNTIMES
from .shell import parse_shebang, shell_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...payload.inventory import Entry
    from ...payload.source import Payload
    from ..launch_set import BlindReason
    from .runtimes.runtime import Runtime

SCRIPT_MAX_BYTES = 256 * 1024
"""How much of a script is looked at; wrappers are far shorter."""

MAX_PROGRAMS = 64
"""Programs followed from one app; wrappers start a handful."""

_STARTERS = frozenset({"exec", "env", "nohup", "setsid"})

_STARTED_UNSEEN = {
    "oosplash": (r".*/program/soffice\.bin",),
    **{name: paths for each in RUNTIMES for name, paths in each.starts.items()},
}
"""Programs that start others without a script that says so, and which."""

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_OWN_NAME = ("$0", "${0}")
_BEFORE_COMMANDS = _STARTERS | frozenset(
    ("!", "{", "do", "else", "elif", "if", "then", "time", "while")
)
_FOLLOWED = tuple(each.interpreter for each in RUNTIMES if each.tells_all)
_KNOWN = tuple(each.interpreter for each in RUNTIMES if each.loads and each.interpreter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A command that runs an interpreter.

    :param words: the interpreter as it is named, and its arguments.
    :param folder: the directory that its script changed into, relative to the payload;
        empty where it changed into none.
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
    :param variables: what shell scripts assign.
    """

    started: tuple[Entry, ...]
    words: tuple[str, ...]
    unresolved: Mapping[str, Unresolved]
    followed: bool
    blind_spots: tuple[BlindSpot, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


def find_programs(
    payload: Payload, app: str, *, paths: SnapPaths, elsewhere: str
) -> Programs:
    """Follow an app's command from program to program.

    :param app: of the payload's ``meta/snap.yaml``.
    :param elsewhere: who supplies what the payload doesn't hold.
    """
    walk = _Walk(payload, paths, elsewhere)
    walk.run(app)
    return Programs(
        started=tuple(walk.started.values()),
        words=tuple(walk.words),
        unresolved=walk.unresolved,
        followed=walk.followed,
        blind_spots=tuple(walk.blind_spots),
        invocations=tuple(walk.invocations),
        variables=walk.variables,
    )


class _Walk:
    """The state of :func:`find_programs`."""

    def __init__(self, payload: Payload, paths: SnapPaths, elsewhere: str) -> None:
        self._payload = payload
        self._paths = paths
        self._elsewhere = elsewhere
        self._pending: list[Entry] = []
        self.started: dict[str, Entry] = {}
        self.words: list[str] = []
        self.unresolved: dict[str, Unresolved] = {}
        self.followed = True
        self.blind_spots: dict[BlindSpot, None] = {}
        self.invocations: list[Invocation] = []
        self.variables: dict[str, str] = {}

    def run(self, name: str) -> None:
        """Collect all that the app starts."""
        app = self._payload.snap.apps[name]
        for command in app.command_chain:
            self._start(command, needed_by=f"command-chain of {name}")
        words = _split_command(app.command or "")
        self.words.extend(words)
        if words:
            self._start(words[0], needed_by=f"command of {name}")
            self._note_invocation(words, "", needed_by=f"command of {name}")
        for word in words[1:]:
            for part in word.split(":"):  # a class path
                self._start_if_shipped(part)
        while self._pending and len(self.started) <= MAX_PROGRAMS:
            program = self._pending.pop()
            self._start_unseen(program)
            self._follow(program)
        if self._pending:
            self._blind("limit-reached", self._pending[-1].path, "programs")

    def _start_unseen(self, program: Entry) -> None:
        patterns = _STARTED_UNSEEN.get(posixpath.basename(program.path), ())
        for pattern in patterns:
            for path in self._payload.inventory.entries:
                if re.fullmatch(pattern, path):
                    self._start_if_shipped(path)

    def _start(self, path: str, *, needed_by: str) -> None:
        location = self._paths.locate(path)
        entry = self._paths.file(path)
        if entry is not None:
            self._add(entry)
            return
        outside = location.outside is not None
        self._miss(path, needed_by, self._elsewhere if outside else "missing")

    def _miss(self, name: str, needed_by: str, supplier: str) -> None:
        self.unresolved.setdefault(
            name, Unresolved(name=name, needed_by=needed_by, supplier=supplier)
        )

    def _start_if_shipped(self, word: str) -> bool:
        entry = self._paths.shipped(word)
        if entry is not None:
            self._add(entry)
        return entry is not None

    def _add(self, entry: Entry) -> None:
        if entry.path not in self.started:
            self.started[entry.path] = entry
            self._pending.append(entry)

    def _follow(self, program: Entry) -> None:
        head = self._payload.read(program.path, offset=0, length=SCRIPT_MAX_BYTES)
        shebang = parse_shebang(head)
        if shebang is None:
            return
        self._start_interpreter(shebang.interpreter, script=program.path)
        if shebang.shell:
            self._follow_shell_script(program, head.decode(errors="replace"))
            return
        name = posixpath.basename(shebang.interpreter)
        if not any(followed in name for followed in _FOLLOWED):
            self.followed = False
        if not any(known in name for known in _KNOWN):
            self._blind("unfollowed-runtime", program.path, name)

    def _blind(self, reason: BlindReason, where: str, what: str = "") -> None:
        self.blind_spots[BlindSpot(reason=reason, where=where, what=what)] = None

    def _start_interpreter(self, interpreter: str, *, script: str) -> None:
        if interpreter.startswith(("/", "$")):
            self._start(interpreter, needed_by=script)
            return
        entry = self._paths.program(interpreter)
        if entry is not None:
            self._add(entry)
        else:
            self._miss(interpreter, script, self._elsewhere)

    def _follow_shell_script(self, script: Entry, text: str) -> None:
        known = len(self.started) + len(self.invocations)
        folder = ""
        for words in shell_commands(text, self.variables):
            own = f"$SNAP/{script.path}"  # a script in two languages starts itself
            command = [own if word in _OWN_NAME else word for word in words]
            if command[0] == "cd":
                place = self._paths.in_payload(command[-1])
                folder = command[-1].strip("/") if place is None else place
                continue
            self._note_invocation(command, folder, needed_by=script.path)
            for before, word in itertools.pairwise(("", *command)):
                if "/" in word and not word.startswith(("-", "#")):
                    self._start_path(word, script, folder)
                elif before in _STARTERS and word and word[0] not in "-$":
                    entry = self._paths.program(word)
                    if entry is not None:
                        self._add(entry)
        if len(self.started) + len(self.invocations) == known:
            self.followed = False
            self._blind("computed-command", script.path)

    def _note_invocation(
        self, command: Sequence[str], folder: str, *, needed_by: str
    ) -> None:
        """Note a command that runs an interpreter, and start what it runs."""
        words = list(command)
        while words and words[0] in _BEFORE_COMMANDS:
            words.pop(0)
            while words and (words[0].startswith("-") or _ASSIGNED.match(words[0])):
                words.pop(0)
        runtime = runtime_of(posixpath.basename(words[0])) if words else None
        if runtime is None:
            return
        invocation = Invocation(words=tuple(words), folder=folder)
        self.invocations.append(invocation)
        if not self._start_if_shipped(words[0]):
            self._start_interpreter_elsewhere(words[0], needed_by)
        for word in words[1:]:
            if not word.startswith("-"):
                places = invocation.places(word)
                main_files = [
                    posixpath.join(each, runtime.main_file) for each in places
                ]
                any(map(self._start_if_shipped, (*places, *main_files)))

    def _start_interpreter_elsewhere(self, name: str, needed_by: str) -> None:
        """Start an interpreter by its bare name, or one that the base may have."""
        entry = None if "/" in name else self._paths.program(name)
        if entry is not None:
            self._add(entry)
        elif self._elsewhere != "missing":
            self._miss(name, needed_by, self._elsewhere)

    def _start_path(self, word: str, script: Entry, folder: str) -> None:
        """Start what a word names; one after an unknown variable, beside the script.

        Wrappers look for their own directory at run time.
        """
        if self._start_if_shipped(word):
            return
        if not word.startswith("$"):
            if folder and not word.startswith("/"):
                self._start_if_shipped(posixpath.normpath(f"{folder}/{word}"))
            return
        rest = word.partition("/")[2]
        if rest and not word.startswith(("$SNAP/", "${SNAP}/")):
            self._start_if_shipped(posixpath.join(posixpath.dirname(script.path), rest))


def runtime_of(name: str) -> Runtime | None:
    """Return the runtime whose interpreter has this name, if there is one."""
    known = (
        each
        for each in RUNTIMES
        if each.mapped.fullmatch(name) or (name and each.interpreter == name)
    )
    return next(known, None)


def _split_command(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


PROGRAM_FOLDERS = ("usr/sbin", "usr/bin", "sbin", "bin", "usr/games", "usr/local/bin")
"""Where a bare program name is looked for: snapd's and snapcraft's PATH in a snap."""

_NO_FILES = ("bare", "none")


class SnapPaths(PathResolver):
    """Follows paths as :class:`PathResolver` does, and two kinds more.

    A ``layout`` of snap.yaml brings an absolute path into the payload; with a base
    that holds no files, so does every absolute path that the payload has.
    """

    def __init__(self, payload: Payload) -> None:
        super().__init__(payload.inventory, snap_name=payload.snap.name)
        self._layout = dict(_layout(payload.snap.layout))
        self._rooted = payload.snap.base_name in _NO_FILES

    def in_payload(self, path: str) -> str | None:
        """Return a path relative to the payload, ``None`` where it lies outside."""
        inside = super().in_payload(path)
        if inside is not None or not path.startswith("/"):
            return inside
        normal = posixpath.normpath(path)
        for place, source in self._layout.items():
            if normal == place or normal.startswith(place + "/"):
                return super().in_payload(source + normal[len(place) :])
        if self._rooted and not normal.startswith("/snap/"):
            return normal.lstrip("/")
        return None

    def file(self, path: str) -> Entry | None:
        """Return the regular file that a path leads to, links followed."""
        entry = self.locate(path).entry
        return entry if entry is not None and entry.kind is EntryKind.FILE else None

    def shipped(self, path: str) -> Entry | None:
        """Return the regular file of a path, an absolute one of the payload's root too.

        Scripts of distribution packages carry such paths, and snaps lay them out.
        """
        return self.file(path) or self.file(path.lstrip("/"))

    def program(self, name: str) -> Entry | None:
        """Return the program of a bare name, as a shell would look it up."""
        found = (self.file(f"{folder}/{name}") for folder in PROGRAM_FOLDERS)
        return next((entry for entry in found if entry is not None), None)


def _layout(layout: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, str]]:
    """Yield each laid-out path with its source in the snap."""
    for place, item in layout.items():
        for kind in ("bind", "bind-file", "symlink"):
            source = item.get(kind)
            if isinstance(source, str) and source.startswith(("$SNAP/", "${SNAP}/")):
                yield posixpath.normpath(place), source


CONTENT_SUPPLIER = "base or content snap"


def content_snaps(payload: Payload) -> Iterator[Unresolved]:
    """Yield the snaps whose files a launch sees through content plugs."""
    for name, plug in payload.snap.plugs.items():
        if plug.interface == "content":
            yield Unresolved(
                name=plug.default_provider or plug.content or name,
                needed_by=f"plug {name}",
                supplier=CONTENT_SUPPLIER,
            )


def supplier_elsewhere(payload: Payload) -> str:
    """Return who supplies what the payload doesn't hold."""
    plugs = payload.snap.plugs.values()
    if any(plug.interface == "content" for plug in plugs):
        return CONTENT_SUPPLIER
    return "missing" if payload.snap.base_name in ("bare", "none") else "base"
