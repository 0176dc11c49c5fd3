"""The commands of a shell script, its variables followed as far as launchers use them.

Nothing is run. Paths of the payload begin with ``$SNAP``; what only the run time knows
stays as it is written.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from .shell_words import ASSIGNMENT, Command, command_place, simple_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MAX_COMMANDS = 5_000
"""Commands of a script that are followed, those of functions as often as they run; the
longest launchers have some hundred."""

MAX_CALLS = 8
"""Functions and texts within each other that are followed."""

MAX_CHARACTERS = 4096
"""Longest value that a variable is followed to: the kernel's PATH_MAX."""

MAX_DEPTH = 16
"""Commands and defaults within each other that are followed."""

MAX_VARIANTS = 8
"""Values of one variable: branches of a script may assign others."""

MAX_PATTERN_CHARACTERS = 64
"""Of what is cut off a value; launchers cut off ``/*`` and the like."""

MOST_CHARACTERS = 512 * 1024
"""Expanded for one script, twice as many as are read of it; what is beyond stays as it
is written."""

ARGUMENTS = frozenset(("$@", "${@}", "$*", "${@:1}", "${@:2}", "${1+$@}", "${1:+$@}"))
"""The arguments of who calls a script or function."""

_FILTERS = frozenset(("head", "sed", "tail", "tr"))
"""What paths are piped through that stay the same: other systems' are turned."""

_NAME = re.compile(r"[A-Za-z_]\w*|[@*?#]|\d")
_PARAMETER = re.compile(
    r"(?P<name>\w+)(?:\[[^\]]*\])?"
    r"(?:(?P<operator>:?[-=+?]|%%?|##?|//?)(?P<operand>.*))?",
    re.DOTALL,
)
_KNOWN = re.compile(r"\$\{?SNAP\}?(?=/|:|\Z)")
_UNKNOWN = re.compile(r"\$(?!SNAP(?:/|:|\Z))")


def is_computed(word: str) -> bool:
    """Return whether the word of a program names one that only the run time knows."""
    return word.startswith("$") and not _KNOWN.match(word)


def pattern_of(path: str) -> str:
    """Return a pattern of what a path may be that is known in part, else nothing."""
    start, parts = len(path) - len(_KNOWN.sub("", path)), []
    rest = path[start:]
    while (at := rest.find("$")) >= 0:
        name = _NAME.match(rest, at + 1)
        end = name.end() if name else _closing(rest, min(at + 1, len(rest) - 1))
        parts.append(rest[:at])
        rest = rest[end:]
    known = "/" in rest and "*" not in rest.rpartition("/")[2]
    return "*".join((*parts, rest)) if parts and known else ""


def unknown_before(path: str) -> str:
    """Return the part of a path behind an unknown directory; empty if there is none."""
    if not is_computed(path):
        return ""
    end = path.find("/")
    if path[1:2] in ("{", "("):
        end = _closing(path, 1)
    return path[end + 1 :] if path[end : end + 1] == "/" else ""


