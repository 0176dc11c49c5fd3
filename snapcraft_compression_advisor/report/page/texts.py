"""Figures as the pages print them, and phrases that several parts share."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.units import format_bytes, format_seconds
from ...launch.stack import AVERAGE_CONSUMER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..contract import Figure
    from ..json_report import CodecReport, RecommendationReport, Report
    from ..report_launch import LaunchReport
    from .model import Group

WHAT_IF = "* for comparison: snapcraft and the store accept only xz and lzo"
_INTERVAL = re.compile(r" ([(±].*)", re.DOTALL)
_DRAWN_APPS = 4
"""A page of more would be too large a file; tables have all."""
_ALL_THE_SAME = "none"
"""Its blocks' sizes need no trial."""

_SHOWN_SHARE = 0.0005
_TENTH = 0.0995
_NOTHING_OF = 0.1
_HOUR_S = 3600
_MANY_HOURS = 10
_LEAST_PERCENT = 0.0005
_WIDE = 0.3
"""Of a size: an interval that reaches further is told by its ends."""


def seconds(figure: Figure) -> str:
    """Return seconds with their interval, where they have one, in one unit.

    That is the middle's, unless this is next to nothing beside the ends.
    """
    furthest = max(abs(figure.low), abs(figure.high))
    unit_s, unit = _unit(
        furthest if abs(figure.mid) < _NOTHING_OF * furthest else figure.mid
    )
    low, mid, high = (
        _number(end / unit_s, unit) for end in (figure.low, figure.mid, figure.high)
    )
    if figure.low == figure.high:
        return f"{mid} {unit}"
    # A dash beside a minus can't be read.
    between = " to " if low.startswith("-") else "\N{EN DASH}"
    return f"{mid} {unit} ({low}{between}{high})"


def short_seconds(value: float) -> str:
    """Return seconds; hours, milliseconds or microseconds where these fit better."""
    if not value:
        return "0 s"
    unit_s, unit = _unit(value)
    return f"{_number(value / unit_s, unit)} {unit}"


def _unit(value: float) -> tuple[float, str]:
    if abs(value) >= _HOUR_S:  # of many users together
        return _HOUR_S, "h"
    if not value or abs(value) >= _TENTH:
        return 1, "s"
    return (1e-3, "ms") if abs(value) >= _TENTH * 1e-3 else (1e-6, "µs")


def _number(value: float, unit: str) -> str:
    if unit == "h":
        return f"{value:,.1f}" if abs(value) < _MANY_HOURS else f"{value:,.0f}"
    if unit == "s":
        return format_seconds(value).removesuffix(" s")
    if not value:
        return "0"
    digits = f"{value:#.2g}"
    return f"{value:.0f}" if "e" in digits else digits.removesuffix(".")


def size(figure: Figure) -> str:
    """Return bytes with the half width of their interval, where that shows.

    A wide interval may reach further to one side than to the other, so it is told by
    its ends.
    """
    if not figure.mid:
        return format_bytes(figure.mid)
    share = (figure.high - figure.low) / 2 / figure.mid
    if share >= _WIDE:
        low, mid, high = map(format_bytes, (figure.low, figure.mid, figure.high))
        return f"{mid} ({low}\N{EN DASH}{high})"
    tail = f" ±{share:.1%}" if share >= _SHOWN_SHARE else ""
    return f"{format_bytes(figure.mid)}{tail}"


def parted(cell: str) -> tuple[str, str]:
    """Return a figure and its interval, which goes below it where there's no room."""
    found = _INTERVAL.search(cell)
    return (cell[: found.start()], found[1]) if found else (cell, "")


def versus(figure: Figure, other: Figure | None) -> str:
    """Return how much larger a size is than another in percent; nothing for itself."""
    if other is None or figure == other or not other.mid:
        return ""
    return f"{figure.mid / other.mid - 1:+.0%}"


def told(head: str, texts: Iterable[str]) -> str:
    """Return in a sentence what a chart shows, for those who don't see it."""
    return f"{head}: {'; '.join(texts)}."


def deciding_place(advice: RecommendationReport) -> str:
    """Return where the saving is that decides; reports of old don't name the device."""
    if advice.decides is None:
        return "on the device where it saves least"
    device = advice.decides.device
    return "on average" if device is None else f"on {device}"


def sentence(clause: str) -> str:
    """Return a clause as a sentence."""
    return f"{clause[0].upper()}{clause[1:]}."


def launch_groups(
    launches: Sequence[LaunchReport], group: Callable[[LaunchReport], Group]
) -> tuple[Group, ...]:
    """Return each launch's group, with a heading where there are several of them.

    The first few launches are drawn; others stand in tables.
    """
    return tuple(
        replace(
            made,
            heading=launch_title(launch) if len(launches) > 1 else "",
            app=launch.app if len(launches) > 1 else "",
            charts=made.charts if number < _DRAWN_APPS else (),
        )
        for number, (launch, made) in enumerate(
            (launch, group(launch)) for launch in launches
        )
    )


def launch_title(launch: LaunchReport) -> str:
    """Return whose launch it is, as a heading."""
    if launch.weight is not None:
        return f"Consumer {launch.app}, weight {percent(launch.weight)}"
    average = launch.app == AVERAGE_CONSUMER
    return "All consumers, on average" if average else f"App {launch.app}"


def percent(share: float) -> str:
    """Return a share of one in percent, with a decimal where it is small."""
    if 0 < share < _LEAST_PERCENT:
        return "under 0.1%"
    return f"{share:.0%}" if share >= _TENTH or not share else f"{share:.1%}"


def starred(name: str, codec: CodecReport | None) -> str:
    """Return a codec's name, with a star where it can't be shipped."""
    return name if codec is not None and codec.shippable else f"{name} *"


def own_codec(report: Report) -> str | None:
    """Return the codec whose image has the very size of the built snap."""
    built = report.payload.image_bytes
    sizes = ((name, each.image_bytes) for name, each in report.trial.codecs.items())
    return next(
        (name for name, size in sizes if size and size.low == size.high == built), None
    )


def how_sized(report: Report, tool: str = "") -> str:
    """Return in a sentence how a report's image sizes are known.

    :param tool: what they come from, if that is to be told.
    """
    if report.trial.mode == "exact":
        return f"Image sizes: measured{f' with {tool}' if tool else ''}."
    own = own_codec(report)
    others = f"measured for {own}, the snap's own codec; others " if own else ""
    by = f" ({tool})" if tool else ""
    return f"Image sizes: {others}estimated from {_tried_blocks(report, own)}{by}."


def _tried_blocks(report: Report, own: str | None) -> str:
    """Return which blocks were tried, and what the intervals are."""
    method = report.method
    tried: dict[str, bool] = {}
    if method is not None:
        tried = {
            codec: count == method.distinct_blocks
            for codec, count in method.blocks_known.items()
            if codec not in (own, _ALL_THE_SAME)
        }
    whole, some = ([*(c for c in tried if tried[c] is all_)] for all_ in (True, False))
    sampled = ", with intervals that contain the true size for 95% of such samples"
    if not whole:
        return f"a sample of the data blocks{sampled}"
    if not some:
        return (
            "all of the data blocks, with intervals that cover the size of the metadata"
        )
    return (
        f"all of the data blocks with {_listed(whole)}, from a sample with "
        f"{_listed(some)}{sampled}"
    )


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
