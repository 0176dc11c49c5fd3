"""What a shell script says by its text: its interpreter, and the commands in it."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from .shell_values import MAX_VARIANTS, Values
from .shell_words import Command, simple_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_COMMANDS = 5_000
"""Commands of a script that are followed, those of functions as often as they run; the
longest launchers have some hundred."""

MAX_CALLS = 8
"""Functions and texts within each other that are followed."""

_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_TEXT_RUNNERS = _SHELLS | {"runuser", "su"}
_TEXT_OPTION = re.compile(r"-[a-z]*c")
_SHEBANG = re.compile(r"#![ \t]*(?P<program>[^\s]+)(?:[ \t]+(?P<argument>[^\n]*))?")
_ASSIGNMENT = re.compile(
    r"(?P<name>[A-Za-z_]\w*)(?P<append>\+?)=(?P<value>.*)", re.DOTALL
)
_WRAPPERS = frozenset(
    {*("catchsegv", "chrt", "dbus-launch", "dbus-run-session", "env", "firejail")}
    | {*("ionice", "nice", "nohup", "numactl", "prlimit", "setarch", "setpriv")}
    | {*("setsid", "stdbuf", "taskset", "timeout", "xvfb-run")}
)
"""Programs that run the program that their arguments name."""

_BEFORE_COMMANDS = _WRAPPERS | {
    *("!", "{", "do", "else", "elif", "eval", "exec", "if"),
    *("then", "time", "until", "while"),
}
_WITH_VALUE = frozenset({"-u", "-n", "-k", "-c", "-p", "--chdir", "-C"})
"""Options of these whose value is a word of its own; ``-a`` of ``exec``, too."""

_NUMBER = re.compile(r"[\d.,:-]+[smhd]?")


def script_interpreter(text: str) -> str:
    """Return what runs a script, a path or a bare name; empty if it has no ``#!`` line.

    ``/usr/bin/env NAME`` (also with ``-S`` and assignments) names NAME.
    """
    match = _SHEBANG.match(text)
    if match is None:
        return ""
    interpreter = match["program"]
    if interpreter.rpartition("/")[2] == "env":
        words = (match["argument"] or "").split()
        named = [word for word in words if word[0] != "-" and "=" not in word]
        interpreter = named[0] if named else interpreter
    return interpreter


def is_shell(interpreter: str) -> bool:
    """Return whether a script's interpreter reads as a POSIX shell does."""
    return interpreter.rpartition("/")[2] in _SHELLS


Variants = tuple[tuple[str, ...], ...]
"""Of one command: its words, for each value that its program may have."""


def shell_commands(text: str, values: Values) -> Iterator[Variants]:
    """Yield the words of each simple command of a script, variables followed.

    All branches are taken, in the order of the script; functions where they are called,
    or else at the end. Directories change as a command is yielded.
    """
    yield from _Script(values).commands(text)


def command_place(words: Sequence[str]) -> int:
    """Return where the program stands among the words of a command.

    Behind what runs others (``exec``, ``env``, ``nice``), their options, and variables
    for that program alone.
    """
    place = 0
    wrapped = False
    while place < len(words) and (
        words[place] in _BEFORE_COMMANDS
        or words[place].rpartition("/")[2] in _WRAPPERS
        or _ASSIGNMENT.fullmatch(words[place])
        or (place and words[place].startswith("-"))
        or (wrapped and _NUMBER.fullmatch(words[place]))
    ):
        wrapped = wrapped or words[place].rpartition("/")[2] in _WRAPPERS
        named = words[place] == "-a" and words[place - 1] == "exec"
        place += 2 if named or words[place] in _WITH_VALUE else 1
    return place


def command_text(words: Sequence[str]) -> str | None:
    """Return the commands that a command gives to a shell, as ``sh -c "TEXT"`` does."""
    program, *options = words[command_place(words) :] or ("",)
    if program.rpartition("/")[2] not in _TEXT_RUNNERS:
        return None
    after = itertools.dropwhile(lambda word: not _TEXT_OPTION.fullmatch(word), options)
    return next(itertools.islice(after, 1, None), None)


class _Script:
    """The state of :func:`shell_commands`."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._functions: dict[str, list[Command]] = {}
        self._called: set[str] = set()
        self._left = MAX_COMMANDS

    def commands(self, text: str) -> Iterator[Variants]:
        """Yield the variants of each command."""
        yield from self._run(text, 0)
        for name in [*self._functions]:
            if name not in self._called:
                yield from self._each(self._functions[name], 0)

    def _run(self, text: str, depth: int) -> Iterator[Variants]:
        yield from self._each([*simple_commands(text.replace("\r\n", "\n"))], depth)

    def _each(self, commands: list[Command], depth: int) -> Iterator[Variants]:
        at = 0
        while at < len(commands) and self._left > 0:
            self._left -= 1
            words, operator = commands[at]
            at += 1
            if name := _function_name(words, operator, commands[at : at + 1]):
                end = _end_of_body(commands, at)
                self._functions[name] = commands[at:end]
                at = end
            else:
                yield from self._command(words, depth)

    def _command(self, command: list[str], depth: int) -> Iterator[Variants]:
        words = self._without_assignments(command)
        place = command_place(words)
        program, given = "".join(words[place : place + 1]), words[place + 1 :]
        if words[place - 1 : place] == ["eval"] and depth < MAX_CALLS:
            text = " ".join(self._values.words(words[place:]))
            yield from self._run(text, depth + 1)
        elif program in self._functions and depth < MAX_CALLS:
            self._called.add(program)
            before = self._values.arguments
            self._values.arguments = [*self._values.words(given)]
            yield from self._each(self._functions[program], depth + 1)
            self._values.arguments = before
        elif program == "set" and "--" in given:
            rest = given[given.index("--") + 1 :]
            self._values.arguments = [*self._values.words(rest)]
            yield (tuple(self._values.words(words)),)
        elif program == "shift":
            del self._values.arguments[: len(self._values.arguments) > 1]
        elif program in ("cd", "pushd"):
            self._values.change_folder([*self._values.words(given)])
        elif words:
            count = min(MAX_VARIANTS, len(self._values.expand(program)))
            variants = (tuple(self._values.words(words, each)) for each in range(count))
            if found := tuple(filter(None, dict.fromkeys(variants))):
                yield found

    def _without_assignments(self, command: list[str]) -> list[str]:
        """Take what a command assigns, and return its other words."""
        words = []
        for word in command:
            if match := _ASSIGNMENT.fullmatch(word):
                name, value, append = match["name"], match["value"], match["append"]
                self._values.assign(name, value, append=bool(append))
            else:
                words.append(word)
        if words[:1] == ["for"] and words[2:3] == ["in"]:
            for value in words[3:]:
                self._values.assign(words[1], value)
        return words


def _function_name(words: list[str], operator: str, behind: list[Command]) -> str:
    """Return the name of the function that begins here, empty if none does."""
    if words[:1] == ["function"] and len(words) > 1:
        return words[1]
    braced = bool(behind) and behind[0][0][:1] == ["{"]
    return words[0] if len(words) == 1 and operator == "()" and braced else ""


def _end_of_body(commands: list[Command], start: int) -> int:
    """Return where the commands of a function end."""
    depth = 1 if start and "{" in commands[start - 1][0] else 0
    for at in range(start, len(commands)):
        words = commands[at][0]
        depth += sum(word == "{" for word in words) - (words[0] == "}")
        if depth <= 0:
            return at + 1
    return len(commands)
