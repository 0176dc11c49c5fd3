"""The commands as a page of reference in Markdown, and as a manual page."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from command_table import (
    read_commands,
    read_global_options,
)
from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.cli.commands import APP_NAME, SUMMARY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from command_table import ArgumentText

_COLUMNS = 88
_NAME = "which squashfs compression suits a snap"
_STATUSES = (
    ("0", "no error; lint found nothing at least as severe as --fail-on"),
    ("1", "lint found something at least as severe as that"),
    ("64", "usage"),
    ("65", "bad data"),
    ("66", "no input"),
    ("69", "a tool or a library is missing or fails"),
    ("70", "an error of the program itself"),
    ("74", "reading or writing fails"),
    ("128 + N", "ended by signal N"),
)
_FILES = (
    ("compression-advisor.yaml", "what the project asks for"),
    (
        "snapcraft.yaml",
        "changed by set, and by --fix of advise, lint and trim",
    ),
)


def render_command_reference() -> str:
    """Return the page on all commands, in Markdown."""
    blocks = [
        "# Commands",
        _filled(SUMMARY),
        "[The glossary](../glossary.md) explains the terms.",
        "Every command takes these options:",
        _table(read_global_options()),
    ]
    shared = _shared_options()
    for command in read_commands():
        blocks += [f"## {command.name}", f"{command.summary}."]
        blocks += [f"    {command.usage}"]
        blocks += [_filled(part) for part in command.overview.split("\n\n")]
        if own := [each for each in command.arguments if each not in shared]:
            blocks.append(_table(own))
        if others := [each for each in command.arguments if each in shared]:
            names = ", ".join(f"`{each.names[-1]}`" for each in others)
            blocks.append(_filled(f"[Shared options](#shared-options): {names}."))
    blocks += ["## Shared options", _table(shared)]
    rows = (f"| {status} | {text} |" for status, text in _STATUSES)
    blocks += [
        "## Exit status",
        "The statuses from 64 to 78 are those of sysexits.",
        "\n".join(("| status | meaning |", "|---|---|", *rows)),
    ]
    return "\n\n".join(blocks) + "\n"


def render_man_page() -> str:
    """Return the manual page, as roff with the macros of man(7)."""
    title = f'.TH {APP_NAME.upper()} 1 "" "{APP_NAME} {__version__}" "User Commands"'
    lines = [title, ".SH NAME", rf"{_roff(APP_NAME)} \- {_NAME}", ".SH SYNOPSIS"]
    for command in read_commands():
        _, _, rest = command.usage.partition(f"{APP_NAME} ")
        lines += [".B " + _roff(APP_NAME), _line(rest), ".br"]
    lines[-1:] = [".SH DESCRIPTION", _line(SUMMARY), ".SH OPTIONS OF EVERY COMMAND"]
    lines += _roff_list(read_global_options())
    lines.append(".SH COMMANDS")
    for command in read_commands():
        lines.append(f'.SS "{_roff(command.name)}"')
        for part in command.overview.split("\n\n"):
            lines += [".PP", _line(part)]
        lines += _roff_list(command.arguments)
    for heading, rows in (("EXIT STATUS", _STATUSES), ("FILES", _FILES)):
        lines.append(f".SH {heading}")
        for term, text in rows:
            lines += [".TP", rf"\fB{_roff(term)}\fR", _line(text)]
    lines += [".SH SEE ALSO", r"\fBmksquashfs\fR(1), \fBsnap\fR(8)"]
    return "\n".join(lines) + "\n"


def _shared_options() -> Sequence[ArgumentText]:
    """Return the options that are the same in several commands."""
    count = Counter(
        each for command in read_commands() for each in command.arguments if each.names
    )
    return [each for each, commands in count.items() if commands > 1]


def _table(arguments: Sequence[ArgumentText]) -> str:
    rows = (
        f"| {', '.join(f'`{_cell(label)}`' for label in argument.labels)} "
        f"| {_cell(argument.text)} |"
        for argument in arguments
    )
    return "\n".join(("| argument | what it is |", "|---|---|", *rows))


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*") if "`" not in text else text


def _roff_list(arguments: Sequence[ArgumentText]) -> Iterator[str]:
    for argument in arguments:
        labels = ", ".join(rf"\fB{_roff(label)}\fR" for label in argument.labels)
        yield from (".TP", labels, _line(argument.text))


def _line(text: str) -> str:
    """Return a text as one input line that is no request."""
    escaped = _roff(" ".join(text.split()))
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", r"\&...")
    return re.sub(r"'", r"\(aq", escaped)


def _filled(text: str) -> str:
    return textwrap.fill(text, _COLUMNS, break_on_hyphens=False, break_long_words=False)
