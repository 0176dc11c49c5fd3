"""Figures as the pages print them, and phrases that several parts share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.units import format_bytes, format_seconds
from .. import report_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...trial.result import CodecTrial
    from ..contract import Figure
    from ..json_report import CodecReport, Report
    from ..phrases import SizesMade
    from ..report_launch import LaunchReport

WHAT_IF = "* for comparison: snapcraft and the store accept only xz and lzo"
_SHOWN_SHARE = 0.0005
_TENTH = 0.0995
_LEAST_PERCENT = 0.0005
_WIDE = 0.3
"""Of a size: an interval that reaches further is told by its ends."""


def seconds(figure: Figure) -> str:
    """Return seconds with their interval, where they have one, in one unit."""
    unit_s, unit = _unit(figure.mid)
    low, mid, high = (
        _number(end / unit_s, unit) for end in (figure.low, figure.mid, figure.high)
    )
    if figure.low == figure.high:
        return f"{mid} {unit}"
    return f"{mid} {unit} ({low}\N{EN DASH}{high})"


def short_seconds(value: float) -> str:
    """Return seconds; below a tenth in milliseconds, below that in microseconds."""
    if not value:
        return "0 s"
    unit_s, unit = _unit(value)
    return f"{_number(value / unit_s, unit)} {unit}"


def _unit(value: float) -> tuple[float, str]:
    if not value or abs(value) >= _TENTH:
        return 1, "s"
    return (1e-3, "ms") if abs(value) >= _TENTH * 1e-3 else (1e-6, "µs")


def _number(value: float, unit: str) -> str:
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


def versus(figure: Figure, other: Figure | None) -> str:
    """Return how much larger a size is than another in percent; nothing for itself."""
    if other is None or figure == other or not other.mid:
        return ""
    return f"{figure.mid / other.mid - 1:+.0%}"


def told(head: str, texts: Iterable[str]) -> str:
    """Return in a sentence what a chart shows, for those who don't see it."""
    return f"{head}: {'; '.join(texts)}."


def app_heading(launch: LaunchReport, launches: Sequence[LaunchReport]) -> str:
    """Return what a launch's group is called: nothing where it is the only one."""
    return f"App {launch.app}" if len(launches) > 1 else ""


def sizes_made(report: Report) -> SizesMade:
    """Return how a report's image sizes were made."""
    size = report.payload.image_bytes
    return report_method.sizes_made(report.trial, report.method, image_bytes=size)


def percent(share: float) -> str:
    """Return a share of one in percent, with a decimal where it is small."""
    if 0 < share < _LEAST_PERCENT:
        return "under 0.1%"
    return f"{share:.0%}" if share >= _TENTH or not share else f"{share:.1%}"


def starred(name: str, codec: CodecReport | CodecTrial | None) -> str:
    """Return a codec's name, with a star where it can't be shipped."""
    return name if codec is not None and codec.shippable else f"{name} *"
