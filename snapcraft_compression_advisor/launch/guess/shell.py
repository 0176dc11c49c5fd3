"""What a shell script says by its text: its interpreter, and the commands in it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ASSIGNED_CHARACTERS = 4096
"""Longest value that a variable is followed to: the kernel's PATH_MAX."""

MAX_EXPANSIONS = 64
"""Variables followed in one word, each of which may be that long."""

_PUNCTUATION = ";&|()<>`"
_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_SHEBANG = re.compile(rb"#![ \t]*(?P<program>[^\s]+)(?:[ \t]+(?P<argument>[^\n]*))?")
_ASSIGNMENT = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_]\w*)=(?P<value>\S*)$")
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
_DEFAULT = re.compile(r"\$\{(?P<name>\w+):?[-=](?P<value>[^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
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
    for command in shell_commands(text, {}):
        yield from command


def shell_commands(text: str, variables: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the words of each simple command of a script, plain variables followed.

    Assignments are taken in the order of the lines, whatever branch they stand in.
    ``$SNAP`` stays. What can't be split (an unclosed quote) is ignored.

    :param variables: takes what is assigned.
    """
    known = {**variables, "SNAP": "$SNAP"}
    for line in _logical_lines(text):
        command: list[str] = []
        for word in (*_split(line), ";"):
            if word and not word.strip(_PUNCTUATION):
                if command:
                    yield tuple(command)
                command = []
                continue
            assignment = _ASSIGNMENT.match(word)
            if assignment is None:
                command.append(_expand(word, known))
            else:
                _assign(assignment, known, variables)


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines with those that continue them; neither comments nor empty ones."""
    parts: list[str] = []
    for line in text.splitlines():
        if not parts and line.lstrip()[:1] in ("", "#"):
            continue
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield " ".join(parts)
            parts.clear()
    if parts:
        yield " ".join(parts)


def _assign(
    assignment: re.Match[str], known: dict[str, str], variables: dict[str, str]
) -> None:
    name = assignment["name"]
    value = _expand(assignment["value"], known)
    if len(value) <= MAX_ASSIGNED_CHARACTERS and name != "SNAP":
        known[name] = variables[name] = value


def _split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return []


def _expand(word: str, variables: dict[str, str]) -> str:
    inner = _known(word, variables)
    filled = _DEFAULT.sub(
        lambda match: variables.get(match["name"]) or match["value"],
        inner,
        count=MAX_EXPANSIONS,
    )
    return _known(filled, variables)


def _known(word: str, variables: dict[str, str]) -> str:
    return _VARIABLE.sub(
        lambda match: variables.get(match["braced"] or match["plain"], match[0]),
        word,
        count=MAX_EXPANSIONS,
    )
