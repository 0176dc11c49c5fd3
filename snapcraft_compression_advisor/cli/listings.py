"""``compression-advisor devices``, ``rule`` and ``schema``: what is built in."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from ..devices.builtin_devices import builtin_devices, find_device
from ..report.devices import devices_page, render_devices_json
from ..report.document import schema_text
from ..report.lines import wrapped
from ..settings.settings import Settings
from .commands import Arguments, Command, details, output_arguments
from .write import write_output, write_page

if TYPE_CHECKING:
    from ..lint.rule import Rule

_PAGE_COLUMNS = 88
_NAME_COLUMNS = 26


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
        from ..lint.rules import ALL_RULES  # noqa: PLC0415 # 'devices' has none
        from ..lint.run import find_rule  # noqa: PLC0415 # as above

        if parsed_args.id is None:
            text = rule_list(ALL_RULES)
        else:
            text = rule_page(find_rule(parsed_args.id))
        write_output(text, None)


def rule_list(rules: Sequence[Rule]) -> str:
    """Return a line for each rule, and its summary below."""
    lines = []
    for rule in rules:
        lines.append(f"{rule.id}  {rule.name.ljust(_NAME_COLUMNS)} {rule.severity}")
        lines += wrapped(rule.text.summary, first=" " * 8, rest=" " * 8)
    return "\n".join(lines) + "\n"


def rule_page(rule: Rule) -> str:
    """Return all that a rule says of itself, in Markdown."""

    def filled(text: str) -> str:
        return "\n".join(wrapped(text, _PAGE_COLUMNS))

    blocks = [
        f"# {rule.id}: {rule.name}",
        filled(rule.text.summary),
        f"Severity: {rule.severity}, unless the policy says otherwise.",
        "## Fails if",
        filled(rule.text.fails_if),
        "## Why",
        filled(rule.text.why),
        "## How to fix",
        filled(rule.text.how_to_fix),
    ]
    if rule.text.options:
        fields = Settings.model_fields
        rows = (
            f"| `{key}` | {fields[key.replace('-', '_')].description} |"
            for key in rule.text.options
        )
        blocks += [
            "## Options",
            "\n".join(("| key | what it is |", "|---|---|", *rows)),
        ]
    return "\n\n".join(blocks) + "\n"


SCHEMAS: Mapping[str, tuple[str, str]] = {
    "compression-advisor": (
        "compression-advisor.yaml, a project's settings",
        "settings.settings:Settings",
    ),
    "device": (
        "device profiles, as 'calibrate' writes them",
        "devices.device:DeviceFile",
    ),
    "launch-profile": (
        "recorded launches, as 'record' writes them",
        "launch.profile:LaunchProfile",
    ),
    **{
        name: (f"'{name} --format json'", name)
        for name in ("diff", "lint", "measure", "refresh")
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
        return schema_text(module)
    holder = import_module(f"snapcraft_compression_advisor.{module}")
    schema = getattr(holder, model).model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


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
