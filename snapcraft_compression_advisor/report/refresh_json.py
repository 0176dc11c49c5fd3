"""What a refresh downloads, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import ConfigDict, Field

from .. import __version__
from ..refresh.changes import LISTED_FILES, ChangeKind, totals
from ..refresh.delta import ChoiceReason, Condition, DeltaFormat
from .contract import Count, Document, IntervalReport, Part, Rounded, Text, filled
from .month import MonthReport, month_report

if TYPE_CHECKING:
    from ..advice.month import Month
    from ..payload.source import Payload
    from ..refresh.delta import DeltaSize
    from ..refresh.refresh import CodecRefresh, Refresh


class RefreshSideReport(Part):
    """One of the two builds."""

    path: Text
    compression: str | None = Field(description="null for a prime directory")


class DeltaReport(Part):
    """A delta between the two builds."""

    bytes: IntervalReport
    origin: Literal["measured", "estimated"] = Field(description="of the size")


class RebuildReport(Part):
    """Whether the snap-aware delta, applied as snapd does it, gives the new image."""

    equal: bool | None = Field(description="byte for byte; null: it couldn't be tried")
    reason: str | None = Field(description="why it isn't equal, or wasn't tried")


class ChoiceReport(Part):
    """What a device downloads."""

    condition: Condition = Field(
        description="'default': snapd as it is installed; 'snap-delta-format': snapd "
        "2.75 or later, where that experimental feature is set"
    )
    download: DeltaFormat | None = Field(description="null for the whole image")
    bytes: IntervalReport
    reason: ChoiceReason = Field(
        description="'preferred': snapd asks for it first; 'refused': snapd makes no "
        "snap-aware delta; 'larger': the store discards a delta that isn't smaller "
        "than the image; 'perhaps-larger': it may do so"
    )


class CodecRefreshReport(Part):
    """A refresh where both builds are packed with one codec."""

    full_bytes: IntervalReport = Field(description="of the new image")
    full_measured: bool = Field(description="it is the size of an image")
    what_if: bool = Field(description="either build isn't packed with this codec")
    deltas: dict[DeltaFormat, DeltaReport] = Field(
        description="by format; those that snapd refuses aren't in it"
    )
    refusal: str | None = Field(description="why there is no snap-aware delta")
    choices: list[ChoiceReport] = Field(description="what a device downloads")
    rebuild: RebuildReport | None = Field(description="null without --exact")


class RefreshFileReport(Part):
    """A file that adds to the deltas."""

    path: Text
    old_path: Text | None = Field(description="of what it was compared with")
    change: ChangeKind
    delta_bytes: Rounded = Field(
        description="what it adds to the snap-aware delta, estimated"
    )
    plain_bytes: dict[str, Rounded] = Field(
        description="what it adds to the plain delta, by codec, estimated"
    )


class KindReport(Part):
    """What all files to which the same happened add to the deltas."""

    change: ChangeKind
    files: Count
    delta_bytes: Rounded = Field(description="to the snap-aware delta, estimated")
    plain_bytes: dict[str, Rounded] = Field(
        description="to the plain delta, by codec, estimated"
    )


class RefreshMonthReport(MonthReport):
    """What lzo saves over xz in a month of such refreshes; negative where it costs."""

    assumed: bool = Field(
        description="nothing was known of the user's refreshes and launches"
    )


class RefreshReport(Document):
    """The report of ``compression-advisor refresh --format json``."""

    model_config = ConfigDict(title="compression-advisor refresh")

    name: Text
    old: RefreshSideReport
    new: RefreshSideReport
    codecs: dict[str, CodecRefreshReport]
    files: list[RefreshFileReport] = Field(description="those that add most first")
    changes: list[KindReport] = Field(
        description="what happened to the files, those changes first that add most"
    )
    notes: list[Text] = Field(description="what a reader should know of the builds")
    month: RefreshMonthReport | None = Field(
        description="null where no launch is known, or not both xz and lzo were "
        "compared; estimated"
    )


def render_refresh_json(refresh: Refresh, month: Month | None = None) -> str:
    """Return a refresh as JSON text."""
    return RefreshReport(
        advisor_version=__version__,
        name=refresh.new.snap.name,
        old=_side(refresh.old),
        new=_side(refresh.new),
        codecs={name: _codec(each) for name, each in refresh.codecs.items()},
        files=[
            filled(RefreshFileReport, each) for each in refresh.files[:LISTED_FILES]
        ],
        changes=[filled(KindReport, each) for each in totals(refresh.files)],
        notes=list(refresh.notes),
        month=None
        if month is None
        else RefreshMonthReport.model_validate(
            {**dict(month_report(month)), "assumed": month.habits.assumed}
        ),
    ).text()


def _side(payload: Payload) -> RefreshSideReport:
    return RefreshSideReport(
        path=str(payload.path),
        compression=payload.packed_with,
    )


def _codec(codec: CodecRefresh) -> CodecRefreshReport:
    deltas = {name: _delta(delta) for name, delta in codec.deltas.items()}
    chosen = [
        filled(ChoiceReport, each, bytes=filled(IntervalReport, each.size_bytes))
        for each in codec.choices
    ]
    return filled(CodecRefreshReport, codec, deltas=deltas, choices=chosen)


def _delta(delta: DeltaSize) -> DeltaReport:
    return DeltaReport(
        bytes=filled(IntervalReport, delta.size_bytes),
        origin="measured" if delta.size_bytes.known else "estimated",
    )
