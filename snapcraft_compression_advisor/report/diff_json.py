"""Two builds of a snap compared, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import AliasChoices, ConfigDict, Field

from .. import __version__
from .contract import (
    DIGITS,
    Count,
    Document,
    IntervalReport,
    Part,
    Rounded,
    Share,
    Text,
    filled,
)

if TYPE_CHECKING:
    from ..diff.difference import BuildDifference


class SideReport(Part):
    """One of the two builds."""

    path: Text
    compression: str = Field(validation_alias=AliasChoices("compression", "codec"))
    image_bytes: IntervalReport
    origin: Literal["measured", "estimated"] = Field(description="of the image's size")
    files: Count


class FileReport(Part):
    """A name that isn't the same in both builds."""

    path: Text
    change: Literal["added", "removed", "changed"]
    old_bytes: Count | None = Field(description="length in the old build; null if new")
    new_bytes: Count | None = Field(description="length in the new build; null if gone")
    stored_change_bytes: IntervalReport = Field(
        description="bytes that it adds to the image; contents shared by several "
        "names count for one of them"
    )
    share: Share = Field(description="share of the sum of all files' absolute changes")


class CauseReport(Part):
    """Why a launch takes more or less time."""

    path: Text | None = Field(
        description="null for unchanged files that are compressed differently"
    )
    seconds: Rounded = Field(
        description="seconds that it adds, the middle of an estimate"
    )
    old_bytes: Count | None
    new_bytes: Count | None
    unchanged: bool = Field(description="the file is unchanged, but read differently")


class LaunchReport(Part):
    """What a cold launch adds over a warm one, before and now; estimated."""

    app: Text
    device: Text
    source: Literal["static", "recorded"] = Field(
        description="whether what a launch reads was guessed from files or recorded"
    )
    old_s: IntervalReport
    new_s: IntervalReport
    change_s: IntervalReport = Field(description="what both builds share cancels out")
    verdict: Literal["slower", "faster", "same", "undecided"]
    causes: list[CauseReport] = Field(description="the largest first")


class DifferenceReport(Document):
    """The report of ``compression-advisor diff --format json``."""

    model_config = ConfigDict(title="compression-advisor diff")

    name: Text
    old: SideReport
    new: SideReport
    image_change_bytes: IntervalReport
    unchanged_files: Count
    repacked_bytes: IntervalReport = Field(
        description="bytes that unchanged files add to the image because they are "
        "packed differently"
    )
    tables_change_bytes: IntervalReport = Field(
        description="bytes that the image's tables and padding add"
    )
    launches: list[LaunchReport]
    files: list[FileReport] = Field(description="the largest in the image first")
    notes: list[Text] = Field(description="what couldn't be compared, and why")


def render_diff_json(difference: BuildDifference) -> str:
    """Return the difference as JSON text."""
    files = difference.files
    return filled(
        DifferenceReport,
        difference,
        advisor_version=__version__,
        image_change_bytes=difference.image_change,
        unchanged_files=files.unchanged,
        repacked_bytes=files.repacked_bytes,
        tables_change_bytes=difference.tables_change,
        files=[
            filled(
                FileReport,
                each,
                stored_change_bytes=each.stored_change,
                share=round(files.share(each), DIGITS),
            )
            for each in files.changes
        ],
    ).text()
