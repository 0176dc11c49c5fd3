"""Which programs an app starts: command, command-chain, scripts and interpreters."""

from __future__ import annotations

import itertools
import posixpath
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from ...payload.elf import ELF_MAGIC
from ...payload.linkage import Unresolved
from ...payload.snap_yaml import SNAP_YAML_PATH
from ..launch_set import BlindSpot
from .runtimes import runtime_of
from .runtimes.runtime import Invocation, Programs
from .shell import ARGUMENTS, Script, Values, is_computed, pattern_of, unknown_before
from .shell_words import command_place, command_text, is_shell, script_interpreter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...payload.inventory import Entry
    from ...payload.source import Payload
    from ..launch_set import BlindReason
    from .snap_paths import SnapPaths

SCRIPT_MAX_BYTES = 256 * 1024
"""How much of a script is looked at; wrappers are far shorter."""

MAX_PROGRAMS = 64
"""Programs followed from one app; wrappers start a handful."""

MAX_TEXTS = 64
"""Commands that scripts give to a shell as a text; a wrapper has one or two."""

_STARTED_UNSEEN = {
    "java-wrappers.sh": r"usr/lib/jvm/[^/]+/bin/java",
    "oosplash": r".*/program/soffice\.bin",
    "Rscript": r"usr/(?:local/)?lib(?:64)?/R/bin/(?:exec/)?R",
}
"""Programs that start others without a script that says so, and which."""

MAX_LITERALS = 200
"""Texts of a Python launcher that may name what it starts."""

_RUNS_SCRIPTS = frozenset({"bun", "node", "nodejs"})
"""Run times that are one program; what they read of it depends on the script."""

_EXECS = re.compile(r"\bos\.(?:exec[lv]p?e?|posix_spawnp?)\(")
_LITERAL = re.compile(r"""["']([^"'\n]+)["']""")
_VARIABLE = re.compile(r"\$(\w+|\{\w+\})")
_BUILT_IN = frozenset({"[", "echo", "false", "kill", "printf", "pwd", "test", "true"})
_CODE_OPTION = re.compile(r"-[A-Za-z]{0,2}[cem]|-r|--eval|--module")
"""Of interpreters: what is behind it is code, or a module that is searched for."""

_BUILD_PLACES = ("/home/", "/root/", "/build/")
"""Where payloads are built: snapcraft's build machines use ``/root`` and ``/build``. No
base has programs there, and a snap can't lay files out there."""

_STARTERS = frozenset({"exec", "env", "nohup", "setsid"})
End = Literal["run", "computed", "unnamed", "other"]
"""What became of a command of a script: a program of the payload runs; the script
computes which one; a variable that nothing is known of names it; another."""

_ENDS: tuple[End, ...] = get_args(End)


