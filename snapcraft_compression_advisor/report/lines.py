"""Lines of text, as wide as what shows them."""

from __future__ import annotations

import shutil
import textwrap
from dataclasses import dataclass

COLUMNS = 80
"""Of tables, and of text where nothing else is known."""

_MOST_COLUMNS = 100
"""Longer lines are hard to read, however wide the terminal."""

_LEAST_COLUMNS = 40


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