class Values:
    """What a script knows of its variables, its arguments and its directory.

    :param known: variables of the app, and of scripts before this one.
    :param script: its path, ``$0``.
    :param resolve: gives the path that a path leads to, links followed.
    :ivar arguments: of the script, or of the function that runs.
    :ivar folder: the current directory, empty if unknown.
    """

    def __init__(
        self,
        known: Mapping[str, str],
        *,
        script: str = "$0",
        arguments: Sequence[str] = ("$@",),
        resolve: Callable[[str], str] = posixpath.normpath,
    ) -> None:
        self._values = {name: [value] for name, value in known.items()}
        self._resolve = resolve
        self.source = self.script = script
        self.arguments = [*arguments]
        self.folder = ""
        self._left = MOST_CHARACTERS

    def last(self) -> dict[str, str]:
        """Return the likeliest value of each variable."""
        return {name: values[0] for name, values in self._values.items()}

    def assign(self, name: str, text: str) -> None:
        """Assign a text; what a variable had before may be another branch's value."""
        if name == "SNAP" or len(text) > MAX_CHARACTERS:
            return
        before = self._values.get(name, [])
        usable = [x for x in self.expand(text) if len(x) <= MAX_CHARACTERS]
        if before and all(is_computed(each) or "$(" in each for each in usable):
            usable = [*before, *usable]
        merged = dict.fromkeys((*usable, *before))
        self._values[name] = [*merged][:MAX_VARIANTS] or [""]

    def change_folder(self, words: Sequence[str]) -> None:
        """Change the current directory, as ``cd`` does."""
        paths = [word for word in words if not word.startswith("-")]
        self.folder = self._joined(paths[-1]) if paths else ""

    def words(self, words: Iterable[str], variant: int = 0) -> Iterator[str]:
        """Yield words expanded; a variable's value may be several.

        :param variant: which of the values of variables counts.
        """
        for word in words:
            if word in ARGUMENTS:
                yield from self.arguments[word == "${@:2}" :]
                continue
            values = self.expand(word)
            expanded = values[min(variant, len(values) - 1)]
            if expanded == word or re.search(r"\s", word):
                yield expanded
            else:
                yield from expanded.split()

    def expand(self, text: str, depth: int = 0) -> list[str]:
        """Return the meanings that a word may have, the likeliest first."""
        if "$" not in text or len(text) > MAX_CHARACTERS or depth > MAX_DEPTH:
            return [text]
        self._left -= len(text)
        if self._left < 0:
            return [text]
        parts = [*self._parts(text, depth)]
        count = min(MAX_VARIANTS, max(map(len, parts)))
        whole = (
            "".join(part[min(number, len(part) - 1)] for part in parts)
            for number in range(count)
        )
        found = [*dict.fromkeys(map(_from_root, whole))]
        self._left -= sum(map(len, found))
        return found

    def _parts(self, text: str, depth: int) -> Iterator[list[str]]:
        at = 0
        while (start := text.find("$", at)) >= 0:
            yield [text[at:start]]
            name, at = _NAME.match(text, start + 1), start + 1
            if name is not None:
                at = name.end()
                yield self._known(name[0]) or [text[start:at]]
            elif text[at : at + 1] in ("{", "("):
                end = _closing(text, at)
                inside = text[at + 1 : end - 1]
                known = (
                    self._parameter(inside, depth)
                    if text[at] == "{"
                    else self._output(inside, depth)
                )
                at = end
                yield [text[start:at]] if known is None else known
            else:
                yield ["$"]
        yield [text[at:]]

    def _known(self, name: str) -> list[str] | None:
        if name.isdigit() and name != "0":
            given = self.arguments[int(name) - 1 : int(name)]
            return given if given and given[0] not in ARGUMENTS else None
        if name == "PWD":
            return [self.folder] if self.folder else None
        own = {"SNAP": "$SNAP", "0": self.script, "BASH_SOURCE": self.source}
        return [own[name]] if name in own else self._values.get(name)

    def _parameter(self, text: str, depth: int) -> list[str] | None:
        match = _PARAMETER.fullmatch(text)
        if match is None:
            return None
        name, operator, operand = match["name"], match["operator"], match["operand"]
        known = self._known(name)
        if operator is None or operator.endswith("?"):
            return known
        if operator.endswith(("-", "=")):
            filled = [value for value in known or () if value]
            if not filled and operator.endswith("="):
                self.assign(name, operand)
            return filled or self.expand(operand, depth + 1)
        if operator.endswith("+"):
            return self.expand(operand, depth + 1) if known else [""]
        if known is None:
            return None
        self._left -= sum(map(len, known)) * (1 + operand.count("*"))
        pattern = self.expand(operand, depth + 1)[0]
        return [_cut(value, operator, pattern) for value in known]

    def _output(self, text: str, depth: int) -> list[str] | None:
        """Return the output of commands; None if only the run time knows."""
        if len(text) > MAX_CHARACTERS or depth > MAX_DEPTH:
            return None
        commands = [*simple_commands(text)]
        pairs = itertools.pairwise(commands)
        piped = {words[0] for (_, by), (words, _) in pairs if by in ("|", "|&")}
        if not piped <= _FILTERS:
            return None
        widths = [
            len(self.expand(word, depth + 1)) for words, _ in commands for word in words
        ]
        folder, printed = self.folder, []
        for number in range(max(widths, default=0)):
            for words, _ in commands[:MAX_DEPTH]:
                each = [self.expand(word, depth + 1) for word in words]
                chosen = [values[min(number, len(values) - 1)] for values in each]
                line = self._line(chosen)
                if line is not None:
                    printed.append(line)
                if line is not None or chosen[0] not in ("cd", "set", "unset"):
                    break
            self.folder = folder
        return [*dict.fromkeys(printed)] or None

    def _line(self, words: Sequence[str]) -> str | None:
        """Return the line that a command prints; None if it is unknown."""
        program, given = words[0].rpartition("/")[2], words[1:]
        operands = [word for word in given if not word.startswith("-")]
        if program == "cd":
            self.change_folder(given)
            return None
        if program == "pwd":
            return self.folder or None
        if not operands or _UNKNOWN.search(" ".join(operands)):
            return None
        line, last = None, operands[-1]
        match program:
            case "basename":
                suffix = "".join(operands[1:])
                line = posixpath.basename(operands[0]).removesuffix(suffix)
            case "dirname":
                line = posixpath.dirname(last.rstrip("/")) or "."
            case "echo":
                line = " ".join(operands)
            case "readlink" | "realpath":
                line = self._resolve(self._joined(last))
            case "command" | "printf" | "type" | "which":
                line = last
        return line

    def _joined(self, path: str) -> str:
        """Return a path from the current directory, empty if it isn't known."""
        if _UNKNOWN.search(path):
            return ""
        if not path.startswith(("/", "$")) and self.folder:
            path = f"{self.folder}/{path}"
        return posixpath.normpath(path)


