"""The terminal: craft-cli's emitter, which gets all messages from here.

A message may quote a name, and a name may hold anything.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from copy import copy
from typing import Any

import craft_cli

from .printable import safe_line, safe_text


class Terminal:
    """The process's emitter, which is given only text that is safe to show."""

    def progress(self, text: str, *, permanent: bool = False) -> None:
        """Show what is done, in one line."""
        craft_cli.emit.progress(safe_line(text), permanent=permanent)

    def verbose(self, text: str) -> None:
        """Show a line with ``-v``."""
        craft_cli.emit.verbose(safe_line(text))

    def debug(self, text: str) -> None:
        """Show what helps to find a fault."""
        craft_cli.emit.debug(safe_text(text))

    def message(self, text: str) -> None:
        """Show a result on the standard output."""
        craft_cli.emit.message(safe_text(text))

    def error(self, error: craft_cli.CraftError) -> None:
        """Show an error and end the emitter; causes are for those with ``-vv``."""
        if error.__cause__ is not None:
            self.debug("".join(traceback.format_exception(error.__cause__)))
        safe = copy(error)
        safe.__cause__ = None  # a copy has none, unless tblib is installed
        safe.args = (safe_text(str(error)),)
        safe.details = error.details and safe_text(error.details)
        safe.resolution = error.resolution and safe_text(error.resolution)
        craft_cli.emit.error(safe)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 # what shows no text
        """Return any other attribute of the emitter."""
        return getattr(craft_cli.emit, name)


emit = Terminal()


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Return whether text may be coloured (no-color.org, force-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"
