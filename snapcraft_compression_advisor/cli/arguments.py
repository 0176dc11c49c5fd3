"""Arguments that several commands have."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_T = TypeVar("_T")

STANDARD_OUTPUT = "the standard output"
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


def add_path_argument(parser: argparse.ArgumentParser) -> None:
    """Add the payload to look at, which may be left out."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        type=Path,
        help=f"a prime directory or a .snap (default: {PAYLOAD_DEFAULT})",
    )


def add_format_argument(
    parser: argparse.ArgumentParser, formats: Iterable[str], *, text: str = "the report"
) -> None:
    """Add ``--format``, which has text where none is named.

    :param text: what is formatted, for the help.
    """
    parser.add_argument(
        "--format",
        choices=tuple(formats),
        default="text",
        help=f"output format of {text} (default: text)",
    )


def add_output_argument(
    parser: argparse.ArgumentParser,
    *,
    text: str = "the report",
    default: str = STANDARD_OUTPUT,
) -> None:
    """Add ``-o``.

    :param text: what is written, for the help.
    :param default: where it goes if not into a file.
    """
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help=f"write {text} to this file (default: {default})",
    )
