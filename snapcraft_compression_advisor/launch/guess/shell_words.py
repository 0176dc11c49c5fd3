"""The words of a shell script, as a shell would split them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Operator(str):
    """What ends a simple command: ``;``, ``&&``, ``|``, ``()``, the end of a line."""

    __slots__ = ()


MAX_DEPTH = 16
"""Commands within the words of commands; deeper ones aren't told apart."""

MAX_HELD_TEXTS = 256
"""Texts that a script holds; more of them are taken for commands."""

_PLAIN = re.compile(r"[^\s'\"\\;&|()<>`$]+")
_SPACE = re.compile(r"(?:[ \t\r\f\v]|\\\n)+")
_OPERATOR = re.compile(r"[;&|()<>\n]")
_QUOTED = re.compile(r"[^\"\\`$]+")
_TICKED = re.compile(r"[^'\"\\`$]+")
_INSIDE = re.compile(r"[^()'\"\\`$]+")
_BRACED = re.compile(r"[^{}'\"\\`$]+")
_GROUPS = {"(": (")", _INSIDE), "{": ("}", _BRACED)}


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
            if self._skip(_SPACE) or self._skip_comment():
                continue
            if _OPERATOR.match(self._text, self._at):
                operator = self._operator()
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

    def _skip_comment(self) -> bool:
        if self._text[self._at] != "#":
            return False
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end
        return True

    def _operator(self) -> str:
        start = self._at
        if self._text[start] == "\n":
            self._at += 1
            self._skip_held_texts()
            return "\n"
        while self._at < len(self._text) and self._text[self._at] in ";&|()<>":
            self._at += 1
        return self._text[start : self._at]

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
