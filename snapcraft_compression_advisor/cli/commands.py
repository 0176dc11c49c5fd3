"""The program's commands, and its command line before argparse reads it.

A command is imported only if it is run or its help is shown: imports cost a third of a
lint. So the table has each command's summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from craft_cli import BaseCommand, CommandGroup, Dispatcher, GlobalArgument

APP_NAME = "compression-advisor"
SUMMARY = (
    "Advises which compression suits a snap, with evidence: the download's size with "
    "every codec, what a cold start reads, and what that costs."
)
COMMANDS: Mapping[str, tuple[str, str]] = {
    "advise": ("advise", "Advise which compression suits a snap"),
    "lint": ("lint", "Check snaps for what makes them slow or large"),
    "record": ("record", "Record which data blocks a launch reads"),
    "trim": ("trim", "List files that a snap needn't ship, as filters"),
    "diff": ("builds", "Compare two builds: image, files, cold launches"),
    "calibrate": ("calibrate", "Measure this machine and write a device profile"),
    "devices": ("listings", "List the built-in device profiles and their sources"),
    "fleet": ("fleet", "Analyse many built snaps into one data set"),
    "fleet lint": ("fleet", "Check a fleet: snaps over budget, regressions"),
    "fleet query": ("fleet", "Query a fleet's data set in SQL"),
    "fleet report": ("fleet", "Make a page of a fleet's data set"),
    "measure": ("measure", "Measure cold and warm launches with every codec"),
    "refresh": ("builds", "Estimate what users download with a new build"),
    "rule": ("listings", "Explain a rule of 'lint', or list all"),
    "launch-set": ("launch_set", "Guess from files which data blocks a launch reads"),
    "prefetch": ("prefetch", "Make a program that reads ahead what a launch reads"),
    "schema": ("listings", "Print the JSON Schema of a file"),
    "set": ("edits", "Set the compression in a project's snapcraft.yaml"),
}
"""By name, in the order of the program's help: the module, and what it does."""

FIRST = 5
"""Number of commands at the beginning of the program's help."""
UNCOMMON = frozenset({"launch-set", "prefetch", "schema", "set"})
"""Only the list of all commands has these."""

WORD_OPTION = "--command-word"
WORD_MARK = "\0"
"""Before a word, which can't hold it: argparse would drop the word ``--``."""

_STARTING = frozenset({"measure", "record"})
_GENERAL_OPTIONS = [
    GlobalArgument("version", "flag", "-V", "--version", "Show the version and exit"),
    GlobalArgument(
        "no_cache",
        "flag",
        None,
        "--no-cache",
        "Neither use nor keep results of earlier runs; the answers are the same",
    ),
]


def split_command(arguments: Sequence[str]) -> list[str]:
    """Return a command line whose command is one argument of it, such as 'fleet lint'.

    A path alone asks for advice. Words after ``--`` become an option each; else the
    general options would be taken out of them as well.
    """
    place = next(
        (n for n, it in enumerate(arguments) if it != "help" and it[:1] != "-"), None
    )
    if place is None:
        return list(arguments)
    before, after = [*arguments[:place]], [*arguments[place:]]
    if (pair := " ".join(after[:2])) in COMMANDS:
        after[:2] = [pair]
    elif after[0] not in COMMANDS and "help" not in before and Path(after[0]).exists():
        after.insert(0, "advise")
    if after[0] in _STARTING and "--" in after:
        end = after.index("--")
        after[end:] = [f"{WORD_OPTION}={WORD_MARK}{word}" for word in after[end + 1 :]]
    return [*before, *after]


def command_named(arguments: Sequence[str]) -> str | None:
    """Return the name of the command in a command line, split as above."""
    return next((each for each in arguments if each in COMMANDS), None)


def load_command(name: str) -> type[BaseCommand]:
    """Return a command's class, imported."""
    module = import_module(f"snapcraft_compression_advisor.cli.{COMMANDS[name][0]}")
    classes = (each for each in vars(module).values() if isinstance(each, type))
    return next(
        each
        for each in classes
        if issubclass(each, BaseCommand) and getattr(each, "name", None) == name
    )


def make_dispatcher(loaded: str | None) -> Dispatcher:
    """Return what parses the command line, with one command imported."""
    commands = [
        load_command(name) if name == loaded else _summary(name, said)
        for name, (_, said) in COMMANDS.items()
    ]
    dispatcher = Dispatcher(
        APP_NAME,
        [CommandGroup("Commands", commands)],
        summary=SUMMARY,
        extra_global_args=_GENERAL_OPTIONS,
    )
    dispatcher.global_arguments = [
        replace(each, help_message=f"{each.help_message} (default: brief)")
        if each.name == "verbosity"
        else each
        for each in dispatcher.global_arguments
    ]
    return dispatcher


def _summary(command_name: str, said: str) -> type[BaseCommand]:
    class Summary(BaseCommand):
        name = command_name
        help_msg = said
        overview = said
        common = command_name not in UNCOMMON

    return Summary
