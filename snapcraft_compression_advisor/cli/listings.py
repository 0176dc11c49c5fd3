"""``compression-advisor devices`` and ``rule``: what is built in."""

from __future__ import annotations

import argparse
from typing import ClassVar

from ..devices.builtin_devices import builtin_devices, find_device
from ..lint.all_rules import ALL_RULES
from ..lint.run import find_rule
from ..report.devices_text import render_devices_json, render_devices_text
from ..report.rule_pages import render_rule_list, render_rule_page
from .arguments import Arguments, Command, format_argument
from .write import write_output

RENDERERS = {"text": render_devices_text, "json": render_devices_json}


class DevicesCommand(Command):
    """List the built-in device profiles."""

    name = "devices"
    overview = (
        "List the profiles for 'advise --device NAME', a line each, from a slow device "
        "of the kind to a fast one. With a NAME, print the sources of its figures."
    )

    arguments: ClassVar[Arguments] = {
        "[NAME]": "a device profile (default: all)",
        **format_argument(RENDERERS, text="the list"),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the list, or one profile."""
        name = parsed_args.name
        devices = builtin_devices() if name is None else [find_device(name)]
        write_output(RENDERERS[parsed_args.format](devices), None)


class RuleCommand(Command):
    """Explain rules."""

    name = "rule"
    overview = (
        "Print when a rule fails, why that matters, how to fix it and which policy "
        "options it uses. Without an ID, list all rules."
    )

    arguments: ClassVar[Arguments] = {
        "[ID]": "a rule's id or name (default: all, one line each)"
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print one rule's page, or the list."""
        if parsed_args.id is None:
            text = render_rule_list(ALL_RULES)
        else:
            text = render_rule_page(find_rule(parsed_args.id, ALL_RULES))
        write_output(text, None)
