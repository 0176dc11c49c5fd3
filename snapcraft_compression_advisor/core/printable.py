"""Text as terminals, build logs, JSON and Markdown can take it."""

from __future__ import annotations

import re
from typing import Literal

_BYTES_ESCAPED_FROM = 0xDC00
"""Where Python puts a byte that isn't UTF-8 (PEP 383): from U+DC80 on."""

_STEERING = (
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f"  # C0 but the line's end, DEL, C1
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction (UAX #9)
    r"\u2028\u2029\ud800-\udfff]"  # other ends of lines; what isn't UTF-8
)
_KEPT = {
    "colours": rf"(?!\x1b\[(?:0|1|36|1;3[1236])m){_STEERING}",  # of report/lines.py
    "patch": rf"(?!\t|\r\n){_STEERING}",
    "commands": _STEERING,
    None: _STEERING,
}
_COMMAND = re.compile(r"^[^\S\n]*:(?=:)", re.MULTILINE)

Kept = Literal["colours", "patch", "commands"]
"""What an output has of its own: colours, a patch's tabs and CRLF, CI commands."""


def printable(name: str) -> str:
    r"""Return a name with what isn't UTF-8 or would steer a terminal escaped.

    >>> printable("lib/\udcff")
    'lib/\\xff'
    """
    return name if name.isprintable() else "".join(map(_printable, name))


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - _BYTES_ESCAPED_FROM:02x}"
    return character.encode("unicode_escape").decode()


def safe_text(text: str, *, kept: Kept | None = None) -> str:
    r"""Return text whose lines steer neither a terminal nor a CI runner.

    Everything that is shown or written goes through here last, names that were made
    :func:`printable` before too. The escapes are JSON's and JavaScript's.

    GitHub's runner obeys lines that begin with ``::`` after white space, and ``##[``
    anywhere (ActionCommand.cs of actions/runner); GitLab's takes ``section_start:``
    only after control characters.

    :param kept: what the text has of its own and keeps.

    >>> safe_text("red\x1b[31m\n ::warning::")
    'red\\u001b[31m\n \\u003a:warning::'
    """
    text = re.sub(_KEPT[kept], lambda found: _escape(found[0]), text)
    text = text.replace("##[", f"{_escape('#')}#[")
    if kept == "commands":
        return text
    return _COMMAND.sub(lambda found: found[0][:-1] + _escape(":"), text)


def safe_line(text: str) -> str:
    """Return :func:`safe_text` in one line."""
    return safe_text(printable(text))


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"
