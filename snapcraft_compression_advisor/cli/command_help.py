"""The help of one command, with what each of its options takes."""

from __future__ import annotations

import shutil
import textwrap
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.cli.command_texts import (
    read_commands,
    read_global_options,
)
from snapcraft_compression_advisor.cli.commands import APP_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.cli.command_texts import ArgumentText

_MOST_COLUMNS = 88
_INDENT, _TEXT_INDENT = " " * 2, " " * 10


def command_help(arguments: Sequence[str]) -> str | None:
    """Return the help that a command line asks for; craft-cli's leaves values out.

    :param arguments: of a command line that asks for help.
    :returns: ``None`` where it isn't one command's, or is wanted in another format.
    """
    if any(each.startswith("--format") for each in arguments):
        return None
    commands = {each.name: each for each in read_commands()}
    name = next((each for each in arguments if each in commands), None)
    if name is None:
        return None
    command = commands[name]
    others = [each for each in commands.values() if each.group == command.group]
    named = [each for each in command.arguments if not each.names]
    options = [each for each in command.arguments if each.names]
    see = ", ".join(each.name for each in others if each.name != name)
    blocks = [
        f"Usage:\n{_INDENT}{command.usage}",
        *map(_filled, command.overview.split("\n\n")),
        *_list("Arguments:", named),
        *_list("Options:", options),
        *_list("Options of every command:", read_global_options()),
        *([_filled(f"See also: {see}.")] if see else []),
        f"For a summary of all commands, run '{APP_NAME} help --all'.",
    ]
    return "\n\n".join(blocks) + "\n"


def _list(heading: str, arguments: Sequence[ArgumentText]) -> Iterator[str]:
    lines = [line for each in arguments for line in _item(each)]
    if lines:
        yield "\n".join((heading, *lines))


def _item(argument: ArgumentText) -> Iterator[str]:
    yield f"{_INDENT}{', '.join(argument.labels)}"
    yield _filled(argument.text, indent=_TEXT_INDENT)


def _filled(text: str, *, indent: str = "") -> str:
    columns = min(shutil.get_terminal_size().columns, _MOST_COLUMNS)
    return textwrap.fill(
        text,
        columns,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
