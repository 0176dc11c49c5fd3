"""Colour on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snapcraft_compression_advisor.lint.finding import Severity

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_BY_SEVERITY: dict[Severity, str] = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[1;36m",
}


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Tell whether text may be coloured.

    :param environment: of the process. ``NO_COLOR``, if not empty, forbids colour
        (https://no-color.org); else ``FORCE_COLOR``, if not empty, has it anywhere
        (https://force-color.org). ``TERM=dumb`` has none on its own.
    :param terminal: whether the text goes to one.
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"


class Paint:
    """Puts text into colour, or leaves it as it is.

    :param coloured: which of both.
    """

    def __init__(self, *, coloured: bool) -> None:
        self._coloured = coloured

    def severity(self, severity: Severity, text: str) -> str:
        """Return text in a severity's colour."""
        return self._in(_BY_SEVERITY[severity], text)

    def bold(self, text: str) -> str:
        """Return text in bold."""
        return self._in(_BOLD, text)

    def _in(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self._coloured else text
