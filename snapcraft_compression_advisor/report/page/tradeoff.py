"""Image size against cold launch: what xz and lzo cost, and what other codecs would."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...core.units import format_bytes
from . import charts
from .codecs import codec_table
from .labels import Box, Label, place_labels
from .model import Chart, Group, Section
from .texts import (
    WHAT_IF,
    launch_groups,
    own_codec,
    seconds,
    short_seconds,
    size,
    starred,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...codecs import CodecName
    from ..json_report import Report
    from ..report_launch import CostReport, LaunchReport
    from .charts import Drawing, Spec

_POINTS = (
    "Further left is a smaller image, lower a faster start. Lines are intervals. "
    "Seconds are how much longer a cold launch takes than a warm one."
)
_HEIGHT_PX = 240
_MARGINS_PX = {"left": 56, "right": 10, "top": 6, "bottom": 42}
_SYMBOL_PX = 7
"""Half of what a point takes, its stroke included."""

_LINE_PX = 1.5
_MB = 1e6
_ROOM = 0.22
"""Of the range of sizes, left free at both sides for labels."""

_ABOVE = 1.12
"""Of the longest launch, where the axis ends."""


def tradeoff_section(report: Report) -> Section:
    """Return each codec's size and launch."""
    launches = [launch for launch in report.launches if launch.files]
    return Section(
        key="tradeoff",
        title="Size against cold launch" if launches else "Size",
        origin=_origin(report, timed=bool(launches)),
        legend=_POINTS if launches else "",
        groups=launch_groups(
            launches,
            lambda launch: Group(
                charts=tuple(_charts(report, launch)),
                table=codec_table(report, launch),
                drawn=True,
                table_note=f"{WHAT_IF}.",
            ),
        )
        or (
            Group(
                table=codec_table(report, None),
                table_note=f"{WHAT_IF}.",
                open_table=True,
            ),
        ),
    )


def _origin(report: Report, *, timed: bool) -> str:
    """Return in short how figures are known; the page says more at its end."""
    own = own_codec(report)
    if report.trial.mode == "exact":
        sizes = "Sizes measured"
    elif own:
        sizes = f"Size with {own} measured, others estimated"
    else:
        return "Estimated, with intervals."
    return f"{sizes}{'; seconds estimated, with intervals' if timed else ''}."


def _charts(report: Report, launch: LaunchReport) -> Iterator[Chart]:
    """Yield a device's chart of what can be shipped, and the one of all codecs."""
    for number, (device, costs) in enumerate(launch.devices.items()):
        points = _points(report, costs)
        shippable = [point for point in points if not point["what_if"]]
        for what_if, shown in ((False, shippable), (True, points)):
            if not shown or (what_if and len(shown) == len(shippable)):
                continue
            head = (
                "Image size against seconds added to a cold launch of "
                f"{launch.app} on {device}"
            )
            yield Chart(
                key=f"tradeoff-{number}{'-all' * what_if}",
                title=device,
                alt=told(head, (point["text"] for point in shown)),
                draw=partial(draw_tradeoff, shown),
                wide=False,
                device=device,
                what_if=what_if if len(points) > len(shippable) else None,
            )


def _points(report: Report, costs: Mapping[CodecName, CostReport]) -> list[Spec]:
    """Return each codec's size and launch on one device, as data of the chart."""
    return [
        {
            "name": starred(name, codec),
            "what_if": not codec.shippable,
            **charts.ends("mb", codec.image_bytes, _MB),
            **charts.ends("s", costs[name].added_s),
            "colour": (colour := charts.CODEC_COLOURS.get(name, charts.MUTED)),
            "fill": colour if codec.shippable else charts.PAPER,
            "text": f"{starred(name, codec)}: {size(codec.image_bytes)}, "
            f"{seconds(costs[name].added_s)}",
            "figures": f"{format_bytes(codec.image_bytes.mid)}, "
            f"{short_seconds(costs[name].added_s.mid)}",
        }
        for name, codec in report.trial.codecs.items()
        if codec.image_bytes is not None and name in costs
    ]