class ProgramSearch:
    """Follows an app's command from program to program.

    :param elsewhere: who supplies what the payload doesn't hold.
    """

    def __init__(self, payload: Payload, paths: SnapPaths, elsewhere: str) -> None:
        self._payload = payload
        self._paths = paths
        self._elsewhere = elsewhere
        self._pending: list[Entry] = []
        self._found = Programs()
        self._texts = 0
        self._calls: dict[str, tuple[str, Sequence[str]]] = {}
        self._needed_by: dict[str, str] = {}
        self._scripts: list[Entry] = []

    def run(self, name: str) -> Programs:
        """Return all that an app starts."""
        app = self._payload.snap.apps[name]
        variables = {**self._payload.snap.environment, **app.environment}
        self._found.variables.update(variables)
        words = _split_command(app.command or "")
        chain = [*app.command_chain, *words]
        for place, command in enumerate(app.command_chain):
            needed_by = f"command-chain of {name}"
            self._start(command, needed_by=needed_by, given=chain[place + 1 :])
        self._found.words.extend(words)
        if words:
            self._start(words[0], needed_by=f"command of {name}", given=words[1:])
            end = self._note_invocation(words, "", needed_by=f"command of {name}")
            shell, text = self._paths.file(words[0]), command_text(words)
            if shell is not None and text is not None:  # sh -c "TEXT"
                self._follow_shell_script(shell, text)
                self._add_all(self._found.called.values())
            parts = itertools.chain(*(each.split(":") for each in words[1:]))
            named = [*filter(None, map(self._start_if_shipped, parts))]  # a class path
            if end == "unnamed" and not named:
                self._blind("computed-command", SNAP_YAML_PATH)
        while self._pending and len(self._found.started) <= MAX_PROGRAMS:
            program = self._pending.pop()
            self._start_unseen(program)
            self._follow(program)
        if self._pending:
            self._blind("limit-reached", self._pending[-1].path, "programs")
        names = {posixpath.basename(each.path) for each in self._found.started}
        given = itertools.chain(*(each.words for each in self._found.invocations))
        self._found.without_script = not (
            self._scripts
            or _RUNS_SCRIPTS.isdisjoint(names)
            or any(map(_CODE_OPTION.fullmatch, given))
        )
        return self._found

    def _start_unseen(self, program: Entry) -> None:
        if pattern := _STARTED_UNSEEN.get(posixpath.basename(program.path)):
            entries = self._payload.inventory.entries
            named = (path for path in entries if re.fullmatch(pattern, path))
            self._add_all(filter(None, map(self._paths.shipped, named)))

    def _start(self, path: str, *, needed_by: str, given: Sequence[str] = ()) -> None:
        """Start a program of the payload with the arguments that are known."""
        if entry := self._paths.file(path):
            self._add(entry, named=path, given=given)
            self._needed_by.setdefault(entry.path, needed_by)
        else:
            outside = self._paths.locate(path).outside is not None
            self._miss(path, needed_by, self._elsewhere if outside else "missing")

    def _miss(self, name: str, needed_by: str, supplier: str) -> None:
        self._found.unresolved.setdefault(
            name, Unresolved(name=name, needed_by=needed_by, supplier=supplier)
        )

    def _start_if_shipped(self, word: str) -> Entry | None:
        entry = self._paths.shipped(word)
        if entry is not None:
            self._add(entry)
        return entry

    def _add(self, entry: Entry, *, named: str = "", given: Sequence[str] = ()) -> None:
        if entry.path not in self._calls:
            self._found.started.append(entry)
            self._pending.append(entry)
            place = self._paths.in_payload(named) or entry.path
            self._calls[entry.path] = f"$SNAP/{place}", (*given, "$@")

    def _add_all(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._add(entry)

    def _follow(self, program: Entry) -> None:
        head = self._payload.read(program.path, offset=0, length=len(ELF_MAGIC))
        if head[:2] != b"#!":
            if head != ELF_MAGIC:
                self._scripts.append(program)
            return
        text = self._text(program)
        interpreter = script_interpreter(text)
        if not interpreter:
            return
        self._start_interpreter(interpreter, script=program.path)
        if is_shell(interpreter):
            self._follow_shell_script(program, text)
            return
        self._scripts.append(program)
        name = posixpath.basename(interpreter)
        if "python" in name:
            self._follow_exec(program, text)
        runtime = runtime_of(name)
        if runtime is None or not runtime.tells_all:
            self._found.followed = False
        if runtime is None or not runtime.loader:
            self._blind("unfollowed-runtime", program.path, name)

    def _follow_exec(self, script: Entry, text: str) -> None:
        """Start what a Python script replaces itself by, if its text names that."""
        if not _EXECS.search(text):
            return
        folder = posixpath.dirname(script.path)
        named = [
            entry
            for word in itertools.islice(_LITERAL.findall(text), MAX_LITERALS)
            for entry in self._named(word, script, folder)
            if entry.executable and entry is not script
        ]
        self._add_all(named)
        if not named:
            self._blind("computed-command", script.path)

    def _blind(self, reason: BlindReason, where: str, what: str = "") -> None:
        self._found.blind_spots[BlindSpot(reason=reason, where=where, what=what)] = None

    def _start_interpreter(self, interpreter: str, *, script: str) -> None:
        if interpreter.startswith(_BUILD_PLACES):
            self._miss(interpreter, self._needed_by.get(script, script), "missing")
        elif interpreter.startswith(("/", "$")):
            self._start(interpreter, needed_by=script)
        elif entry := self._paths.program(interpreter):
            self._add(entry)
        else:
            self._miss(interpreter, script, self._elsewhere)

    def _values(self, script: Entry) -> Values:
        """Return a script's variables as it starts."""

        def resolve(path: str) -> str:
            entry = self._paths.locate(path).entry
            return path if entry is None else f"$SNAP/{entry.path}"

        named, given = self._calls.get(script.path, (f"$SNAP/{script.path}", ("$@",)))
        return Values(
            self._found.variables, script=named, arguments=given, resolve=resolve
        )

    def _follow_shell_script(self, script: Entry, text: str) -> None:
        known = len(self._found.called)
        ends = [*self._follow_commands(script, text, self._values(script))]
        tools = len(self._found.called) > known and "unnamed" not in ends
        last = next((end for end in reversed(ends) if end != "other"), "other")
        lost = "computed" in ends or last == "unnamed"
        if lost or not ("run" in ends or tools):
            self._found.followed = False
            self._blind("computed-command", script.path)

    def _follow_commands(
        self, script: Entry, text: str, values: Values
    ) -> Iterator[End]:
        """Follow the commands of a script, and yield what became of each."""
        for variants in Script(values).commands(text):
            ends: set[End] = set()
            for command in map(list, variants):
                if command[0] in (".", "source"):
                    path = "".join(command[1:2])
                    ends.update(self._follow_sourced(script, path, values))
                    continue
                end = self._follow_command(script, command, values)
                inner = command_text(command)
                if inner and self._texts < MAX_TEXTS:
                    self._texts += 1
                    known = {*self._follow_commands(script, inner, values)}
                    ends.update(known - {"computed"} or {"unnamed"})
                else:
                    ends.add(end)
            yield next(end for end in _ENDS if end in ends or end == _ENDS[-1])
        self._found.variables.update(values.last())

    def _folder(self, path: str) -> str:
        """Return a script's current directory, relative to the payload."""
        inside = self._paths.in_payload(path)
        return path.strip("/") if inside is None else inside

    def _follow_sourced(
        self, script: Entry, path: str, values: Values
    ) -> Iterator[End]:
        """Follow a file that a script reads as a part of itself."""
        for entry in self._named(path, script, self._folder(values.folder)):
            if entry.path not in self._calls:
                self._found.started.append(entry)
                self._calls[entry.path] = f"$SNAP/{entry.path}", ("$@",)
                self._start_unseen(entry)
                if posixpath.basename(entry.path) in _STARTED_UNSEEN:
                    yield "run"
                    continue
                text = self._text(entry)
                source, values.source = values.source, f"$SNAP/{entry.path}"
                yield from self._follow_commands(script, text, values)
                values.source = source

    def _text(self, script: Entry) -> str:
        text = self._payload.read(script.path, offset=0, length=SCRIPT_MAX_BYTES)
        return text.decode(errors="replace")

    def _follow_command(self, script: Entry, command: list[str], values: Values) -> End:
        """Start what a command names, and tell what became of its program."""
        folder = self._folder(values.folder)
        place = command_place(command)
        program, arguments = command[place : place + 1], command[place + 1 :]
        named = {
            entry: command[number + 1 :]  # which it may run in turn
            for number, word in enumerate(command)
            if number != place and "/" in word and not word.startswith(("-", "#"))
            for entry in self._named(word, script, folder)
        }
        for entry, given in named.items():
            self._add(entry, given=given)
        if not program:
            return "other"
        started = not (
            _STARTERS.isdisjoint(command[:place]) and ARGUMENTS.isdisjoint(arguments)
        )
        end = self._run(command[place:], script, values, started=started)
        if end != "other":
            return "run" if named else end
        if program[0] in ARGUMENTS:
            return "other"
        wrapper = arguments and _VARIABLE.fullmatch(program[0])  # or an empty one
        if wrapper and self._follow_command(script, arguments, values) == "run":
            return "run"
        if named or not is_computed(*program):
            return "other"
        return "computed" if started and "(" in program[0] else "unnamed"

    def _run(
        self, command: list[str], script: Entry, values: Values, *, started: bool
    ) -> End:
        """Start the program of a command; "other" if that isn't what a script runs.

        Bare names run tools, unless it ends with them or passes its arguments on.
        """
        folder = self._folder(values.folder)
        end = self._note_invocation(command, folder, needed_by=script.path)
        program = self._program(command[0], script, values)
        if program is None:
            return end
        if end == "other" and not (started or "/" in command[0]):
            self._found.called[program.path] = program
            return end
        self._add(program, named=command[0], given=command[1:])
        return "run" if end == "other" else end

    def _note_invocation(
        self, command: Sequence[str], folder: str, *, needed_by: str
    ) -> End:
        """Note a command that runs an interpreter, and start what it runs.

        Of an interpreter whose program isn't found, it isn't known what it runs.
        """
        words = command[command_place(command) :]
        runtime = runtime_of(posixpath.basename(words[0])) if words else None
        if runtime is None:
            return "other"
        invocation = Invocation(words=tuple(words), folder=folder)
        relative = "/" in words[0] and words[0][0] not in "/$"
        place = posixpath.normpath(posixpath.join(folder, words[0]))
        if not self._start_if_shipped(f"$SNAP/{place}" if relative else words[0]):
            if "/" not in words[0] and (entry := self._paths.program(words[0])):
                self._add(entry)
            elif self._elsewhere != "missing":  # the base may have it
                self._miss(words[0], needed_by, self._elsewhere)
        named = self._start_arguments(invocation, runtime.main_file)
        self._found.invocations.append(replace(invocation, script=named))
        if named and not runtime.loader:
            self._found.followed = False
            self._blind("unfollowed-runtime", named.path, posixpath.basename(words[0]))
        return "run" if named or not _names_program(words[1:]) else "unnamed"

    def _start_arguments(self, invocation: Invocation, main_file: str) -> Entry | None:
        """Start what the arguments of an interpreter name, and return the first."""
        words = invocation.words
        for option, value in itertools.pairwise(words):
            if option in ("-p", "--module-path"):  # of Java: directories of archives
                for place in itertools.chain(*map(invocation.places, value.split(":"))):
                    self._add_all(self._paths.matching(f"{place}/*"))
        first = None
        for word in words[1:]:
            if not word.startswith("-"):
                places = invocation.places(word)
                mains = [posixpath.join(each, main_file) for each in places]
                found = map(self._start_if_shipped, (*places, *mains))
                first = first or next(filter(None, found), None)
        return first

    def _program(self, word: str, script: Entry, values: Values) -> Entry | None:
        """Return the program that a command's word names."""
        if word in _BUILT_IN or word.startswith("-"):
            return None
        if "/" not in word:
            folders = values.last().get("PATH", "").split(":")
            places = [f"{folder}/{word}" for folder in folders]
            found = filter(None, map(self._paths.shipped, places))
            return next(found, None) or self._paths.program(word)
        folder = self._folder(values.folder)
        entry = next(self._named(word, script, folder), None)
        pattern = pattern_of(word)
        return self._paths.only_one(pattern) if entry is None and pattern else entry

    def _named(self, word: str, script: Entry, folder: str) -> Iterator[Entry]:
        """Yield the files that a word names, of which a class path has several.

        Wrappers look for their own directory at run time: what stands after an unknown
        variable is searched for beside the script.
        """
        for part in word.split(":"):
            places = [part]
            if folder and not part.startswith(("/", "$")):
                places.insert(0, posixpath.normpath(f"{folder}/{part}"))
            if rest := unknown_before(part):
                places.append(f"{posixpath.dirname(script.path)}/{rest}")
            found = map(self._paths.matching, places)
            yield from next(filter(None, found), ())


def _names_program(arguments: Sequence[str]) -> bool:
    """Return whether an interpreter's arguments name a program by its path."""
    for argument, value in itertools.zip_longest(arguments, arguments[1:]):
        if _CODE_OPTION.fullmatch(argument):
            return is_computed(value or "")
        if argument not in ARGUMENTS and not argument.startswith("-"):
            return True
    return False


def _split_command(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
