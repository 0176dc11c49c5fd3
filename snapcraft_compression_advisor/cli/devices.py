"""``compression-advisor devices``: the built-in device profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from craft_cli import BaseCommand

from ..devices.builtin_devices import builtin_devices
from ..report.devices_text import render_devices_json, render_devices_text
from .arguments import add_format_argument
from .write import write_output

if TYPE_CHECKING:
    import argparse

RENDERERS = {"text": render_devices_text, "json": render_devices_json}


class DevicesCommand(BaseCommand):
    """List the built-in device profiles."""

    name = "devices"
    common = True
    help_msg = "List the built-in device profiles and the sources of their figures"
    overview = (
        "List the profiles for 'advise --device NAME', with their figures and sources."
    )

    def fill_parser(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_format_argument(parser, RENDERERS, text="the list")

    def run(self, parsed_args: argparse.Namespace) -> int | None:
        """Print the list."""
        write_output(RENDERERS[parsed_args.format](builtin_devices()), None)
        return None
