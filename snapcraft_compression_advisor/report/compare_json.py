"""A guess beside a recording as JSON: a contract, versioned by its ``schema`` key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.report.names import printable

if TYPE_CHECKING:
    from snapcraft_compression_advisor.launch.guess.compare import Comparison

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileReport(_Model):
    """A file of which other blocks are read than are named."""

    path: str
    missed_bytes: Count = Field(description="read, but not named")
    vain_bytes: Count = Field(description="named, but not read")


class ComparisonReport(_Model):
    """The report of ``launch-set --compare RECORDED --format json``."""

    model_config = ConfigDict(title="compression-advisor launch set comparison")

    schema_version: Literal[1] = Field(alias="schema", default=1)
    advisor_version: str
    app: str
    recall: Share = Field(description="of the bytes read, those named")
    precision: Share = Field(description="of the bytes named, those read")
    read_bytes: Count = Field(description="recorded, in whole data blocks")
    named_bytes: Count
    expected_bytes: Annotated[float, Field(ge=0)] = Field(
        description="of all guessed blocks, times the share in which they are read"
    )
    files: list[FileReport] = Field(description="that differ, by path")
    gone: list[str] = Field(description="recorded files that the payload doesn't hold")


def render_comparison_json(comparison: Comparison, *, app: str) -> str:
    """Return a comparison as JSON."""
    report = ComparisonReport(
        advisor_version=__version__,
        app=app,
        recall=comparison.recall,
        precision=comparison.precision,
        read_bytes=comparison.read_bytes,
        named_bytes=comparison.named_bytes,
        expected_bytes=comparison.expected_bytes,
        files=[
            FileReport(
                path=printable(file.path),
                missed_bytes=file.missed_bytes,
                vain_bytes=file.vain_bytes,
            )
            for file in comparison.files
        ],
        gone=[printable(path) for path in comparison.gone],
    )
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def comparison_schema_text() -> str:
    """Return the JSON Schema of the report, as ``docs`` keeps it."""
    schema = ComparisonReport.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
