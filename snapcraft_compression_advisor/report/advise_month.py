"""A user's month with xz and with lzo: launches and downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ..core.units import format_bytes, format_seconds
from ..wording import habits_text, month_text
from .contract import Interval, IntervalReport, Part, Text, filled
from .page.model import Group, Section, Table
from .page.texts import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..advice.month import Month
    from .json_report import Report

_ASSUMED = (
    "Assumed, because nothing is known of the users: the key 'refresh' of "
    "compression-advisor.yaml says how often they refresh and launch the snap."
)
_WHAT_IS_DOWNLOADED = {
    "none": "Each refresh downloads the whole image.",
    "xdelta3": "Each refresh downloads a plain delta between the two images.",
    "snap-1-1-xdelta3": "Each refresh downloads a snap-aware delta, from which the "
    "device packs the new image itself: longer with xz, in the background.",
}


class MonthCodecReport(Part):
    """A month with one codec."""

    download_bytes: IntervalReport = Field(description="of all refreshes")
    download_s: IntervalReport = Field(description="of all refreshes, in seconds")


class MonthReport(Part):
    """What lzo saves over xz in a month; negative where it costs."""

    app: str
    device: Text | None = Field(description="null for the average over the shares")
    refreshes: float
    cold_launches: float
    deltas: Literal["none", "xdelta3", "snap-1-1-xdelta3"] = Field(
        description="what a refresh downloads; 'none' for the whole image"
    )
    link_mbit_per_s: float
    codecs: dict[str, MonthCodecReport]
    launch_s: IntervalReport = Field(description="saved by all cold launches")
    download_bytes: Interval = Field(description="saved by all refreshes")
    download_s: IntervalReport = Field(description="saved by all refreshes")
    total_s: IntervalReport = Field(description="saved by all of it")
    decided_by: Literal["launches", "downloads"] = Field(
        description="the part that does most for the side that wins"
    )
    summary: str = Field(description="habits of the user, in words")


def month_report(month: Month) -> MonthReport:
    """Return a month in the shape of the contract."""
    saving, habits = month.saving, month.habits
    return filled(
        MonthReport,
        month,
        app=saving.app,
        device=None if saving.shares else saving.device,
        refreshes=habits.refreshes,
        cold_launches=habits.launches,
        deltas=habits.deltas,
        summary=habits_text(habits),
        codecs={codec: _codec(month, codec) for codec in month.downloads.by_codec},
    )


def _codec(month: Month, codec: str) -> MonthCodecReport:
    refreshes = month.habits.refreshes
    size = month.downloads.by_codec[codec].map(lambda each: each * refreshes)
    return filled(
        MonthCodecReport,
        None,
        download_bytes=size,
        download_s=size.map(month.link_s),
    )


def month_section(report: Report) -> Section | None:
    """Return the month as a table; ``None`` where nothing is known of refreshes."""
    return None if report.month is None else section_of_month(report.month)


def section_of_month(month: MonthReport, *said: str) -> Section:
    """Return a month as a table.

    :param said: sentences above it.
    """
    where = "on average" if month.device is None else f"on {month.device}"
    return Section(
        key="month",
        title="What lzo saves in a user's month",
        origin="Estimated, with intervals.",
        paragraphs=(
            *said,
            sentence(f"{month.summary}, {where}, at {month.link_mbit_per_s:g} Mbit/s"),
            _WHAT_IS_DOWNLOADED[month.deltas],
        ),
        groups=(
            Group(
                table=Table(
                    caption="What lzo saves over xz in a month",
                    heads=("in a month", "xz", "lzo", "lzo saves"),
                    rows=tuple(month_rows(month)),
                ),
                open_table=True,
            ),
        ),
    )


def refresh_month_section(month: Month | None) -> Section | None:
    """Return a month of refreshes like one; None if there is none."""
    if month is None:
        return None
    texts = (month_text(month), *((_ASSUMED,) if month.habits.assumed else ()))
    return section_of_month(month_report(month), *texts)


def month_rows(month: MonthReport) -> Iterator[tuple[str, ...]]:
    """Yield a table: what, xz, lzo, what lzo saves."""
    xz, lzo = month.codecs["xz"], month.codecs["lzo"]
    yield f"cold launches of {month.app}", "", "", month_seconds(month.launch_s)
    yield (
        "download",
        *(format_bytes(each.download_bytes.mid) for each in (xz, lzo)),
        format_bytes(month.download_bytes.mid),
    )
    yield (
        "time of the download",
        *(format_seconds(each.download_s.mid) for each in (xz, lzo)),
        month_seconds(month.download_s),
    )
    yield "all of it", "", "", month_seconds(month.total_s)


def month_seconds(figure: Interval) -> str:
    """Return what is saved, with its interval; both may be negative."""
    mid = format_seconds(figure.mid)
    if figure.low == figure.high:
        return mid
    low, high = (format_seconds(end)[:-2] for end in (figure.low, figure.high))
    return f"{mid} ({low} to {high})"
