"""Lines of text, as wide and as coloured as what shows them takes them."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..lint.finding import Severity

COLUMNS = 80
"""Of tables, and of text where nothing else is known."""

_MOST_COLUMNS = 100
"""Longer lines are hard to read, however wide the terminal."""

_LEAST_COLUMNS = 40
_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_BY_SEVERITY: dict[Severity, str] = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[1;36m",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStyle:
    """How text for people looks.

    :param columns: after which lines are wrapped; ``None`` leaves them whole, as files
        and pipes have them.
    :param coloured: whether to colour it.
    :param verbose: whether to show all evidence.
    """

    columns: int | None = None
    coloured: bool = False
    verbose: bool = False

    def severe(self, severity: Severity, text: str) -> str:
        """Return text in a severity's colour."""
        return self._in(_BY_SEVERITY[severity], text)

    def bold(self, text: str) -> str:
        """Return text in bold."""
        return self._in(_BOLD, text)

    def _in(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self.coloured else text


def terminal_columns() -> int:
    """Return the width to wrap at on this terminal, or as ``COLUMNS`` says."""
    columns = shutil.get_terminal_size((COLUMNS, 24)).columns
    return max(_LEAST_COLUMNS, min(columns, _MOST_COLUMNS))


def wrapped(
    text: str, columns: int | None = COLUMNS, *, first: str = "", rest: str = ""
) -> list[str]:
    """Wrap text at its spaces; a word that is longer than a line stays whole.

    Nobody could copy a path that is broken.

    :param columns: ``None`` for one line.
    :param first: before the first line.
    :param rest: before each other one.
    """
    if columns is None:
        return [f"{first}{text}"]
    return textwrap.wrap(
        text,
        columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


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
