"""Lines of an ``strace -f`` log, as system calls (strace(1)).

Lines may carry a process id (bare, or as ``[pid N]``), any of strace's time stamps,
``-y`` paths behind descriptors, and ``-T`` durations; calls that another process
interrupted are put together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..core.frozen import frozen

LINE_MAX_CHARACTERS = 256 * 1024
"""Longer than any line of file calls; the rest of a longer one is not read."""

_PREFIX = re.compile(
    r"(?:\[pid +(?P<bracketed>\d{1,10})\] +|(?P<bare>\d{1,10}) +(?=\D|\d+[:.]))?"
    r"(?:\d{2}:\d{2}:\d{2}(?:\.\d+)? +|\d+\.\d+ +)?"  # -t, -tt; -r, -ttt
)
_CALL = re.compile(r"(?P<name>[a-z_][a-z0-9_]*)\((?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. (?P<name>[a-z_][a-z0-9_]*) resumed>(?P<rest>.*)")
_UNFINISHED = re.compile(r"(?P<begin>.*?),? *<unfinished \.\.\.>$")
_RESULT = re.compile(
    r"(?P<value>-?\d{1,20}|0x[0-9a-f]{1,16}|\?)(?:<(?P<path>.*?)>(?= |$))?(?: |$)"
)
_NOT_CALLS = re.compile(r"\+\+\+ |--- |strace: |$")
_DESCRIPTOR = re.compile(r"(?P<number>-?\d{1,10}|AT_FDCWD)(?:<(?P<path>.*)>)?$")
_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-f]{2})|(?P<octal>[0-7]{1,3})|(?P<letter>.))", re.DOTALL
)
_LETTERS = {"n": 10, "t": 9, "r": 13, "f": 12, "v": 11, "a": 7, "b": 8, "e": 27}
_OPENING, _CLOSING = "([{", ")]}"


@frozen
class Call:
    """One system call.

    :param pid: of the thread, 0 where the log names none.
    :param arguments: as they stand in the log.
    :param result: ``None`` where the call didn't return, or isn't back yet.
    :param result_path: behind the descriptor that it returned (``-y``).
    :param begun: whether it has only begun; it comes again when it is done.
    """

    pid: int
    name: str
    arguments: tuple[str, ...]
    result: int | None
    result_path: str | None = None
    begun: bool = False

    def argument(self, number: int) -> str:
        """Return an argument, counted from 0; nothing where there are fewer."""
        return self.arguments[number] if number < len(self.arguments) else ""


def read_calls(lines: Iterable[str]) -> Iterator[Call | None]:
    """Yield the calls of a log in the order in which they returned.

    ``None`` stands for a line that is no call of any known form.
    """
    begun: dict[int, tuple[str, str]] = {}
    for line in lines:
        prefix = _PREFIX.match(line)
        start = prefix.end() if prefix else 0
        text = line[start:LINE_MAX_CHARACTERS].rstrip("\n")
        pid = int((prefix["bracketed"] or prefix["bare"] or 0) if prefix else 0)
        if _NOT_CALLS.match(text):
            continue
        resumed = _RESUMED.match(text)
        if resumed is not None:
            name, begin = begun.pop(pid, ("", ""))
            if name != resumed["name"]:
                yield None
                continue
            text = f"{name}({begin}{_joint(begin, resumed['rest'])}"
        call = _CALL.match(text)
        if call is None:
            yield None
            continue
        unfinished = _UNFINISHED.match(call["rest"])
        if unfinished is not None:
            begun[pid] = (call["name"], unfinished["begin"])
            yield Call(
                pid=pid,
                name=call["name"],
                arguments=tuple(_split(unfinished["begin"])[0]),
                result=None,
                begun=True,
            )
            continue
        yield _finished(pid, call["name"], call["rest"])


def descriptor(argument: str) -> tuple[int | None, str | None]:
    """Return a descriptor's number and, with ``-y``, what is behind it.

    ``AT_FDCWD``, and what is no descriptor, has no number.
    """
    match = _DESCRIPTOR.fullmatch(argument)
    if match is None:
        return None, None
    number = None if match["number"] == "AT_FDCWD" else int(match["number"])
    path = match["path"]
    return number, unescape(path) if path and path.startswith("/") else None


def quoted(argument: str) -> str | None:
    """Return a string's value, ``None`` where it isn't one or was truncated."""
    if len(argument) < 2 or argument[0] != '"' or argument[-1] != '"':  # noqa: PLR2004 # the quotes
        return None
    return unescape(argument[1:-1])


def unescape(text: str) -> str:
    """Replace C escapes; bytes that are not UTF-8 become surrogate escapes."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(
        lambda match: bytes((_code(match),)).decode(errors="surrogateescape"), text
    )
    # The escapes of one character stand for its bytes.
    return raw.encode(errors="surrogateescape").decode(errors="surrogateescape")


def number(argument: str) -> int | None:
    """Return an integer argument, ``None`` where it isn't one."""
    try:
        return int(argument, 0)
    except ValueError:
        return None


def _code(match: re.Match[str]) -> int:
    if match["hex"]:
        return int(match["hex"], 16)
    if match["octal"]:
        return int(match["octal"], 8) & 0xFF
    return _LETTERS.get(match["letter"], ord(match["letter"]) & 0xFF)


def _joint(begin: str, rest: str) -> str:
    """Return the rest of an interrupted call with what belongs in between."""
    rest = rest.lstrip(" ")
    return rest if not begin or rest.startswith((")", ",")) else f", {rest}"


def _finished(pid: int, name: str, rest: str) -> Call | None:
    arguments, after = _split(rest)
    if after is None:
        return None
    equals, _, text = after.partition("=")
    result = _RESULT.match(text.lstrip(" "))
    if equals.strip() or result is None:
        return None
    path = result["path"]
    return Call(
        pid=pid,
        name=name,
        arguments=tuple(arguments),
        result=number(result["value"]),
        result_path=unescape(path) if path and path.startswith("/") else None,
    )


def _split(text: str) -> tuple[list[str], str | None]:
    """Split a call's arguments at the commas between them.

    :returns: the arguments, and what follows the closing parenthesis; ``None`` where
        there is none.
    """
    arguments: list[str] = []
    depth = begin = place = 0
    while place < len(text):
        character = text[place]
        if character == '"':
            place = _end_of_string(text, place)
        elif character == "<" and _begins_path(text, place):
            end = text.find(">", place)
            place = end if end != -1 else place
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING and depth:
            depth -= 1
        elif character == ")":
            return [*arguments, *_last(text[begin:place])], text[place + 1 :]
        elif character == "," and not depth:
            arguments.append(text[begin:place].strip())
            begin = place + 1
        place += 1
    return [*arguments, *_last(text[begin:])], None


def _begins_path(text: str, place: int) -> bool:
    """Tell what is behind a descriptor (``3</a>``) from a shift (``1<<20``)."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return before.isalnum() and (after == "/" or after.isalpha())


def _last(text: str) -> tuple[str, ...]:
    return (text.strip(),) if text.strip() else ()


def _end_of_string(text: str, place: int) -> int:
    """Return where a string's closing quote is, or the last character."""
    place += 1
    while place < len(text) and text[place] != '"':
        place += 2 if text[place] == "\\" else 1
    return place
