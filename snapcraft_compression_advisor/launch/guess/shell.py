"""What a shell script says by its text: its interpreter, and the commands in it."""

from __future__ import annotations

import itertools
import re
from collections import ChainMap
from functools import partial
from typing import TYPE_CHECKING

from ...core.frozen import frozen
from .shell_words import END, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_ASSIGNED_CHARACTERS = 4096
"""Longest value that a variable is followed to: the kernel's PATH_MAX."""

MAX_EXPANSIONS = 64
"""Variables followed in one word, each of which may be that long."""

MAX_DEFAULTS = 8
"""Defaults within defaults that are followed."""

MAX_VARIANTS = 8
"""Values of a variable that a command is run by."""

_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_TEXT_RUNNERS = _SHELLS | {"runuser", "su"}
_TEXT_OPTION = re.compile(r"-[a-z]*c")
_SHEBANG = re.compile(rb"#![ \t]*(?P<program>[^\s]+)(?:[ \t]+(?P<argument>[^\n]*))?")
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)\+?=(?P<value>.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)(?:\[[@*0]\])?\}|(?P<plain>\w+))")
_LEADING = re.compile(r"\$\{?(?P<name>[A-Za-z_]\w*)")
_DEFAULT = re.compile(r"\$\{(?P<name>\w+):?[-=](?P<value>[^{}]*)\}")
_ASSIGNED_DEFAULT = re.compile(r"\$\{(?P<name>\w+):?=(?P<value>[^{}]*)\}")
_LOOKED_UP = re.compile(
    r"\$\(\s*(?:which|command\s+-v|type\s+-[pP])\s+(?P<name>[\w.+/-]+)[^()]*\)"
)
_PARAMETERS = re.compile(r"\$(?:[@*\d]|\{[@*\d].*\})")
_SPACES = re.compile(r"\s")
_BEFORE_COMMANDS = frozenset(
    {*"!{", "do", "else", "elif", "env", "eval", "exec", "if", "nohup", "setsid"}
    | {"then", "time", "until", "while"}
)


@frozen
class Shebang:
    """A script's first line.

    :param interpreter: what runs it: a path, or a bare name after ``env``.
    :param shell: whether that is a POSIX shell or one that reads like it.
    """

    interpreter: str
    shell: bool


def parse_shebang(text: bytes) -> Shebang | None:
    """Return a script's interpreter, ``None`` where there is no ``#!`` line.

    ``/usr/bin/env NAME`` (also with ``-S`` and assignments) names NAME.
    """
    match = _SHEBANG.match(text)
    if match is None:
        return None
    interpreter = match["program"].decode(errors="replace")
    if interpreter.rpartition("/")[2] == "env":
        words = (match["argument"] or b"").decode(errors="replace").split()
        named = [word for word in words if word[0] != "-" and "=" not in word]
        interpreter = named[0] if named else interpreter
    return Shebang(
        interpreter=interpreter, shell=interpreter.rpartition("/")[2] in _SHELLS
    )


def shell_words(text: str) -> Iterator[str]:
    """Yield the words of a shell script, those of :func:`shell_commands`."""
    for variants in shell_commands(text, {}):
        yield from itertools.chain(*variants)


