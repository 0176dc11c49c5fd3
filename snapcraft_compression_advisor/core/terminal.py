"""The terminal: craft-cli's emitter, and text as it, logs, JSON and Markdown take it.

All messages go through here. One may quote a name, and a name may hold anything.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from copy import copy
from typing import Any, Literal

import craft_cli

_BYTES_ESCAPED_FROM = 0xDC00
"""Where Python puts a byte that isn't UTF-8 (PEP 383): from U+DC80 on."""

_STEERING = (
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f"  # C0 but the line's end, DEL, C1
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction (UAX #9)
    r"\u2028\u2029\ud800-\udfff]"  # other ends of lines; what isn't UTF-8
)
_KEPT = {  # compiled here: when memory runs out, it is too late
    kept: re.compile(unless + _STEERING)
    for kept, unless in (
        ("colours", r"(?!\x1b\[(?:0|1|36|1;3[1236])m)"),  # of report/lines.py
        ("patch", r"(?!\t|\r\n)"),
        ("commands", ""),
        (None, ""),
    )
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
    text = _KEPT[kept].sub(lambda found: _escape(found[0]), text)
    text = text.replace("##[", f"{_escape('#')}#[")
    if kept == "commands":
        return text
    return _COMMAND.sub(lambda found: found[0][:-1] + _escape(":"), text)


def safe_line(text: str) -> str:
    """Return :func:`safe_text` in one line."""
    return safe_text(printable(text))


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


class Terminal:
    """The process's emitter, which is given only text that is safe to show."""

    def progress(self, text: str, *, permanent: bool = False) -> None:
        """Show what is done, in one line."""
        craft_cli.emit.progress(safe_line(text), permanent=permanent)

    def verbose(self, text: str) -> None:
        """Show a line with ``-v``."""
        craft_cli.emit.verbose(safe_line(text))

    def debug(self, text: str) -> None:
        """Show what helps to find a fault."""
        craft_cli.emit.debug(safe_text(text))

    def message(self, text: str) -> None:
        """Show a result on the standard output."""
        craft_cli.emit.message(safe_text(text))

    def error(self, error: craft_cli.CraftError) -> None:
        """Show an error and end the emitter; causes are for those with ``-vv``."""
        if error.__cause__ is not None:
            self.debug("".join(traceback.format_exception(error.__cause__)))
        safe = copy(error)
        safe.__cause__ = None  # a copy has none, unless tblib is installed
        safe.args = (safe_text(str(error)),)
        safe.details = error.details and safe_text(error.details)
        safe.resolution = error.resolution and safe_text(error.resolution)
        craft_cli.emit.error(safe)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 # what shows no text
        """Return any other attribute of the emitter."""
        return getattr(craft_cli.emit, name)


emit = Terminal()


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Return whether text may be coloured (no-color.org, force-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"
