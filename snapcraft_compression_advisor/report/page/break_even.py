"""After how many launches lzo's larger download has paid for itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import format_bytes
from snapcraft_compression_advisor.report.charts.break_even import (
    LinkLine,
    draw_break_even,
)
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.report.contract import Interval
    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.report_method import BreakEvenReport

_DRAWN_LAUNCHES = 20.0
"""Where the axis ends if the policy isn't known."""

_ROOM_ABOVE = 1.25
"""A download is drawn up to so many times what all launches shown save."""

_LEAST_GAP = 0.07
"""Of the axis of seconds: nearer ones' names would overlap."""

_LEGEND = (
    "The rising line is what launches have saved, with its interval; the dashed ones "
    "are what the larger download takes longer over a link. Where they cross, it is "
    "paid for."
)
_FEW = 10
_MANY = 1_000


def break_even_section(report: Report) -> Section | None:
    """Return when lzo has paid; ``None`` where nothing can be said."""
    links, advice = report.break_even, report.recommendation
    if not links or advice.seconds_saved is None or advice.bytes_added is None:
        return None
    chart = _chart(report, advice.seconds_saved)
    return Section(
        key="break-even",
        title="When lzo has paid for its download",
        origin="Estimated, with intervals.",
        paragraphs=tuple(_paragraphs(report)),
        legend="" if chart is None else _LEGEND,
        groups=(
            Group(
                charts=() if chart is None else (chart,),
                table=_table(links),
                open_table=chart is None,
            ),
        ),
    )


def _paragraphs(report: Report) -> Iterator[str]:
    advice = report.recommendation
    saved, added = advice.seconds_saved, advice.bytes_added
    if saved is None or added is None:
        return
    verb = "adds" if added.mid >= 0 else "takes"
    place = "to" if added.mid >= 0 else "off"
    yield (
        f"lzo {verb} {format_bytes(abs(added.mid))} {place} each download and saves "
        f"{seconds(saved)} per cold launch, on the device where it saves least."
    )
    if report.method is not None:
        limit = report.method.policy.max_launches
        yield f"The policy allows {limit:g} cold launches for that."


def _chart(report: Report, saved: Interval) -> Chart | None:
    most = report.method.policy.max_launches if report.method else _DRAWN_LAUNCHES
    top_s = _ROOM_ABOVE * most * saved.mid
    lines = tuple(
        LinkLine(
            label=f"{link.link_mbit_per_s:,g} Mbit/s",
            download_s=link.download_s.mid,
            launches=link.launches
            if link.launches is not None and link.launches <= most
            else None,
            text=f"{link.link_mbit_per_s:,g} Mbit/s: {_count(link)} for "
            f"{seconds(link.download_s)} of download",
        )
        for link in _apart(report, top_s, most * saved.high)
    )
    if not lines:
        return None
    return Chart(
        key="break-even",
        title="Seconds saved by launches against seconds of download",
        alt="When the larger download has paid for itself: "
        + "; ".join(line.text for line in lines)
        + ".",
        draw=partial(draw_break_even, saved, lines, launches=most),
        wide=True,
    )


def _apart(report: Report, top_s: float, axis_s: float) -> list[BreakEvenReport]:
    """Return the links that are drawn: those that fit in, far enough from another.

    The policy's own goes first.
    """
    own = report.method.policy.link_mbit_per_s if report.method else None
    shown: list[BreakEvenReport] = []
    for link in sorted(
        report.break_even,
        key=lambda each: (each.link_mbit_per_s != own, each.link_mbit_per_s),
    ):
        download_s = link.download_s.mid
        if 0 < download_s <= top_s and all(
            abs(download_s - other.download_s.mid) >= _LEAST_GAP * axis_s
            for other in shown
        ):
            shown.append(link)
    return shown


def _count(link: BreakEvenReport) -> str:
    if link.launches is None:
        return "never paid for"
    if link.download_s.mid <= 0:
        return "nothing to pay for"
    low, high = (_number(end) for end in (link.launches_low, link.launches_high))
    return f"{_number(link.launches)} launches ({low}\N{EN DASH}{high})"


def _number(launches: float | None) -> str:
    if launches is None:
        return "never"
    if launches > _MANY:
        return f"over {_MANY:,}"
    return f"{launches:.1f}" if launches < _FEW else f"{launches:.0f}"


def _table(links: Sequence[BreakEvenReport]) -> Table:
    return Table(
        caption="Longer download and launches that pay for it by link",
        heads=("link", "longer download", "launches", "at best", "at worst"),
        rows=tuple(
            (
                f"{link.link_mbit_per_s:,g} Mbit/s",
                seconds(link.download_s),
                _number(link.launches),
                _number(link.launches_low),
                _number(link.launches_high),
            )
            for link in links
        ),
    )
