"""After how many launches lzo's larger download has paid for itself."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ...core.units import format_bytes
from . import charts
from .model import Chart, Group, Section, Table
from .texts import deciding_place, seconds, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..contract import Interval
    from ..json_report import Report
    from ..report_break_even import BreakEvenReport
    from .charts import Drawing, Spec

_DRAWN_LAUNCHES = 20.0
"""Where the axis ends if the policy isn't known."""

_ROOM_ABOVE = 1.25
"""A download is drawn up to so many times what all launches shown save."""

_LEAST_GAP = 0.07
"""Of the axis of seconds: nearer ones' names would overlap."""

_LEGEND = (
    "The rising line is the time that launches have saved, with its interval; a dashed "
    "line is how much longer the larger download takes over a link. Where they cross, "
    "the download has paid off."
)
_FEW = 10
_MANY = 1_000
_HEIGHT = 320
_SAVED = "var(--lzo)"
_SIDES: Mapping[str, Spec] = {
    "left": {"align": "left", "dx": 4, "dy": -3, "baseline": "bottom"},
    "right": {"align": "right", "dx": -4, "dy": -3, "baseline": "bottom"},
}


def break_even_section(report: Report) -> Section | None:
    """Return when lzo has paid; ``None`` where a month decides or it isn't known."""
    if report.month is not None:
        return None
    links, advice = report.break_even, report.recommendation
    if not links or advice.seconds_saved is None or advice.bytes_added is None:
        return None
    chart = _chart(report, advice.seconds_saved)
    return Section(
        key="break-even",
        title="When lzo's larger download pays off",
        origin="Estimated, with intervals.",
        paragraphs=tuple(_paragraphs(report, advice.seconds_saved, advice.bytes_added)),
        legend=_LEGEND if chart else "",
        groups=(
            Group(
                charts=(chart,) if chart else (),
                table=_table(links),
                open_table=chart is None,
            ),
        ),
    )


def _paragraphs(report: Report, saved: Interval, added: Interval) -> Iterator[str]:
    verb, place = ("adds", "to") if added.mid >= 0 else ("takes", "off")
    yield (
        f"lzo {verb} {format_bytes(abs(added.mid))} {place} each download and saves "
        f"{seconds(saved)} per cold launch {deciding_place(report.recommendation)}."
    )
    if report.method is not None:
        limit = report.method.policy.max_launches
        yield f"The policy allows {limit:g} cold launches for that."


def _chart(report: Report, saved: Interval) -> Chart | None:
    most = report.method.policy.max_launches if report.method else _DRAWN_LAUNCHES
    links = _apart(report, _ROOM_ABOVE * most * saved.mid, most * saved.high)
    if not links:
        return None
    texts = [
        f"{_speed(link)}: {seconds(link.download_s)} longer, {_count(link)}"
        for link in links
    ]
    data: list[Spec] = [
        {
            "what": "saved",
            "launches": count,
            "s": count * saved.mid,
            "s_low": count * saved.low,
            "s_high": count * saved.high,
        }
        for count in (0, most)
    ]
    for link, text in zip(links, texts, strict=True):
        data += _link(link, text, most)
    return Chart(
        key="break-even",
        title="Seconds saved by launches against seconds of download",
        alt=told("When the larger download pays off", texts),
        draw=partial(_draw, data, launches=most),
        wide=True,
    )


def _speed(link: BreakEvenReport) -> str:
    return f"{link.link_mbit_per_s:,g} Mbit/s"


def _link(link: BreakEvenReport, text: str, most: float) -> Iterator[Spec]:
    """Yield the chart's data of a longer download, and of where it is paid for."""
    place = {"s": link.download_s.mid, "text": text, "label": _speed(link)}
    yield {"what": "link", **place}
    paid = math.inf if link.launches is None else link.launches
    # The label stands where the line of what is saved isn't near.
    if paid <= most / 2:
        yield {"what": "right", "launches": most, **place}
    else:
        yield {"what": "left", "launches": 0, **place}
    if paid <= most:
        yield {"what": "crossing", "launches": paid, **place}


def _draw(data: Sequence[Spec], *, launches: float, width: int) -> Drawing:
    """Draw what launches save, and what the download costs over each link.

    :param launches: where the axis ends.
    """
    scale, axis = {"domain": [0, launches]}, {"tickCount": 5}
    x = charts.quantity("launches", "cold launches", scale=scale, axis=axis)
    y = charts.quantity("s", "seconds", axis={"tickCount": 6})
    saved, whole = (
        charts.only("saved"),
        {"y": {**y, "field": "s_low"}, "y2": {"field": "s_high"}},
    )
    area = charts.mark("area", fill=_SAVED, opacity=0.18)
    line = charts.mark("line", stroke=_SAVED, strokeWidth=2.5)
    rule = charts.mark("rule", stroke=charts.MUTED, strokeDash=[5, 3])
    point = charts.telling("point", filled=True, color=_SAVED, size=110, opacity=1)
    return charts.layered(
        [
            charts.layer(area, where=saved, **whole, x=x),
            charts.layer(line, where=saved, x=x),
            charts.layer(rule, where=charts.only("link")),
            *charts.names(_SIDES, x=x),
            charts.layer(point, where=charts.only("crossing"), x=x),
        ],
        values=data,
        width=width,
        height=_HEIGHT,
        y=y,
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
        return "never pays off"
    low, high = (_number(end) for end in (link.launches_low, link.launches_high))
    return f"pays off after {_number(link.launches)} launches ({low}\N{EN DASH}{high})"


def _number(launches: float | None) -> str:
    if launches is None:
        return "never"
    if launches > _MANY:
        return f"over {_MANY:,}"
    return f"{launches:.1f}" if launches < _FEW else f"{launches:.0f}"


def _table(links: Sequence[BreakEvenReport]) -> Table:
    return Table(
        caption="Longer download, and launches until it pays off, by link",
        heads=("link", "longer download", "launches", "at best", "at worst"),
        rows=tuple(
            (
                _speed(link),
                seconds(link.download_s),
                _number(link.launches),
                _number(link.launches_low),
                _number(link.launches_high),
            )
            for link in links
        ),
    )
