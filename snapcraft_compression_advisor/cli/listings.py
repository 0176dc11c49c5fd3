"""``compression-advisor devices``, ``rule`` and ``schema``: what is built in."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar

from .commands import Arguments, Command, details, output_arguments
from .write import write_output, write_page


class DevicesCommand(Command):
    """List the built-in device profiles."""

    name = "devices"
    overview = (
        "List the profiles for 'advise --device NAME', a line each, from a slow device "
        "of the kind to a fast one. With a NAME, print the sources of its figures."
    )

    arguments: ClassVar[Arguments] = {
        "[NAME]": "a device profile (default: all)",
        **output_arguments(),
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print the list, or one profile."""
        # Each of these three commands needs other modules.
        from ..devices.builtin_devices import (  # noqa: PLC0415 # as above
            builtin_devices,
            find_device,
        )
        from ..report.devices import (  # noqa: PLC0415 # as above
            devices_page,
            render_devices_json,
        )

        name = parsed_args.name
        devices = builtin_devices() if name is None else [find_device(name)]
        document = render_devices_json(devices)
        write_page(devices_page(devices), parsed_args, document)


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
        from ..lint.rules import ALL_RULES  # noqa: PLC0415 # nothing else here does
        from ..lint.run import find_rule  # noqa: PLC0415 # as above
        from ..report.rule_pages import (  # noqa: PLC0415 # as above
            render_rule_list,
            render_rule_page,
        )

        if parsed_args.id is None:
            text = render_rule_list(ALL_RULES)
        else:
            text = render_rule_page(find_rule(parsed_args.id, ALL_RULES))
        write_output(text, None)


SCHEMAS: Mapping[str, tuple[str, str]] = {
    "compression-advisor": (
        "compression-advisor.yaml, a project's settings",
        "settings.settings:Settings",
    ),
    "device": (
        "device profiles, as 'calibrate' writes them",
        "devices.device_model:DeviceFile",
    ),
    "launch-profile": (
        "recorded launches, as 'record' writes them",
        "launch.profile:LaunchProfile",
    ),
    **{
        name: (f"'{name} --format json'", name)
        for name in ("diff", "lint", "measure", "prefetch", "refresh")
    },
    "report": ("'advise --format json'", "report"),
    "trim": ("'trim --format json'", "trim"),
}
"""By name what documents of a kind are, and where their schema comes from: module and
class of what is read, or the name of what is written."""


def schema_of(name: str) -> str:
    """Return a JSON Schema by its name."""
    module, _, model = SCHEMAS[name][1].partition(":")
    if not model:
        from ..report import document  # noqa: PLC0415 # each has its own modules

        return document.schema_text(module)
    from ..core.documents import json_schema_text  # noqa: PLC0415 # as above

    holder = import_module(f"snapcraft_compression_advisor.{module}")
    return json_schema_text(getattr(holder, model))


class SchemaCommand(Command):
    """Print a schema."""

    name = "schema"
    overview = (
        "Print the JSON Schema of compression-advisor.yaml, of another file that the "
        "advisor reads, or of a report. Editors and programs use it to validate "
        "documents. Without a NAME, list all."
    )

    arguments: ClassVar[Arguments] = {
        "[NAME]": details(
            f"one of {', '.join(SCHEMAS)} (default: list all, one line each)",
            choices=tuple(SCHEMAS),
        )
    }

    def run(self, parsed_args: argparse.Namespace) -> None:
        """Print one schema, or the list."""
        wanted: str | None = parsed_args.name
        width = max(map(len, SCHEMAS))
        lines = (f"{name:{width}}  {what}\n" for name, (what, _) in SCHEMAS.items())
        text = "".join(lines) if wanted is None else schema_of(wanted)
        write_output(text, None)
