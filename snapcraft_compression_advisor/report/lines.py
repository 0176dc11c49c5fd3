"""Lines of text, as wide and as coloured as what shows them takes them."""

from __future__ import annotations

import locale
import shutil
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..core.terminal import wants_colour

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

COLUMNS = 80
"""Of tables, and of text if nothing else is known."""

_MOST_COLUMNS = 100
"""Longer lines are hard to read, however wide the terminal."""

_LEAST_COLUMNS = 40
_COLOURS: Mapping[str, str] = {
    "error": ";31",
    "warning": ";33",
    "undecided": ";33",
    "info": ";36",
    "change": ";36",
    "keep": ";32",
}
"""By severity and verdict; what has none is bold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStyle:
    """How text for people looks.

    :param columns: after which lines are wrapped; ``None`` leaves them whole, as files
        and pipes have them.
    :param coloured: whether to colour it.
    :param unicode: whether bars may have characters that ASCII lacks.
    :param verbose: whether to show all evidence.
    """

    columns: int | None = None
    coloured: bool = False
    unicode: bool = True
    verbose: bool = False

    def with_all(self) -> TextStyle:
        """Return the same, showing all evidence."""
        return replace(self, verbose=True)

    @property
    def wrap_columns(self) -> int:
        """The width of what can't be without one, such as a table."""
        return self.columns or COLUMNS

    def bold(self, text: str, tone: str = "") -> str:
        """Return text in bold, in the colour of a severity or a verdict."""
        code = _COLOURS.get(tone, "")
        return f"\x1b[1{code}m{text}\x1b[0m" if self.coloured else text


FILE_STYLE = TextStyle(columns=COLUMNS)
"""How a report looks in files."""


def terminal_columns() -> int:
    """Return the width to wrap at on this terminal, or as ``COLUMNS`` says."""
    columns = shutil.get_terminal_size((COLUMNS, 24)).columns
    return max(_LEAST_COLUMNS, min(columns, _MOST_COLUMNS))


def shows_unicode(stream: TextIO) -> bool:
    """Return whether who reads a stream expects more than ASCII, as its locale says.

    With ``LC_ALL=C``, Python writes UTF-8 all the same (PEP 540).
    """
    encodings = (stream.encoding or "ascii", locale.nl_langinfo(locale.CODESET))
    try:
        return all("\N{BOX DRAWINGS HEAVY HORIZONTAL}".encode(e) for e in encodings)
    except (UnicodeEncodeError, LookupError):
        return False


def style_for(stream: TextIO, environment: Mapping[str, str]) -> TextStyle:
    """Return a report's style on a stream: the terminal's, else that of files.

    :param environment: of the process, as :func:`wants_colour` takes it.
    """
    terminal = stream.isatty()
    return TextStyle(
        columns=terminal_columns() if terminal else COLUMNS,
        coloured=wants_colour(environment, terminal=terminal),
        unicode=shows_unicode(stream),
    )


def cut(text: str, columns: int | None, *, end: str = "") -> str:
    """Return text as a line, cut at a space if it is too long; its end stays."""
    if columns is None or len(text) + len(end) <= columns:
        return f"{text}{end}"
    left = columns - len(end) - 1
    whole = text[:left].rpartition(" ")[0] if text[left] != " " else text[:left]
    short = whole if len(whole) > columns // 2 else text[:left]
    return f"{short.rstrip(' ,;:(')}…{end}"


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
