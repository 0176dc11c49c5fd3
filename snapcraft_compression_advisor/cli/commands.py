"""The program's commands, their arguments as data, and its command line.

A command is imported only if it is run or its help is shown: imports cost a third of a
lint. So the table has each command's summary.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from craft_cli import BaseCommand, CommandGroup, Dispatcher, GlobalArgument

from ..core.errors import UsageError

APP_NAME = "compression-advisor"
SUMMARY = (
    "Advises which compression suits a snap, with evidence: the download's size with "
    "every codec, what a cold start reads, and what that costs."
)
COMMANDS: Mapping[str, tuple[str, str]] = {
    "advise": ("advise", "Advise which compression suits a snap"),
    "lint": ("lint", "Check snaps for what makes them slow or large"),
    "record": ("record", "Record what a start of an app reads"),
    "trim": ("trim", "List files that a snap can do without"),
    "diff": ("builds", "Compare two builds: image, files, cold starts"),
    "calibrate": ("measure", "Measure this machine and write a device profile"),
    "devices": ("listings", "List the built-in device profiles and their sources"),
    "fleet": ("fleet", "Analyse many built snaps into one data set"),
    "fleet lint": ("fleet", "Check a fleet: snaps over budget, regressions"),
    "fleet query": ("fleet", "Query a fleet's data set in SQL"),
    "fleet report": ("fleet", "Make a page of a fleet's data set"),
    "measure": ("measure", "Measure cold and warm starts with every codec"),
    "refresh": ("builds", "Estimate what users download with a new build"),
    "rule": ("listings", "Explain a rule of 'lint', or list all"),
    "launch-set": ("launch_set", "Guess from a snap's files what a start reads"),
    "schema": ("listings", "Print the JSON Schema of a file"),
    "set": ("edits", "Set the compression in a project's snapcraft.yaml"),
}
"""By name, in the order of the program's help: the module, and what it does."""

FIRST = 5
"""Number of commands at the beginning of the program's help."""
UNCOMMON = frozenset({"launch-set", "schema", "set"})
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
    end = after.index("--") if after[0] in _STARTING and "--" in after else len(after)
    wanted = [each for each in after[:end] if each in ("-h", "--help")]
    if wanted and after[0] in COMMANDS:  # also behind a path and other options
        return [*before, after[0], wanted[0]]
    if end < len(after):
        after[end:] = [f"{WORD_OPTION}={WORD_MARK}{word}" for word in after[end + 1 :]]
    return [*before, *after]


def command_named(arguments: Sequence[str]) -> str | None:
    """Return the name of the command in a command line, split as above."""
    return next((each for each in arguments if each in COMMANDS), None)


def load_command(name: str) -> type[Command]:
    """Return a command's class, imported."""
    module = import_module(f"snapcraft_compression_advisor.cli.{COMMANDS[name][0]}")
    classes = (each for each in vars(module).values() if isinstance(each, type))
    commands = (each for each in classes if issubclass(each, Command))
    return next(each for each in commands if getattr(each, "name", None) == name)


