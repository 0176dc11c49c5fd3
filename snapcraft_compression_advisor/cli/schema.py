"""``compression-advisor schema``: the JSON Schemas of what is read and written."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel

from ..core.documents import json_schema_text
from ..devices.device_model import DeviceFile
from ..launch.profile import LaunchProfile
from ..report.document import schema_text
from ..settings.lint_policy import LintPolicy
from .arguments import Arguments, Command, details
from .write import write_output


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of document.

    :param what: what documents of it are, for the list.
    :param source: model of what is read, name of the contract of what is written.
    """

    what: str
    source: type[BaseModel] | str

    def text(self) -> str:
        """Return its JSON Schema."""
        if isinstance(self.source, str):
            return schema_text(self.source)
        return json_schema_text(self.source)


_WRITTEN = {
    "diff": "'diff --format json'",
    "launch-set-comparison": "'launch-set --compare FILE --format json'",
    "lint": "'lint --format json'",
    "measure": "'measure --format json'",
    "measure-stack": "'measure --base … --content … --format json'",
    "prefetch": "'prefetch --format json'",
    "refresh": "'refresh --format json'",
    "report": "'advise --format json'",
    "trim": "'trim --format json'",
}
SCHEMAS: Mapping[str, Schema] = {
    "compression-advisor": Schema(
        "compression-advisor.yaml, a project's settings", LintPolicy
    ),
    "device": Schema("device profiles, as 'calibrate' writes them", DeviceFile),
    "launch-profile": Schema(
        "recorded launches, as 'record' writes them", LaunchProfile
    ),
    **{name: Schema(what, name) for name, what in _WRITTEN.items()},
}
"""By name. The files in ``docs`` are made from these as well."""


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
        lines = (f"{name:{width}}  {each.what}\n" for name, each in SCHEMAS.items())
        text = "".join(lines) if wanted is None else SCHEMAS[wanted].text()
        write_output(text, None)
