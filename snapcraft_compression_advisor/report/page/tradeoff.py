"""Size against cold launch, for every codec and device."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.tradeoff import (
    TradeoffPoint,
    draw_tradeoff,
)
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import (
    WHAT_IF,
    seconds,
    size,
    sizes_made,
    starred,
    versus,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.codecs import CodecName
    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.report_launch import (
        CostReport,
        LaunchReport,
    )


DRAWN_APPS = 3
"""Apps whose launches are drawn; those of others stand in tables."""


_COLD = (
    "Seconds are what a cold launch, the first one after the system has started, takes "
    "longer than a warm one."
)
_LEGEND = (
    "Each point is a codec: the further left, the smaller the image; the lower, the "
    "sooner it starts. Lines through it are intervals. Filled points can be shipped, "
    "hollow ones can't."
)


def tradeoff_section(report: Report) -> Section:
    """Return each codec's size and launch."""
    launches = [launch for launch in report.launches if launch.files]
    groups = [
        Group(
            heading=f"App {launch.app}" if len(launches) > 1 else "",
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
            yield Chart(
                key=f"tradeoff-{number}",
                title=device,
                alt=f"Image size against seconds added to a cold launch of "
                f"{launch.app} on {device}: "
                + "; ".join(point.text for point in points)
                + ".",
                draw=partial(draw_tradeoff, points),
                wide=False,
            )


def _points(
    report: Report, costs: Mapping[CodecName, CostReport]
) -> tuple[TradeoffPoint, ...]:
    return tuple(
        TradeoffPoint(
            codec=name,
            shippable=codec.shippable,
            image_bytes=codec.image_bytes,
            added_s=costs[name].added_s,
            text=f"{starred(name, codec)}: {size(codec.image_bytes)}, "
            f"{seconds(costs[name].added_s)}",
        )
        for name, codec in report.trial.codecs.items()
        if codec.image_bytes is not None
        and codec.image_bytes.low > 0  # the axis is logarithmic
        and name in costs
    )


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
