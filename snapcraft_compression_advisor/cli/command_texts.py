"""What the commands say of themselves: their help, and what pages are made of.

craft-cli's own help leaves out what an option takes.
"""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from craft_cli import BaseCommand

from .commands import (
    APP_NAME,
    COMMANDS,
    FIRST,
    SUMMARY,
    UNCOMMON,
    command_named,
    load_command,
    make_dispatcher,
)

_MOST_COLUMNS = 88
_INDENT, _TEXT_INDENT = " " * 2, " " * 10
_NAME_COLUMNS = 14
_MOST_OPTIONS, _LABEL_COLUMNS = 12, 32
USUAL = frozenset({
    "--app", "--baseline", "--device", "--fix", "--diff", "--format", "--min-saving",
    "--output", "--policy", "--project", "--prove", "--record", "--report", "--until",
    "--timeout",
})  # fmt: skip
"""Options that most people need, of commands with many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentText:
    """An option, or an argument by its place, which has no names.

    :ivar metavar: what stands for its value; empty for a flag.
    :ivar is_optional: whether an argument, or an option's value, may be left out.
    """

    names: tuple[str, ...]
    metavar: str
    text: str
    choices: tuple[str, ...] = ()
    is_optional: bool = False
    is_repeated: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """Its names, the last one with the values that it takes."""
        value = "|".join(self.choices) or self.metavar
        if not self.names or not value:
            return self.names or (self.metavar,)
        shown = f"[{value}]" if self.is_optional else value
        return (*self.names[:-1], f"{self.names[-1]} {shown}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandText:
    """A command and its arguments, those by place first."""

    name: str
    summary: str
    overview: str
    arguments: tuple[ArgumentText, ...]

    @property
    def usage(self) -> str:
        """The command line in short."""
        words = [APP_NAME, self.name, "[OPTION]…"]
        for argument in self.arguments:
            if not argument.names:
                word = f"{argument.metavar}{'…' if argument.is_repeated else ''}"
                words.append(f"[{word}]" if argument.is_optional else word)
        return " ".join(words)


def read_commands() -> tuple[CommandText, ...]:
    """Return every command in the order of the program's help."""
    return tuple(map(read_command, COMMANDS))


def read_command(name: str) -> CommandText:
    """Return one command."""
    command = load_command(name)
    return CommandText(
        name=name,
        summary=command.help_msg,
        overview=command.overview,
        arguments=tuple(_arguments(command)),
    )


def read_global_options() -> tuple[ArgumentText, ...]:
    """Return the options that every command takes."""
    return tuple(
        ArgumentText(
            names=tuple(filter(None, (each.short_option, each.long_option))),
            metavar="" if each.type == "flag" else each.name.upper(),
            choices=tuple(each.choices or ()),
            text=each.help_message,
        )
        for each in make_dispatcher(None).global_arguments
    )


def command_parser(command: type[BaseCommand]) -> argparse.ArgumentParser:
    """Return a parser of the command's own arguments."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    # craft-cli's own kind differs in how it reports errors only.
    command(None).fill_parser(parser)  # type: ignore[arg-type]
    return parser


def _arguments(command: type[BaseCommand]) -> Iterator[ArgumentText]:
    actions = command_parser(command)._actions  # noqa: SLF001 # argparse has no other way
    for action in sorted(actions, key=lambda each: bool(each.option_strings)):
        yield ArgumentText(
            names=tuple(action.option_strings),
            metavar=""
            if action.nargs == 0
            else str(action.metavar or action.dest).upper(),
            choices=tuple(map(str, action.choices or ())),
            text=action.help or "",
            is_optional=action.nargs in ("*", "?"),
            is_repeated=action.nargs in ("*", "+"),
        )


def help_text(arguments: Sequence[str]) -> str | None:
    """Return the help that a command line asks for; None for another format's."""
    if any(each.startswith("--format") for each in arguments):
        return None
    name = command_named(arguments)
    if name is None:
        return _program_help(in_full="--all" in arguments)
    return _command_help(read_command(name), in_full="-h" not in arguments)


def _program_help(*, in_full: bool) -> str:
    """Return the program's help with its commands; in full, the uncommon ones too."""
    names = [name for name in COMMANDS if in_full or name not in UNCOMMON]
    lines = [f"{_INDENT}{name:{_NAME_COLUMNS}}{COMMANDS[name][1]}" for name in names]
    see = "" if in_full else f" '{APP_NAME} help --all' lists all commands."
    blocks = (
        f"Usage: {APP_NAME} [PATH]    {APP_NAME} COMMAND [OPTION]…",
        _filled(SUMMARY),
        "\n".join(lines[:FIRST]),
        "\n".join(lines[FIRST:]),
        _filled(
            "Of every command: -h for its usual options, --help for all, -v for "
            f"details, -q for no progress.{see}"
        ),
    )
    return "\n\n".join(blocks) + "\n"


def _command_help(command: CommandText, *, in_full: bool) -> str:
    """Return a command's help; if it has many options, in full or the usual ones."""
    named = [each for each in command.arguments if not each.names]
    options = [each for each in command.arguments if each.names]
    blocks = [f"Usage: {command.usage}"]
    if in_full or len(options) <= _MOST_OPTIONS:
        blocks += [
            *map(_filled, command.overview.split("\n\n")),
            *_list("Arguments:", named),
            *_list("Options:", options),
            *_list("Options of every command:", read_global_options()),
        ]
    else:
        usual = [each for each in options if USUAL.intersection(each.names)]
        blocks += [
            _filled(command.overview.split("\n\n")[0]),
            *_list("Arguments:", named),
            "\n".join(("Usual options:", *map(_short, usual))),
            f"All options: {APP_NAME} {command.name} --help",
        ]
    return "\n\n".join(blocks) + "\n"


def _list(heading: str, arguments: Sequence[ArgumentText]) -> Iterator[str]:
    lines = [
        f"{_INDENT}{', '.join(each.labels)}\n{_filled(each.text, indent=_TEXT_INDENT)}"
        for each in arguments
    ]
    if lines:
        yield "\n".join((heading, *lines))


def _short(argument: ArgumentText) -> str:
    """Return an option in a line or two: what it does, without conditions."""
    label = f"{_INDENT}{', '.join(argument.labels)}"
    indent = " " * (_LABEL_COLUMNS + 1)
    text = textwrap.fill(
        re.split(r"[;:(]|\. ", argument.text)[0].strip(" ,"),
        shutil.get_terminal_size().columns,
        initial_indent=indent,
        subsequent_indent=indent,
    )
    wide = len(label) >= _LABEL_COLUMNS
    return f"{label}\n{text}" if wide else f"{label}{text[len(label) :]}"


def _filled(text: str, *, indent: str = "") -> str:
    return textwrap.fill(
        text,
        min(shutil.get_terminal_size().columns, _MOST_COLUMNS),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
