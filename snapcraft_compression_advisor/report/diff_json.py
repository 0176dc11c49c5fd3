"""Two builds of a snap compared, as JSON: a contract, versioned by its ``schema``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from snapcraft_compression_advisor import __version__
from snapcraft_compression_advisor.report.diff_phrases import origin
from snapcraft_compression_advisor.report.lint_formats.json import (
    IntervalReport,
    interval_report,
)
from snapcraft_compression_advisor.report.names import printable

if TYPE_CHECKING:
    from snapcraft_compression_advisor.diff.difference import (
        BuildDifference,
        Side,
    )
    from snapcraft_compression_advisor.diff.files import FileChange
    from snapcraft_compression_advisor.diff.launches import LaunchChange

Count = Annotated[int, Field(ge=0)]
_DIGITS = 6
"""Of seconds: microseconds; further ones are noise of the arithmetic."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SideReport(_Model):
    """One of the two builds."""

    path: str
    compression: str
    image_bytes: IntervalReport
    origin: Literal["measured", "estimated"] = Field(description="of the image's size")
    files: Count


class FileReport(_Model):
    """A name that isn't the same in both builds."""

    path: str
    change: Literal["added", "removed", "changed"]
    old_bytes: Count | None = Field(description="length before; null where it is new")
    new_bytes: Count | None = Field(description="length now; null where it is gone")
    stored_change_bytes: IntervalReport = Field(
        description="what it adds to the image; contents that several names share "
        "count under one of them"
    )
    share: Annotated[float, Field(ge=0, le=1)] = Field(
        description="of all files' changes, whichever their sign"
    )


class CauseReport(_Model):
    """Why a launch takes more or less time."""

    path: str | None = Field(description="null: other compression of unchanged files")
    seconds: float = Field(description="that it adds; the middle of an estimate")
    old_bytes: Count | None
    new_bytes: Count | None
    unchanged: bool = Field(description="the file is the same, but read otherwise")


class LaunchReport(_Model):
    """What a cold launch adds over a warm one, before and now; estimated."""

    app: str
    device: str
    source: Literal["static", "recorded"] = Field(
        description="whether what a launch reads was guessed from files or recorded"
    )
    old_s: IntervalReport
    new_s: IntervalReport
    change_s: IntervalReport = Field(description="what is alike in both cancels out")
    verdict: Literal["slower", "faster", "same", "undecided"]
    causes: list[CauseReport] = Field(description="the largest first")


class DifferenceReport(_Model):
    """The report of ``compression-advisor diff --format json``."""

    model_config = ConfigDict(title="compression-advisor diff")

    schema_version: Literal[1] = Field(alias="schema", default=1)
    advisor_version: str
    name: str
    old: SideReport
    new: SideReport
    image_change_bytes: IntervalReport
    unchanged_files: Count
    repacked_bytes: IntervalReport = Field(
        description="what unchanged files add to the image, packed otherwise"
    )
    tables_change_bytes: IntervalReport = Field(
        description="what the image's tables and padding add"
    )
    launches: list[LaunchReport]
    files: list[FileReport] = Field(description="the largest in the image first")
    notes: list[str] = Field(description="what couldn't be compared, and why")


def build_diff_report(difference: BuildDifference) -> DifferenceReport:
    """Return the difference in the shape of the contract."""
    files = difference.files
    return DifferenceReport(
        advisor_version=__version__,
        name=printable(difference.name),
        old=_side(difference.old),
        new=_side(difference.new),
        image_change_bytes=interval_report(difference.image_change),
        unchanged_files=files.unchanged,
        repacked_bytes=interval_report(files.repacked_bytes),
        tables_change_bytes=interval_report(difference.tables_change),
        launches=[_launch(each) for each in difference.launches],
        files=[_file(each, files.share(each)) for each in files.changes],
        notes=[printable(note) for note in difference.notes],
    )


def render_diff_json(difference: BuildDifference) -> str:
    """Return the difference as JSON text."""
    report = build_diff_report(difference)
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def diff_schema_text() -> str:
    """Return the JSON Schema of the report, as ``docs`` keeps it."""
    schema = DifferenceReport.model_json_schema(by_alias=True, mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _side(side: Side) -> SideReport:
    return SideReport(
        path=printable(str(side.path)),
        compression=side.codec,
        image_bytes=interval_report(side.image_bytes),
        origin="measured" if origin(side) == "measured" else "estimated",
        files=side.files,
    )


def _file(change: FileChange, share: float) -> FileReport:
    return FileReport(
        path=printable(change.path),
        change=change.change,
        old_bytes=change.old_bytes,
        new_bytes=change.new_bytes,
        stored_change_bytes=interval_report(change.stored_change),
        share=round(share, _DIGITS),
    )


def _launch(launch: LaunchChange) -> LaunchReport:
    return LaunchReport(
        app=printable(launch.app),
        device=printable(launch.device),
        source=launch.source,
        old_s=interval_report(launch.old_s),
        new_s=interval_report(launch.new_s),
        change_s=interval_report(launch.change_s),
        verdict=launch.verdict,
        causes=[
            CauseReport(
                path=None if cause.path is None else printable(cause.path),
                seconds=round(cause.seconds, _DIGITS),
                old_bytes=cause.old_bytes,
                new_bytes=cause.new_bytes,
                unchanged=cause.unchanged,
            )
            for cause in launch.causes
        ],
    )