def shell_commands(
    text: str, variables: dict[str, str]
) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Yield the words of each simple command of a script, plain variables followed.

    Assignments are taken in the order of the script, whatever branch they stand in; a
    function may use what is assigned below it. A command that is run by a variable has
    a variant for each value that the script assigns to it. ``$SNAP`` stays.

    :param variables: takes what is assigned.
    """
    commands = [*_simple_commands(text)]
    known, later = _Assigned(variables), _Assigned(variables)
    for command in commands:
        later.take(command)
    for command in commands:
        words = known.take(command)
        variants = tuple(filter(None, _variants(words, known, later)))
        if variants:
            yield variants
    variables.update(known.values.maps[0])


def command_place(words: Sequence[str]) -> int:
    """Return where the program stands among the words of a command.

    Behind what runs others (``exec``, ``env``, ``nohup``), their options, and
    variables for that program alone.
    """
    place = 0
    while place < len(words) and (
        words[place] in _BEFORE_COMMANDS
        or _ASSIGNMENT.fullmatch(words[place])
        or (place and words[place].startswith("-"))
    ):
        place += 2 if words[place] == "-a" else 1
    return place


def command_text(words: Sequence[str]) -> str | None:
    """Return the commands that a command gives to a shell, as ``sh -c "TEXT"`` does."""
    program, *options = words[command_place(words) :] or ("",)
    if program.rpartition("/")[2] not in _TEXT_RUNNERS:
        return None
    after = itertools.dropwhile(lambda word: not _TEXT_OPTION.fullmatch(word), options)
    return next(itertools.islice(after, 1, None), None)


def is_computed(word: str) -> bool:
    """Tell whether the word of a program names one that only the run time knows.

    A script's own parameters don't count: these are the words of who calls it.
    """
    known = word.startswith(("$SNAP/", "${SNAP}/")) or _PARAMETERS.fullmatch(word)
    return word.startswith("$") and not known


def _simple_commands(text: str) -> Iterator[list[str]]:
    command: list[str] = []
    for word in (*split_words(text), END):
        if word != END:
            command.append(_LOOKED_UP.sub(r"\g<name>", word))
        elif command:
            yield command
            command = []


class _Assigned:
    """What a script has assigned up to one of its commands.

    :param values: the last value of each variable, or else what others assigned: a file
        that the script reads as a part of itself may do so at any time.
    """

    def __init__(self, others: dict[str, str]) -> None:
        self.values: ChainMap[str, str] = ChainMap({}, others)
        self._all: dict[str, dict[str, None]] = {}

    def take(self, command: list[str]) -> list[str]:
        """Take what a command assigns, and return its other words."""
        words = []
        for word in command:
            assignment = _ASSIGNMENT.fullmatch(word)
            if assignment is None:
                words.append(word)
                assignment = _ASSIGNED_DEFAULT.search(word)
            if assignment is not None:
                self._assign(assignment["name"], assignment["value"])
        if words[:1] == ["for"] and words[2:3] == ["in"]:
            for value in words[3:]:
                self._assign(words[1], value)
        return words

    def _assign(self, name: str, value: str) -> None:
        expanded = _expand(value, self.values)
        if len(expanded) <= MAX_ASSIGNED_CHARACTERS and name != "SNAP":
            self.values[name] = expanded
            self._all.setdefault(name, {})[expanded] = None

    def all_values(self, name: str) -> Iterator[str]:
        """Yield all values that a variable was given, but empty ones."""
        return filter(None, self._all.get(name, ()))


def _variants(
    words: list[str], known: _Assigned, later: _Assigned
) -> Iterator[tuple[str, ...]]:
    """Yield a command's words for each value of the variable that it is run by."""
    head = "".join(words[command_place(words) :][:1])
    match = _LEADING.match(head)
    name = match["name"] if match else ""
    values = dict.fromkeys((*known.all_values(name), *later.all_values(name)))
    variables = ChainMap(*known.values.maps, later.values)
    for value in [*values][:MAX_VARIANTS] or [variables.get(name, "")]:
        chosen = variables.new_child({name: value}) if value else variables
        yield tuple(_expanded_words(words, chosen))


def _expanded_words(
    words: Iterable[str], variables: Mapping[str, str]
) -> Iterator[str]:
    """Yield words expanded; a variable's value may be several."""
    for word in words:
        expanded = _expand(word, variables)
        if expanded == word or _SPACES.search(word):
            yield expanded
        else:
            yield from expanded.split()


def _expand(word: str, variables: Mapping[str, str]) -> str:
    """Return a word with variables replaced, and defaults within defaults."""
    for _ in range(MAX_DEFAULTS):
        before = word
        for pattern, value in ((_VARIABLE, _value), (_DEFAULT, _value_or_default)):
            replace = partial(value, variables=variables)
            word = pattern.sub(replace, word, count=MAX_EXPANSIONS)
        if word == before or len(word) > MAX_ASSIGNED_CHARACTERS:
            break
    return word


def _value(match: re.Match[str], *, variables: Mapping[str, str]) -> str:
    name = match["braced"] or match["plain"]
    return "$SNAP" if name == "SNAP" else variables.get(name, match[0])


def _value_or_default(match: re.Match[str], *, variables: Mapping[str, str]) -> str:
    return variables.get(match["name"]) or match["value"]