def _from_root(text: str) -> str:
    """Return a word without the directory that a path from the root was put behind.

    Scripts check first whether a link's target is relative.
    """
    at = text.rfind("/$SNAP/")
    if at < 0:
        return text
    start = max(text.rfind(mark, 0, at) for mark in ":= ") + 1
    return text[:start] + text[at + 1 :]


def _closing(text: str, start: int) -> int:
    """Return where the group ends that begins at a bracket."""
    opened, closed = text[start], {"{": "}", "(": ")"}.get(text[start], "")
    if not closed:
        return start
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == opened) - (text[at] == closed)
        if not depth:
            return at + 1
    return len(text) + 1


def _cut(value: str, operator: str, pattern: str) -> str:
    """Return a value without what a pattern matches, as ``${NAME%PATTERN}``."""
    if operator.startswith("/"):
        old, _, new = pattern.partition("/")
        return value.replace(old, new, -1 if operator == "//" else 1) if old else value
    if value.endswith(pattern) and operator == "%":
        return value.removesuffix(pattern)
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return value
    ends = range(len(value) + 1)
    if operator in ("%", "##"):
        ends = ends[::-1]
    for at in ends:
        part = value[at:] if operator[0] == "%" else value[:at]
        if fnmatchcase(part, pattern):
            return value[:at] if operator[0] == "%" else value[at:]
    return value


Variants = tuple[tuple[str, ...], ...]
"""Of one command: its words, for each value that its program may have."""


class Script:
    """Gives the words of each simple command of a script, variables followed.

    All branches are taken, in the order of the script; functions where they are called,
    or else at the end. Directories change as a command is yielded.
    """

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
            if match := ASSIGNMENT.fullmatch(word):
                self._values.assign(match["name"], match["value"])
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
