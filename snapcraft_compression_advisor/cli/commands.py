"""The program: its name, its commands, its general options.

Each command is imported only where it is run, or its own help is shown: imports cost a
third of a lint. So what it does is said here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from craft_cli import BaseCommand, CommandGroup, Dispatcher, GlobalArgument

APP_NAME = "compression-advisor"
FIRST = ("advise", "lint", "record", "trim", "diff")
"""Commands that the program's help shows first, in this order."""
SUMMARY = (
    "Advises which compression suits a snap, with evidence: the download's size with "
    "every codec, what a cold start reads, and what that costs."
)
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

COMMANDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Compression": {
        "advise": (
            "advise.AdviseCommand",
            "Advise which compression suits a prime directory or a built snap",
        ),
        "diff": (
            "diff.DiffCommand",
            "Compare two builds of a snap: image, files, cold launches",
        ),
        "prefetch": (
            "prefetch.PrefetchCommand",
            "Read ahead what a launch reads, by a program in the command-chain",
        ),
        "refresh": (
            "refresh.RefreshCommand",
            "Estimate what users download when a new build comes out",
        ),
        "set": (
            "edits.SetCommand",
            "Set the compression in a project's snapcraft.yaml",
        ),
        "trim": (
            "trim.TrimCommand",
            "List files that a snap needn't ship, as filters for snapcraft.yaml",
        ),
    },
    "Lint": {
        "lint": (
            "lint.LintCommand",
            "Check prime directories or built snaps for what makes them slow or large",
        ),
        "rule": (
            "listings.RuleCommand",
            "Explain a rule of 'lint', or list all",
        ),
    },
    "Launch": {
        "launch-set": (
            "launch_set.LaunchSetCommand",
            "Guess from files alone which data blocks a launch reads",
        ),
        "record": (
            "record.RecordCommand",
            "Record which data blocks a launch reads, for advise and measure",
        ),
        "measure": (
            "measure.MeasureCommand",
            "Measure cold and warm launches with every codec",
        ),
    },
    "Device": {
        "calibrate": (
            "calibrate.CalibrateCommand",
            "Measure this machine and write a device profile",
        ),
        "devices": (
            "listings.DevicesCommand",
            "List the built-in device profiles and the sources of their figures",
        ),
    },
    "Fleet": {
        "fleet": (
            "fleet.FleetCommand",
            "Analyse many built snaps into one data set",
        ),
        "fleet-report": (
            "fleet_report.FleetReportCommand",
            "Make a page of a fleet's data set",
        ),
        "fleet-query": (
            "fleet_query.FleetQueryCommand",
            "Ask a fleet's data set in SQL",
        ),
        "fleet-lint": (
            "fleet_lint.FleetLintCommand",
            "Check a fleet's data set: share of snaps over budget, regressions",
        ),
    },
    "Formats": {
        "schema": (
            "schema.SchemaCommand",
            "Print the JSON Schema of a file that is read or written",
        ),
    },
}
"""By group and name: the module beside this one with its class; what it does."""

UNCOMMON = frozenset({"launch-set", "prefetch", "schema", "set"})
"""Only the list of all commands has these."""

_PARTED = frozenset({("fleet", "report"), ("fleet", "query"), ("fleet", "lint")})
"""Names that may be written as two words."""

WORD_OPTION = "--command-word"
WORD_MARK = "\0"
"""Before a word, which can't hold it: argparse would drop the word ``--``."""

_HELP = frozenset({"-h", "--help"})


def command_groups(arguments: Sequence[str]) -> list[CommandGroup]:
    """Return the command that is asked for, in its group; else all of them.

    What the command line doesn't name isn't imported: it has only what help shows.

    :param arguments: of the command line. Help shows all commands, so it gets them.
    """
    first = arguments[0] if arguments else ""
    alone = first in command_names() and _HELP.isdisjoint(arguments)
    named = {first} if alone else {*arguments}
    return [
        CommandGroup(group, found)
        for group, commands in COMMANDS.items()
        if (
            found := [
                _command(place) if name in named else _summary(name, said)
                for name, (place, said) in commands.items()
                if name in named or not alone
            ]
        )
    ]


def every_command() -> list[CommandGroup]:
    """Return all commands, imported."""
    return command_groups(["--help", *command_names()])


def command_names() -> frozenset[str]:
    """Return the names of all commands."""
    return frozenset(name for commands in COMMANDS.values() for name in commands)


def joined(arguments: Sequence[str]) -> list[str]:
    """Return a command line whose command is one word: ``fleet-report``.

    A source named ``report`` is written ``./report``.
    """
    first, rest = tuple(arguments[:2]), list(arguments[2:])
    return ["-".join(first), *rest] if first in _PARTED else list(arguments)


def with_command(arguments: Sequence[str]) -> list[str]:
    """Return a command line that has a command: a path alone asks for advice."""
    place = next((n for n, it in enumerate(arguments) if not it.startswith("-")), None)
    if place is None or arguments[place] in {*command_names(), "help"}:
        return list(arguments)
    if not Path(arguments[place]).exists():
        return list(arguments)
    return [*arguments[:place], "advise", *arguments[place:]]


def make_dispatcher(groups: Sequence[CommandGroup]) -> Dispatcher:
    """Return what parses the command line for these commands."""
    dispatcher = Dispatcher(
        APP_NAME, [*groups], summary=SUMMARY, extra_global_args=_GENERAL_OPTIONS
    )
    dispatcher.global_arguments = [
        replace(each, help_message=f"{each.help_message} (default: brief)")
        if each.name == "verbosity"
        else each
        for each in dispatcher.global_arguments
    ]
    return dispatcher


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


def _command(place: str) -> type[BaseCommand]:
    module, _, name = place.partition(".")
    loaded = import_module(f"snapcraft_compression_advisor.cli.{module}")
    command: type[BaseCommand] = getattr(loaded, name)
    return command


def _summary(command_name: str, said: str) -> type[BaseCommand]:
    class Summary(BaseCommand):
        name = command_name
        help_msg = said
        overview = said
        common = command_name not in UNCOMMON

    return Summary
