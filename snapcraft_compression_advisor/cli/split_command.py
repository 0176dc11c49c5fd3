"""``-- COMMAND…`` at the end of a line, in a way that argparse takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD_OPTION = "--command-word"
WORD_MARK = "\0"
"""Before a word, which can't hold it: argparse would drop the word ``--``."""


def split_command(
    arguments: Sequence[str], *, command_names: Sequence[str]
) -> list[str]:
    """Make ``-- COMMAND…`` at the end an option a word.

    Else the global options would be taken out of COMMAND as well.

    :param arguments: of the command line.
    :param command_names: of the advisor's commands that start something.
    """
    if "--" not in arguments:
        return list(arguments)
    place = arguments.index("--")
    if not set(arguments[:place]) & set(command_names):
        return list(arguments)
    words = [f"{WORD_OPTION}={WORD_MARK}{word}" for word in arguments[place + 1 :]]
    return [*arguments[:place], *words]
