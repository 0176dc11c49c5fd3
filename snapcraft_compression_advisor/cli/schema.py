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
from ..report.compare import ComparisonReport
from ..report.contract import Document
from ..report.diff_json import DifferenceReport
from ..report.json_report import Report
from ..report.lint_formats.json import LintDocument
from ..report.measure_json import MeasurementReport
from ..report.measure_stack import StackMeasurementReport
from ..report.prefetch_json import PrefetchReport
from ..report.refresh_json import RefreshReport
from ..report.trim_json import TrimReport
from ..settings.lint_policy import LintPolicy
from .arguments import Arguments, Command, details
from .write import write_output


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of document.

    :param what: what documents of it are, for the list.
    :param model: of the whole document.
    """

    what: str
    model: type[BaseModel]

    def text(self) -> str:
        """Return its JSON Schema."""
        is_written = issubclass(self.model, Document)
        return json_schema_text(
            self.model, mode="serialization" if is_written else "validation"
        )


SCHEMAS: Mapping[str, Schema] = {
    "compression-advisor": Schema(
        "compression-advisor.yaml, a project's settings", LintPolicy
    ),
    "device": Schema("device profiles, as 'calibrate' writes them", DeviceFile),
    "diff": Schema("'diff --format json'", DifferenceReport),
    "launch-profile": Schema(
        "recorded launches, as 'record' writes them", LaunchProfile
    ),
    "launch-set-comparison": Schema(
        "'launch-set --compare FILE --format json'", ComparisonReport
    ),
    "lint": Schema("'lint --format json'", LintDocument),
    "measure": Schema("'measure --format json'", MeasurementReport),
    "measure-stack": Schema(
        "'measure --base … --content … --format json'", StackMeasurementReport
    ),
    "prefetch": Schema("'prefetch --format json'", PrefetchReport),
    "refresh": Schema("'refresh --format json'", RefreshReport),
    "trim": Schema("'trim --format json'", TrimReport),
    "report": Schema("'advise --format json'", Report),
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