def make_dispatcher(loaded: str | None) -> Dispatcher:
    """Return the parser of the command line, with one command imported."""
    commands = [
        load_command(name) if name == loaded else _summary(name, text)
        for name, (_, text) in COMMANDS.items()
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


def _summary(name: str, text: str) -> type[BaseCommand]:
    members = {"name": name, "help_msg": text, "overview": text}
    return type("Summary", (BaseCommand,), {**members, "common": name not in UNCOMMON})


_T = TypeVar("_T")

Arguments = Mapping[str, "str | Mapping[str, Any]"]
"""Arguments as :func:`add_arguments` takes them."""

PAYLOAD_DEFAULT = "'prime', else the only .snap, in the current directory"
"""What ``find_payload`` finds."""

_PATHS = "DATASET DIR FILE LOG NEW OLD PATH PROJECT_DIR RECORDED SNAP"
"""Values that are paths."""
_COUNTS = {"": None, "[": "?", "…": "+", "[…": "*"}


def quantity(parse: Callable[[object], _T]) -> Callable[[str], _T]:
    """Return the reader of an option that is written as in settings.

    :param parse: raises ``ValueError``, of which argparse wouldn't show the message.
    """

    def read(text: str) -> _T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def whole_number(*, least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the reader of a whole number."""
    limits = f"{least} on" if most is None else f"{least} to {most}"

    def parse(text: object) -> int:
        number = int(str(text)) if str(text).isascii() and str(text).isdecimal() else -1
        if number < least or (most is not None and number > most):
            message = f"{text!r} is not a whole number from {limits}"
            raise ValueError(message)
        return number

    return quantity(parse)


def details(text: str, **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 # argparse's own
    """Return an argument's help, and its keywords for argparse.

    :param text: ends with the default if that isn't among the keywords.
    """
    default = more.get("default")
    if "(default: " not in text and default not in (None, []):
        shown = f"{default:g}" if isinstance(default, float) else default
        text = f"{text} (default: {shown})"
    return {"help": text, **more}


def add_arguments(parser: argparse.ArgumentParser, arguments: Arguments) -> None:
    """Add arguments.

    :param arguments: what each does, by how help shows it: the flag ``--diff``, the
        option ``-o, --output FILE``, ``--app NAME…`` that may be repeated. Those by
        their place: ``OLD``, ``[PATH]`` that may be left out, ``FILE…``, ``[PATH…]``.
    """
    for usage, text in arguments.items():
        words = usage.replace(",", "").split()
        names = [word for word in words if word.startswith("-")]
        value = "".join(words[len(names) :])
        metavar = value.strip("[]…")
        keywords: dict[str, Any] = {"metavar": metavar} if metavar else {}
        if metavar in _PATHS.split():
            keywords["type"] = Path
        if names and value.endswith("…"):
            keywords |= {"action": "append", "default": []}
        elif value != metavar:
            keywords["nargs"] = _COUNTS["".join(each for each in "[…" if each in value)]
        elif not metavar:
            choices = "|".join(() if isinstance(text, str) else text.get("choices", ()))
            keywords = {"metavar": choices} if choices else {"action": "store_true"}
        keywords |= {"help": text} if isinstance(text, str) else text
        parser.add_argument(*(names or [metavar.lower()]), **keywords)


def given_options(
    arguments: Arguments, parsed_args: argparse.Namespace
) -> Iterator[tuple[str, ...]]:
    """Yield the options that were given, as the words that give each again."""
    for usage in arguments:
        flag = usage.split()[0]
        name = flag.removeprefix("--no-").lstrip("-").replace("-", "_")
        value = getattr(parsed_args, name, None)
        if isinstance(value, bool):
            if value is not flag.startswith("--no-"):
                yield (flag,)
        elif value is not None:
            for each in value if isinstance(value, list) else [value]:
                yield flag, str(each)


def exclude(
    given: Mapping[str, object], resolution: str = "Leave out one of the two."
) -> None:
    """Refuse two arguments, by what the user calls them, that both have a value."""
    if all(given.values()):
        message = f"Both {' and '.join(given)} are given"
        raise UsageError(message, resolution=resolution)


PATH: Arguments = {
    "[PATH]": f"a prime directory or a .snap (default: {PAYLOAD_DEFAULT})"
}
EDITS: Arguments = {
    "--fix": "make the change in the project's snapcraft.yaml, and print the report",
    "--diff": "print the change as a patch instead of the report; nothing is changed",
}
"""What every command takes that can change snapcraft.yaml."""


def check_edit_options(parsed_args: argparse.Namespace) -> None:
    """Refuse to make a change and to show it only."""
    exclude(
        {"--fix": parsed_args.fix, "--diff": parsed_args.diff},
        "Use --diff to see the change, --fix to make it.",
    )


REPORT: Arguments = {
    "--report FILE": "also write a page to this file: .html (self-contained) or .md "
    "(default: none)"
}
FORMATS = ("text", "json", "markdown")


def output_arguments(
    formats: Iterable[str] = FORMATS, *, text: str = "the report"
) -> Arguments:
    """Return ``--format`` of what a command prints, and ``-o``."""
    what = f"output format of {text}"
    return {
        "--format": details(what, choices=tuple(formats), default="text"),
        "-o, --output FILE": f"write {text} to this file (default: the standard "
        "output)",
    }


def stack_arguments(default: str) -> Arguments:
    """Return the options that name the snaps that a snap runs with."""
    return {
        "--base SNAP…": "the base snap, or its directory; may be repeated: each snap "
        f"uses its own (default: {default})",
        "--content SNAP…": "a content snap that a plug asks for, or its directory; may "
        f"be repeated (default: {default})",
    }


class Command(BaseCommand):
    """A command whose arguments are data, and whose summary is in the table."""

    arguments: ClassVar[Arguments] = {}

    def __init_subclass__(cls) -> None:
        """Take the summary that the table of commands has."""
        cls.common = cls.name not in UNCOMMON
        cls.help_msg = COMMANDS[cls.name][1]

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_arguments(parser, self.arguments)
