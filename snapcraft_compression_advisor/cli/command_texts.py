"""The help of the program and of its commands, as argparse prints it.

craft-cli's own leaves out what an option takes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from .commands import (
    APP_NAME,
    COMMANDS,
    FIRST,
    SUMMARY,
    UNCOMMON,
    Command,
    command_named,
    load_command,
    make_dispatcher,
)

_MOST_COLUMNS = 88
_NAME_COLUMNS = 14
_TEXT_COLUMN, _SHORT_TEXT_COLUMN = 10, 33
_MOST_OPTIONS = 12
USUAL = frozenset({
    "--app", "--baseline", "--device", "--fix", "--diff", "--format", "--min-saving",
    "--output", "--policy", "--project", "--prove", "--record", "--report", "--until",
    "--timeout",
})  # fmt: skip
"""Options that most people need, of commands with many."""


def command_parser(command: type[Command]) -> argparse.ArgumentParser:
    """Return a parser of the command's own arguments."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    # craft-cli's own kind differs in how it reports errors only.
    command(None).fill_parser(parser)
    return parser


def general_parser() -> argparse.ArgumentParser:
    """Return a parser of the options that every command takes."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    for each in make_dispatcher(None).global_arguments:
        names = filter(None, (each.short_option, each.long_option))
        value: dict[str, Any] = {"action": "store_true"}
        if each.type == "option":
            choices = each.choices or ()
            value = {"choices": choices, "metavar": "|".join(choices)}
        parser.add_argument(*names, help=each.help_message, **value)
    return parser


def command_usage(command: type[Command]) -> str:
    """Return the command line in short."""
    places = (usage for usage in command.arguments if not usage.startswith("-"))
    return " ".join((APP_NAME, command.name, "[OPTION]…", *places))


def help_text(arguments: Sequence[str]) -> str | None:
    """Return the help that a command line asks for; None for another format's."""
    if any(each.startswith("--format") for each in arguments):
        return None
    name = command_named(arguments)
    if name is None:
        return _program_help(in_full="--all" in arguments)
    return _command_help(load_command(name), in_full="-h" not in arguments)


def _program_help(*, in_full: bool) -> str:
    """Return the program's help with its commands; in full, the uncommon ones too."""
    names = [name for name in COMMANDS if in_full or name not in UNCOMMON]
    lines = [f"  {name:{_NAME_COLUMNS}}{COMMANDS[name][1]}" for name in names]
    see = "" if in_full else f" '{APP_NAME} help --all' lists all commands."
    blocks = (
        f"Usage: {APP_NAME} [PATH]    {APP_NAME} COMMAND [OPTION]…",
        _filled(SUMMARY, _columns()),
        "\n".join(lines[:FIRST]),
        "\n".join(lines[FIRST:]),
        _filled(
            "Of every command: -h for its usual options, --help for all, -v for "
            f"details, -q for no progress.{see}",
            _columns(),
        ),
    )
    return "\n\n".join(blocks) + "\n"


def _command_help(command: type[Command], *, in_full: bool) -> str:
    """Return a command's help; if it has many options, in full or the usual ones."""
    actions = command_parser(command)._actions  # noqa: SLF001 # argparse has no other way
    options = [each for each in actions if each.option_strings]
    is_full = in_full or len(options) <= _MOST_OPTIONS
    text = _Help(_TEXT_COLUMN if is_full else _SHORT_TEXT_COLUMN)
    text.add_usage(command_usage(command), [], [], "Usage: ")
    for paragraph in command.overview.split("\n\n")[: None if is_full else 1]:
        text.add_text(paragraph)
    text.add_section("Arguments", [each for each in actions if each not in options])
    if is_full:
        text.add_section("Options", options)
        general = general_parser()._actions  # noqa: SLF001 # as above
        text.add_section("Options of every command", general)
    else:
        usual = [each for each in options if USUAL.intersection(each.option_strings)]
        for each in usual:  # what it does, without conditions
            each.help = re.split(r"[;:(]|\. ", each.help or "")[0].strip(" ,")
        text.add_section("Usual options", usual)
        text.add_text(f"All options: {APP_NAME} {command.name} --help")
    return text.format_help()


class _Help(argparse.HelpFormatter):
    """argparse's help, which breaks no option at its hyphens."""

    def __init__(self, text_column: int) -> None:
        super().__init__("", max_help_position=text_column, width=_columns())
        if sys.version_info >= (3, 14):
            self._set_color(color=False)  # what isn't the advisor's is escaped

    def add_section(self, heading: str, actions: Sequence[argparse.Action]) -> None:
        """Add arguments below a heading; nothing if there are none."""
        self.start_section(heading)
        self.add_arguments(actions)
        self.end_section()

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _filled(text, width).splitlines()

    def _fill_text(self, text: str, width: int, _indent: str) -> str:
        return _filled(text, width)


def _columns() -> int:
    return min(shutil.get_terminal_size().columns, _MOST_COLUMNS)


def _filled(text: str, columns: int) -> str:
    return textwrap.fill(text, columns, break_on_hyphens=False, break_long_words=False)
