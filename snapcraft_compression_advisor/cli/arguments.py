"""Arguments of commands, as data, and those that several have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from craft_cli import BaseCommand

from ..core.errors import UsageError
from .commands import COMMANDS, UNCOMMON

_T = TypeVar("_T")

Arguments = Mapping[str, "str | Mapping[str, Any]"]
"""Arguments as :func:`add_arguments` takes them."""

PAYLOAD_DEFAULT = "'prime', else the only .snap, in the current directory"
"""What ``find_payload`` finds."""

_PATHS = "DATASET DIR FILE LOG NEW OLD PATH PROJECT_DIR RECORDED SNAP"
"""Values that are paths."""
_COUNTS = {"": None, "[": "?", "…": "+", "[…": "*"}


def quantity(parse: Callable[[object], _T]) -> Callable[[str], _T]:
    """Return the reader of an option that is written as in a policy.

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
    """Return what an argument does, and its keywords for argparse.

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
    for usage, said in arguments.items():
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
        elif not metavar and "choices" not in said:
            keywords["action"] = "store_true"
        keywords |= {"help": said} if isinstance(said, str) else said
        parser.add_argument(*(names or [metavar.lower()]), **keywords)


def exclude(
    given: Mapping[str, object], resolution: str = "Leave out one of the two."
) -> None:
    """Refuse arguments that exclude each other.

    :param given: values of two, by what the user calls them.
    :raises UsageError: if both have one.
    """
    if all(given.values()):
        message = f"Both {' and '.join(given)} are given"
        raise UsageError(message, resolution=resolution)


PATH: Arguments = {
    "[PATH]": f"a prime directory or a .snap (default: {PAYLOAD_DEFAULT})"
}
EDITS: Arguments = {
    "--fix": "make the change in the project's snapcraft.yaml, and report",
    "--diff": "print the change as a patch instead of the report, and make none",
}
"""What every command takes that can change snapcraft.yaml."""
REPORT: Arguments = {
    "--report FILE": "also write a page to this file: .html (self-contained) or .md "
    "(default: none)"
}
FORMATS = ("text", "json", "markdown")


def output_arguments(
    formats: Iterable[str] = FORMATS, *, text: str = "the report"
) -> Arguments:
    """Return ``--format`` of what a command prints, and ``-o``."""
    said = f"output format of {text}"
    return {
        "--format": details(said, choices=tuple(formats), default="text"),
        "-o, --output FILE": f"write {text} to this file (default: the standard "
        "output)",
    }


def stack_arguments(default: str) -> Arguments:
    """Return the options that name the snaps that a snap runs with.

    :param default: which are taken if none is named.
    """
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
