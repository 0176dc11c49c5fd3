"""The words of a shell script, as a shell would split them, and what they are for."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Operator(str):
    """What ends a simple command: ``;``, ``&&``, ``|``, ``()``, the end of a line."""

    __slots__ = ()


MAX_DEPTH = 16
"""Commands within the words of commands; deeper ones aren't told apart."""

MAX_HELD_TEXTS = 256
"""Texts that a script holds; more of them are taken for commands."""

_PLAIN = re.compile(r"[^\s'\"\\;&|()<>`$]+")
_SPACE = re.compile(r"(?:[ \t\r\f\v]|\\\n|#[^\n]*)+")
"""Between words, comments too."""

_OPERATOR = re.compile(r"\n|[;&|()<>]+")
_QUOTED = re.compile(r"[^\"\\`$]+")
_TICKED = re.compile(r"[^'\"\\`$]+")
_INSIDE = re.compile(r"[^()'\"\\`$]+")
_BRACED = re.compile(r"[^{}'\"\\`$]+")
_GROUPS = {"(": (")", _INSIDE), "{": ("}", _BRACED)}

_SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
_TEXT_RUNNERS = _SHELLS | {"runuser", "su"}
_TEXT_OPTION = re.compile(r"-[a-z]*c")
_SHEBANG = re.compile(r"#![ \t]*(?P<program>[^\s]+)(?:[ \t]+(?P<argument>[^\n]*))?")
ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_]\w*)\+?=(?P<value>.*)", re.DOTALL)
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

Command = tuple[list[str], str]
"""The words of a simple command, and the operator behind it."""


def simple_commands(text: str) -> Iterator[Command]:
    """Yield the simple commands of a script, their words without quotes.

    A command within a word stays in it, as ``$(command)``. What is redirected, and
    texts that a script holds (``<<``), are left out.
    """
    command: list[str] = []
    for word in (*_Splitter(text).words(), Operator("\n")):
        if not isinstance(word, Operator):
            command.append(word)
        elif command:
            yield command, word
            command = []


def script_interpreter(text: str) -> str:
    """Return a script's interpreter, path or bare name; empty without a ``#!`` line.

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
        or ASSIGNMENT.fullmatch(words[place])
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


class _Splitter:
    """The state of :func:`simple_commands`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._held = 0
        self._held_texts: list[str] = []

    def words(self) -> Iterator[str]:
        """Yield words, and what ends commands."""
        redirected = ""
        while self._at < len(self._text):
            if self._skip(_SPACE):
                continue
            if operator := self._skip(_OPERATOR):
                if operator == "\n":
                    self._skip_held_texts()
                redirects = operator.strip("&|")[:1] in ("<", ">")
                redirected = operator if redirects and "(" not in operator else ""
                if not redirected:
                    yield Operator(operator)
            else:
                word = self._word()
                if word.isdigit() and self._text[self._at : self._at + 1] in ("<", ">"):
                    continue  # the descriptor that is redirected
                if redirected == "<<" and self._held < MAX_HELD_TEXTS:
                    self._held_texts.append(word.lstrip("-"))
                    self._held += 1
                elif not redirected:
                    yield word
                redirected = ""

    def _skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            return ""
        self._at = match.end()
        return match[0]

    def _skip_held_texts(self) -> None:
        for end in self._held_texts:
            line = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE)
            match = line.search(self._text, self._at)
            self._at = match.end() if match else self._at
        self._held_texts.clear()

    def _word(self) -> str:
        parts = []
        while self._at < len(self._text):
            if plain := self._skip(_PLAIN):
                parts.append(plain)
            elif self._text[self._at] in "'\"\\`$":
                parts.append(self._special(0))
            elif self._text[self._at] == "(" and "".join(parts[-1:]).endswith("="):
                self._at += 1  # an array
                parts.append(self._until(")", _INSIDE, 0))
            else:
                break
        return "".join(parts)

    def _special(self, depth: int) -> str:
        """Return what a quote, an escape or a dollar sign begins, without quotes."""
        if self._text[self._at] == "$":
            return self._dollar(depth)
        text, start = self._text, self._at
        self._at += 1
        if text[start] == "'":
            end = text.find("'", self._at)
            self._at = len(text) if end < 0 else end + 1
            return text[start + 1 : self._at].removesuffix("'")
        if text[start] == "\\":
            self._at += 1
            return text[start + 1 : self._at].replace("\n", "")
        if text[start] == '"':
            return self._until('"', _QUOTED, depth)
        return f"$({self._until('`', _TICKED, depth)})"

    def _dollar(self, depth: int) -> str:
        """Return a variable in braces, or a command, without quotes."""
        self._at += 1
        group = self._text[self._at : self._at + 1]
        if group not in _GROUPS:
            return "$"
        self._at += 1
        end, plain = _GROUPS[group]
        return f"${group}{self._until(end, plain, depth)}{end}"

    def _until(self, end: str, plain: re.Pattern[str], depth: int) -> str:
        """Return the text up to an end, without the quotes in it."""
        parts = []
        while self._at < len(self._text):
            char = self._text[self._at]
            if found := self._skip(plain):
                parts.append(found)
            elif char == end:
                self._at += 1
                break
            elif depth < MAX_DEPTH and char in "'\"\\`$":
                parts.append(self._special(depth + 1))
            elif char == "(" and depth < MAX_DEPTH:
                self._at += 1
                parts.append(f"({self._until(')', _INSIDE, depth + 1)})")
            else:
                self._at += 1
                parts.append(char)
        return "".join(parts)
