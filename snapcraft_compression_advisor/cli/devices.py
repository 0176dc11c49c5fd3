"""``compression-advisor devices``: the built-in device profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..devices.builtin_devices import builtin_devices
from ..report.devices_text import render_devices_json, render_devices_text
from .arguments import Arguments, Command, format_argument
from .write import write_output

if TYPE_CHECKING:
    import argparse


RENDERERS = {"text": render_devices_text, "json": render_devices_json}


class DevicesCommand(Command):
    """List the built-in device profiles."""

    name = "devices"
    help_msg = "List the built-in device profiles and the sources of their figures"
    overview = (
        "List the profiles for 'advise --device NAME', with their figures and sources."
    )

    arguments: ClassVar[Arguments] = format_argument(RENDERERS, text="the list")

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the list."""
        write_output(RENDERERS[parsed_args.format](builtin_devices()), None)
