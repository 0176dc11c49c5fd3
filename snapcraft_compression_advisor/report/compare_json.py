"""A guess beside a recording as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.report.contract import (
    Count,
    Document,
    Part,
    Share,
    Text,
    filled,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.launch.guess.compare import Comparison


class FileReport(Part):
    """A file of which other blocks are read than are named."""

    path: Text
    missed_bytes: Count = Field(description="read, but not named")
    vain_bytes: Count = Field(description="named, but not read")


class ComparisonReport(Document):
    """The report of ``launch-set --compare RECORDED --format json``."""

    model_config = ConfigDict(title="compression-advisor launch set comparison")

    app: str
    recall: Share = Field(description="of the bytes read, those named")
    precision: Share = Field(description="of the bytes named, those read")
    read_bytes: Count = Field(description="recorded, in whole data blocks")
    named_bytes: Count
    expected_bytes: Annotated[float, Field(ge=0)] = Field(
        description="of all guessed blocks, times the share in which they are read"
    )
    files: list[FileReport] = Field(description="that differ, by path")
    gone: list[Text] = Field(description="recorded files that the payload doesn't hold")


def render_comparison_json(comparison: Comparison, *, app: str) -> str:
    """Return a comparison as JSON."""
    return filled(
        ComparisonReport, comparison, advisor_version=__version__, app=app
    ).text()
