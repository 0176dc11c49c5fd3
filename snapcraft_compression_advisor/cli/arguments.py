"""Arguments of commands, as data, and those that several have."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from craft_cli import BaseCommand

from .commands import COMMANDS, UNCOMMON

_T = TypeVar("_T")

Arguments = Mapping[str, "str | Mapping[str, Any]"]
"""Arguments as :func:`add_arguments` takes them."""

PAYLOAD_DEFAULT = "'prime', else the only .snap, in the current directory"
"""What ``find_payload`` finds."""


def quantity(parse: Callable[[object], _T]) -> Callable[[str], _T]:
    """Return what reads an option that is written as in a policy.

    :param parse: raises ``ValueError``, of which argparse wouldn't show the message.
    """

    def read(text: str) -> _T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def whole_number(*, least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads an option that is a whole number.

    :param most: of it; ``None`` for any.
    """
    limits = f"{least} on" if most is None else f"{least} to {most}"

    def read(text: str) -> int:
        number = int(text) if text.isascii() and text.isdecimal() else -1
        if number < least or (most is not None and number > most):
            message = f"{text!r} is not a whole number from {limits}"
            raise argparse.ArgumentTypeError(message)
        return number

    return read


_PATHS = "DIR FILE LOG NEW OLD PATH PAYLOAD PROJECT_DIR RECORDED SNAP"
"""Values that are paths."""
_COUNTS = {"": None, "[": "?", "…": "+", "[…": "*"}


def details(text: str, **more: Any) -> Mapping[str, Any]:  # noqa: ANN401 # argparse's own
    """Return what an argument does, and what else argparse has to know of it."""
    return {"help": text, **more}


def add_arguments(parser: argparse.ArgumentParser, arguments: Arguments) -> None:
    """Add arguments.

    :param arguments: what each does, by how help shows it: the flag ``--dry-run``,
        the option ``-o, --output FILE``, ``--app NAME…`` that may be repeated. Those
        by their place: ``OLD``, ``[PATH]`` that may be left out, ``FILE…``,
        ``[PATH…]``.
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


PATH: Arguments = {
    "[PATH]": f"a prime directory or a .snap (default: {PAYLOAD_DEFAULT})"
}
"""The payload to look at."""


def format_argument(formats: Iterable[str], *, text: str = "the report") -> Arguments:
    """Return ``--format``, which has text where none is named.

    :param text: what is formatted, for the help.
    """
    said = f"output format of {text} (default: text)"
    return {"--format": details(said, choices=tuple(formats), default="text")}


def output_argument(
    *, text: str = "the report", default: str = "the standard output"
) -> Arguments:
    """Return ``-o``.

    :param text: what is written, for the help.
    :param default: where it goes if not into a file.
    """
    return {"-o, --output FILE": f"write {text} to this file (default: {default})"}


class Command(BaseCommand):
    """A command whose arguments are data, and whose summary is in the list."""

    arguments: ClassVar[Arguments] = {}

    def __init_subclass__(cls) -> None:
        """Take the summary that the list of commands has."""
        groups = COMMANDS.values()
        cls.common = cls.name not in UNCOMMON
        cls.help_msg = next(each[cls.name][1] for each in groups if cls.name in each)

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_arguments(parser, self.arguments)
