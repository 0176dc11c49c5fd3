"""What the commands say of themselves: their help, and what pages are made of."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence

from craft_cli import BaseCommand, CommandGroup, GlobalArgument

from ..core.frozen import frozen
from .commands import (
    APP_NAME,
    COMMANDS,
    FIRST,
    SUMMARY,
    UNCOMMON,
    command_groups,
    command_names,
    every_command,
    make_dispatcher,
)

_REPEATED = ("*", "+")
_OPTIONAL = ("*", "?")
_MOST_COLUMNS = 88
_INDENT, _TEXT_INDENT = " " * 2, " " * 10
_NAME_COLUMNS = 14
_MOST_OPTIONS, _LABEL_COLUMNS = 12, 32
USUAL = frozenset({
    "--app", "--baseline", "--device", "--fix", "--diff", "--format", "--min-saving",
    "--output", "--policy", "--project", "--prove", "--record", "--report", "--set",
    "--until", "--timeout",
})  # fmt: skip
"""Options that most people need, of commands with many."""


@frozen
class ArgumentText:
    """An option, or an argument by its place.

    :ivar names: an option's, the short one first; none for an argument.
    :ivar metavar: what stands for its value; empty for a flag.
    :ivar choices: the only values that it takes, if they are few.
    :ivar text: what it does.
    :ivar is_optional: whether an argument, or an option's value, may be left out.
    :ivar is_repeated: whether an argument takes several values.
    """

    names: tuple[str, ...]
    metavar: str
    choices: tuple[str, ...]
    text: str
    is_optional: bool
    is_repeated: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """Its names, the last one with the values that it takes."""
        value = "|".join(self.choices) or self.metavar
        if not self.names:
            return (self.metavar,)
        if not value:
            return self.names
        shown = f"[{value}]" if self.is_optional else value
        return (*self.names[:-1], f"{self.names[-1]} {shown}")


@frozen
class CommandText:
    """A command and its arguments, those by place first."""

    name: str
    group: str
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
    return tuple(
        _text(command, group.name)
        for group in every_command()
        for command in group.commands
    )


def _text(command: type[BaseCommand], group: str) -> CommandText:
    return CommandText(
        name=command.name,
        group=group,
        summary=command.help_msg,
        overview=command.overview,
        arguments=tuple(_arguments(command)),
    )


def read_global_options() -> tuple[ArgumentText, ...]:
    """Return the options that every command takes."""
    program = make_dispatcher(command_groups([]))
    return tuple(map(_global_option, program.global_arguments))


def command_parser(command: type[BaseCommand]) -> argparse.ArgumentParser:
    """Return a parser of the command's own arguments."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    # craft-cli's own kind differs in how it reports errors only.
    command(None).fill_parser(parser)  # type: ignore[arg-type]
    return parser


def _arguments(command: type[BaseCommand]) -> Iterator[ArgumentText]:
    actions = command_parser(command)._actions  # noqa: SLF001 # argparse has no other way
    for action in sorted(actions, key=lambda each: bool(each.option_strings)):
        is_flag = action.nargs == 0
        name = str(action.metavar or action.dest).upper()
        yield ArgumentText(
            names=tuple(action.option_strings),
            metavar="" if is_flag else name,
            choices=() if action.choices is None else tuple(map(str, action.choices)),
            text=action.help or "",
            is_optional=action.nargs in _OPTIONAL,
            is_repeated=action.nargs in _REPEATED,
        )


def _global_option(option: GlobalArgument) -> ArgumentText:
    names = (option.short_option, option.long_option)
    return ArgumentText(
        names=tuple(name for name in names if name),
        metavar="" if option.type == "flag" else option.name.upper(),
        choices=tuple(option.choices or ()),
        text=option.help_message,
        is_optional=False,
        is_repeated=False,
    )


def help_text(arguments: Sequence[str]) -> str | None:
    """Return the help that a command line asks for; craft-cli's leaves values out.

    :param arguments: of a command line that asks for help.
    :returns: None if it is wanted in another format.
    """
    if any(each.startswith("--format") for each in arguments):
        return None
    names = command_names()
    name = next((each for each in arguments if each in names), None)
    if name is None:
        return _program_help(in_full="--all" in arguments)
    return _command_help(name, in_full="-h" not in arguments)


def _program_help(*, in_full: bool) -> str:
    """Return what the program does, its commands, and its options.

    :param in_full: whether to show the commands that few people need as well.
    """
    summaries = {
        name: text for group in COMMANDS.values() for name, (_, text) in group.items()
    }
    others = sorted(
        name
        for name in summaries
        if name not in FIRST and (in_full or name not in UNCOMMON)
    )
    see = "" if in_full else f" '{APP_NAME} help --all' lists all commands."
    blocks = [
        f"Usage: {APP_NAME} [PATH]    {APP_NAME} COMMAND [OPTION]…",
        _filled(SUMMARY),
        "\n".join(_line(name, summaries[name]) for name in FIRST),
        "\n".join(_line(name, summaries[name]) for name in others),
        _filled(
            "Of every command: -h for its usual options, --help for all, -v for "
            f"details, -q for no progress.{see}"
        ),
    ]
    return "\n\n".join(blocks) + "\n"


def _line(name: str, text: str) -> str:
    return f"{_INDENT}{name:{_NAME_COLUMNS}}{text}"


def _command_help(name: str, *, in_full: bool) -> str:
    """Return a command's help.

    :param in_full: whether to show all of its options rather than the usual ones.
    """
    groups = command_groups(["--help", name])
    group = next(each for each in groups if name in _names(each))
    found = next(each for each in group.commands if each.name == name)
    command = _text(found, group.name)
    named = [each for each in command.arguments if not each.names]
    options = [each for each in command.arguments if each.names]
    usual = [each for each in options if USUAL.intersection(each.names)]
    if not in_full and len(options) > _MOST_OPTIONS:
        return "\n\n".join(
            (
                f"Usage: {command.usage}",
                *_list("Arguments:", named),
                "\n".join(("Usual options:", *map(_short, usual))),
                f"All options: {APP_NAME} {name} --help\n",
            )
        )
    see = ", ".join(each for each in _names(group) if each != name)
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


def _names(group: CommandGroup) -> list[str]:
    return [each.name for each in group.commands]


def _list(heading: str, arguments: Sequence[ArgumentText]) -> Iterator[str]:
    lines = [line for each in arguments for line in _item(each)]
    if lines:
        yield "\n".join((heading, *lines))


def _item(argument: ArgumentText) -> Iterator[str]:
    yield f"{_INDENT}{', '.join(argument.labels)}"
    yield _filled(argument.text, indent=_TEXT_INDENT)


def _short(argument: ArgumentText) -> str:
    """Return an option in a line or two: what it does, without conditions."""
    text = re.split(r"[;:(]|\. ", argument.text)[0].strip(" ,")
    label = f"{_INDENT}{', '.join(argument.labels)}"
    return textwrap.fill(
        text,
        shutil.get_terminal_size().columns,
        initial_indent=f"{label:{_LABEL_COLUMNS}} ",
        subsequent_indent=" " * (_LABEL_COLUMNS + 1),
    )


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
