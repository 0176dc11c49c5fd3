"""Size against cold launch, for every codec and device."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from . import charts
from .model import Chart, Group, Section, Table
from .texts import (
    WHAT_IF,
    app_heading,
    seconds,
    size,
    sizes_made,
    starred,
    told,
    versus,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...codecs import CodecName
    from ..contract import Interval
    from ..json_report import Report
    from ..report_launch import CostReport, LaunchReport
    from .charts import Drawing, Spec

DRAWN_APPS = 3
"""Apps whose launches are drawn; those of others stand in tables."""

_COLD = (
    "Seconds are how much longer a cold launch, the first one after boot, takes than "
    "a warm one."
)
_LEGEND = (
    "Each point is a codec. Points further left are smaller images; lower points start "
    "faster. Lines are intervals. Filled points can be shipped, hollow ones can't."
)
_HEIGHT = 300
_MB = 1e6
_NEAR = 1.15
"""Times a size: labels of nearer ones would overlap."""


def tradeoff_section(report: Report) -> Section:
    """Return each codec's size and launch."""
    launches = [launch for launch in report.launches if launch.files]
    groups = [
        Group(
            heading=app_heading(launch, launches),
            charts=tuple(_charts(report, launch)) if number < DRAWN_APPS else (),
            table=_table(report, launch),
            open_table=True,
        )
        for number, launch in enumerate(launches)
    ]
    if not groups:
        groups = [Group(table=_table(report, None), open_table=True)]
    return Section(
        key="tradeoff",
        title="Size against cold launch" if launches else "Size",
        origin=_origin(report, launched=bool(launches)),
        paragraphs=(*((_COLD,) if launches else ()), f"{WHAT_IF}."),
        legend=_LEGEND if launches else "",
        groups=tuple(groups),
    )


def _origin(report: Report, *, launched: bool) -> str:
    sizes = sizes_made(report).sentence()
    return f"{sizes} Seconds: estimated, with their intervals." if launched else sizes


def _charts(report: Report, launch: LaunchReport) -> Iterator[Chart]:
    for number, (device, costs) in enumerate(launch.devices.items()):
        points = _points(report, costs)
        if points:
            head = (
                "Image size against seconds added to a cold launch of "
                f"{launch.app} on {device}"
            )
            yield Chart(
                key=f"tradeoff-{number}",
                title=device,
                alt=told(head, (point["text"] for point in points)),
                draw=partial(_draw, points),
                wide=False,
            )


def _points(report: Report, costs: Mapping[CodecName, CostReport]) -> list[Spec]:
    """Return each codec's size and launch on one device, as data of the chart."""
    return [
        {
            "label": starred(name, codec),
            **_ends("mb", codec.image_bytes, _MB),
            **_ends("s", costs[name].added_s),
            "colour": (colour := charts.CODEC_COLOURS.get(name, charts.MUTED)),
            "fill": colour if codec.shippable else charts.PAPER,
            "text": f"{starred(name, codec)}: {size(codec.image_bytes)}, "
            f"{seconds(costs[name].added_s)}",
        }
        for name, codec in report.trial.codecs.items()
        if codec.image_bytes is not None
        and codec.image_bytes.low > 0  # the axis is logarithmic
        and name in costs
    ]


def _ends(field: str, figure: Interval, unit: float = 1) -> Spec:
    """Return the data of a point and of the line through it."""
    return {
        field: figure.mid / unit,
        f"{field}_low": figure.low / unit,
        f"{field}_high": figure.high / unit,
    }


def _draw(points: Sequence[Spec], *, width: int) -> Drawing:
    x = charts.quantity(
        "mb",
        "image, MB (logarithmic)",
        scale={"type": "log", "nice": False, "padding": 32},
        axis={"tickCount": 4, "format": "~f", "grid": False},
    )
    y = charts.quantity("s", "seconds added to a cold launch", axis={"tickCount": 5})
    line = charts.mark("rule", strokeWidth=2)
    faint: Spec = {"color": charts.PLAIN, "opacity": {"value": 0.55}}
    beside = charts.mark("text", align="left", dx=9, dy=-9)
    below = charts.mark("text", align="center", dy=16)
    return charts.layered(
        [
            charts.layer(
                line, x=x, y={**y, "field": "s_low"}, y2={"field": "s_high"}, **faint
            ),
            charts.layer(
                line, x={**x, "field": "mb_low"}, x2={"field": "mb_high"}, y=y, **faint
            ),
            charts.layer(
                charts.telling("point", size=120, strokeWidth=2, opacity=1),
                x=x,
                y=y,
                stroke=charts.PLAIN,
                fill={**charts.PLAIN, "field": "fill"},
                description=charts.TOLD,
            ),
            charts.layer(
                beside, where="datum.above === true", x=x, y=y, text=charts.LABEL
            ),
            charts.layer(
                below, where="datum.above === false", x=x, y=y, text=charts.LABEL
            ),
        ],
        values=_labelled(points),
        width=width,
        height=_HEIGHT,
    )


def _labelled(points: Sequence[Spec]) -> list[Spec]:
    """Return points, sorted by size, with whether the label stands above each.

    Below it does where the label before stands above and too near.
    """
    first, *others = sorted(points, key=lambda point: float(point["mb"]))
    placed = [{**first, "above": True}]
    for point in others:
        before = placed[-1]
        near = point["mb"] < _NEAR * before["mb"]
        placed.append({**point, "above": not (near and before["above"])})
    return placed


def _table(report: Report, launch: LaunchReport | None) -> Table:
    devices = launch.devices if launch else {}
    codecs = report.trial.codecs
    xz = codecs["xz"].image_bytes if "xz" in codecs else None
    rows = []
    for name, codec in codecs.items():
        label = starred(name, codec)
        if codec.image_bytes is None:
            rows.append((label, "not available", "", *("" for _ in devices)))
            continue
        rows.append(
            (
                label,
                size(codec.image_bytes),
                versus(codec.image_bytes, xz),
                *(
                    seconds(costs[name].added_s) if name in costs else ""
                    for costs in devices.values()
                ),
            )
        )
    app = f" of {launch.app}" if launch else ""
    return Table(
        caption=f"Image size and seconds added to a cold launch{app}"
        if devices
        else "Image size with every codec",
        heads=("codec", "image", "vs xz", *devices),
        rows=tuple(rows),
    )
