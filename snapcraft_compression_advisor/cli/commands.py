"""The program: its name, its commands, its general options.

Each command is imported only where it is run: imports cost a third of a lint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module

from craft_cli import BaseCommand, CommandGroup, Dispatcher, GlobalArgument

APP_NAME = "compression-advisor"
SUMMARY = (
    "Advises which compression suits a snap, with evidence: the image's size with "
    "every codec, what a cold launch reads, and what that costs."
)
_GENERAL_OPTIONS = [
    GlobalArgument("version", "flag", "-V", "--version", "Show the version and exit"),
]

_MODULES: Mapping[str, Mapping[str, str]] = {
    "Compression": {
        "advise": "advise.AdviseCommand",
        "diff": "diff.DiffCommand",
        "prefetch": "prefetch.PrefetchCommand",
        "refresh": "refresh.RefreshCommand",
        "report": "report.ReportCommand",
        "set": "edits.SetCommand",
        "trim": "trim.TrimCommand",
    },
    "Lint": {"lint": "lint.LintCommand", "rule": "listings.RuleCommand"},
    "Launch": {
        "launch-set": "launch_set.LaunchSetCommand",
        "record": "record.RecordCommand",
        "measure": "measure.MeasureCommand",
    },
    "Device": {
        "calibrate": "calibrate.CalibrateCommand",
        "devices": "listings.DevicesCommand",
    },
    "Fleet": {
        "fleet": "fleet.FleetCommand",
        "fleet-report": "fleet_report.FleetReportCommand",
        "fleet-query": "fleet_query.FleetQueryCommand",
        "fleet-lint": "fleet_lint.FleetLintCommand",
    },
    "Formats": {"schema": "schema.SchemaCommand"},
}
"""By group and command name, the module beside this one and its class."""

_PARTED = frozenset({("fleet", "report"), ("fleet", "query"), ("fleet", "lint")})
"""Names that may be written as two words."""

WORD_OPTION = "--command-word"
WORD_MARK = "\0"
"""Before a word, which can't hold it: argparse would drop the word ``--``."""

_HELP = frozenset({"-h", "--help"})


def command_groups(arguments: Sequence[str]) -> list[CommandGroup]:
    """Return the command that is asked for, in its group; else all of them.

    :param arguments: of the command line. Help shows all commands, so it gets them.
    """
    names = {name for commands in _MODULES.values() for name in commands}
    first = arguments[0] if arguments else ""
    wanted = {first} & names if _HELP.isdisjoint(arguments) else set()
    return [
        CommandGroup(group, found)
        for group, commands in _MODULES.items()
        if (
            found := [
                _command(place)
                for name, place in commands.items()
                if name in (wanted or names)
            ]
        )
    ]


def joined(arguments: Sequence[str]) -> list[str]:
    """Return a command line whose command is one word: ``fleet-report``.

    A source named ``report`` is written ``./report``.
    """
    first, rest = tuple(arguments[:2]), list(arguments[2:])
    return ["-".join(first), *rest] if first in _PARTED else list(arguments)


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