def draw_tradeoff(points: Sequence[Spec], *, width: int) -> Drawing:
    """Draw codecs by size and launch, with labels that cover nothing."""
    frame = Box(
        0,
        0,
        width - _MARGINS_PX["left"] - _MARGINS_PX["right"],
        _HEIGHT_PX - _MARGINS_PX["top"] - _MARGINS_PX["bottom"],
    )
    sizes, launches = _size_axis(points), _launch_axis(points)
    x = charts.quantity(
        "mb",
        "image, MB",
        scale={"domain": sizes, "nice": False, "zero": False},
        axis={"tickCount": 5, "grid": False},
    )
    y = charts.quantity(
        "s",
        "seconds added to a cold launch",
        scale={"domain": launches, "nice": False},
        axis={"tickCount": 5},
    )
    line = charts.mark("rule", strokeWidth=2 * _LINE_PX)
    faint: Spec = {"color": charts.PLAIN, "opacity": {"value": 0.55}}
    tall: Spec = {"y": {**y, "field": "s_low"}, "y2": {"field": "s_high"}}
    broad: Spec = {"x": {**x, "field": "mb_low"}, "x2": {"field": "mb_high"}}
    drawing = charts.layered(
        [
            charts.layer(line, where=charts.only("point"), **tall, **faint),
            charts.layer(line, where=charts.only("point"), **broad, **faint),
            charts.points(120, where=charts.only("point")),
            *charts.names({"label": {"align": "left", "baseline": "middle"}}),
        ],
        values=[
            *({**point, "what": "point"} for point in points),
            *_labels(points, frame, sizes, launches),
        ],
        width=round(frame.right),
        height=round(frame.bottom),
        x=x,
        y=y,
    )
    drawing.spec.update(autosize="none", padding=_MARGINS_PX)
    return drawing


def _size_axis(points: Sequence[Spec]) -> list[float]:
    low = min(point["mb_low"] for point in points)
    high = max(point["mb_high"] for point in points)
    room = _ROOM * (high - low) or abs(high) / 2 or 1.0
    return [low - room, high + room]


def _launch_axis(points: Sequence[Spec]) -> list[float]:
    low = min(0.0, *(point["s_low"] for point in points))
    high = max(0.0, *(point["s_high"] for point in points))
    return [_ABOVE * low, _ABOVE * high or 1.0]


def _labels(
    points: Sequence[Spec],
    frame: Box,
    sizes: Sequence[float],
    launches: Sequence[float],
) -> Iterator[Spec]:
    """Yield the chart's data of labels, each in the place that is free for it."""
    mb_per_px = (sizes[1] - sizes[0]) / frame.right
    s_per_px = (launches[1] - launches[0]) / frame.bottom

    def marks(point: Spec) -> Iterator[Box]:
        x, low_x, high_x = (
            (point[key] - sizes[0]) / mb_per_px for key in ("mb", "mb_low", "mb_high")
        )
        y, low_y, high_y = (
            (launches[1] - point[key]) / s_per_px for key in ("s", "s_low", "s_high")
        )
        half = _SYMBOL_PX
        yield Box(x - half, y - half, x + half, y + half)
        yield Box(low_x, y - _LINE_PX, high_x, y + _LINE_PX)
        yield Box(x - _LINE_PX, high_y, x + _LINE_PX, low_y)

    wanted = [
        Label(
            texts=(point["name"],)
            if point["what_if"]
            else (f"{point['name']}: {point['figures']}", point["name"]),
            marks=tuple(marks(point)),
        )
        for point in points
    ]
    for placed in place_labels(wanted, frame):
        if placed is not None:
            text, box = placed
            yield {
                "what": "label",
                "label": text,
                "mb": sizes[0] + box.left * mb_per_px,
                "s": launches[1] - (box.top + box.bottom) / 2 * s_per_px,
            }
