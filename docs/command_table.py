"""The commands and their arguments as values, which pages are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.cli.command_texts import (
    command_parser,
    command_usage,
    general_parser,
)
from snapcraft_compression_advisor.cli.commands import COMMANDS, load_command

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentText:
    """An option, or an argument by its place, which has no names.

    :ivar metavar: what stands for its value; empty for a flag.
    """

    names: tuple[str, ...]
    metavar: str
    text: str
    choices: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Its names, the last one with the value that it takes."""
        if not self.names or not self.metavar:
            return self.names or (self.metavar,)
        return (*self.names[:-1], f"{self.names[-1]} {self.metavar}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandText:
    """A command and its arguments, those by place first."""

    name: str
    summary: str
    overview: str
    usage: str
    arguments: tuple[ArgumentText, ...]


def read_commands() -> tuple[CommandText, ...]:
    """Return every command in the order of the program's help."""
    return tuple(
        CommandText(
            name=command.name,
            summary=command.help_msg,
            overview=command.overview,
            usage=command_usage(command),
            arguments=tuple(_arguments(command_parser(command))),
        )
        for command in map(load_command, COMMANDS)
    )


def read_global_options() -> tuple[ArgumentText, ...]:
    """Return the options that every command takes."""
    return tuple(_arguments(general_parser()))


def _arguments(parser: argparse.ArgumentParser) -> Iterator[ArgumentText]:
    actions = parser._actions  # noqa: SLF001 # argparse has no other way
    for action in sorted(actions, key=lambda each: bool(each.option_strings)):
        yield ArgumentText(
            names=tuple(action.option_strings),
            metavar="" if action.nargs == 0 else str(action.metavar),
            choices=tuple(map(str, action.choices or ())),
            text=action.help or "",
        )
