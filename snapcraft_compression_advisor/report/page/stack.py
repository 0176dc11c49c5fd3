"""Which snap a cold launch waits for: with each codec, and who can change it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...codecs import SHIPPABLE
from ..stack import (
    CHANGE_TITLE,
    STACK_TITLE,
    change_table,
    how_read,
    snap_label,
    stack_sentences,
    stack_table,
)
from . import charts
from .model import Chart, Group, Section
from .texts import launch_groups, seconds, sentence, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..json_report import Report
    from ..report_launch import LaunchReport
    from .charts import Drawing, Spec

_LEGEND = (
    "Full bars are the codec that a snap has, pale ones what the other codec would "
    "add. Lines are intervals."
)
_ROW_PX = 44
_AXES_PX = 84
_WHAT_IF_OPACITY = 0.4


def stack_section(report: Report) -> Section | None:
    """Return what launches read of each snap; ``None`` where one snap is known."""
    launches = [launch for launch in report.launches if launch.stack]
    if not launches:
        return None
    groups = launch_groups(launches, _group)
    return Section(
        key="stack",
        title=STACK_TITLE,
        origin="Seconds and bytes estimated, with intervals.",
        legend=_LEGEND if any(group.charts for group in groups) else "",
        groups=groups,
    )


def change_section(report: Report) -> Section | None:
    """Return what another codec for each snap would save; ``None`` if unknown."""
    tables = {launch.app: change_table(launch) for launch in report.launches}
    launches = [launch for launch in report.launches if tables[launch.app] is not None]
    if not launches:
        return None
    return Section(
        key="change",
        title=CHANGE_TITLE,
        origin="Estimated, with intervals.",
        groups=launch_groups(
            launches, lambda launch: Group(table=tables[launch.app], open_table=True)
        ),
    )


def _group(launch: LaunchReport) -> Group:
    whose, *notes = stack_sentences(launch)
    return Group(
        paragraphs=(
            sentence(f"a cold launch of {launch.app} reads {how_read(launch)}"),
            whose,
        ),
        notes=tuple(notes),
        charts=tuple(_charts(launch)),
        table=stack_table(launch),
        open_table=True,
    )


def _charts(launch: LaunchReport) -> Iterator[Chart]:
    for number, device in enumerate(launch.stack_whole):
        bars = [*_bars(launch, device)]
        head = (
            f"Seconds that each snap adds to a cold launch of {launch.app} on {device}"
        )
        yield Chart(
            key=f"stack-{number}",
            title=device,
            alt=told(head, (bar["text"] for bar in bars)),
            draw=partial(_draw, bars),
            wide=False,
            device=device,
        )


def _bars(launch: LaunchReport, device: str) -> Iterator[Spec]:
    for snap in launch.stack:
        costs = snap.devices.get(device, {})
        for codec in SHIPPABLE:
            if codec in costs:
                added, packed = costs[codec].added_s, codec == snap.taken_as
                as_is = "as packed" if packed else "what if"
                yield {
                    "label": snap_label(snap),
                    "codec": codec,
                    **charts.ends("s", added),
                    "opacity": 1 if packed else _WHAT_IF_OPACITY,
                    "text": f"{snap_label(snap)}, {codec}, {as_is}: {seconds(added)}",
                }


def _draw(bars: Sequence[Spec], *, width: int) -> Drawing:
    """Draw a bar for each snap and codec, with its interval."""
    y = charts.rows(bars)
    line = charts.mark("rule", stroke=charts.INK, strokeWidth=1.5)
    opacity: Spec = {"field": "opacity", "type": "quantitative", "scale": None}
    low, high = ({"field": f"s_{end}"} for end in ("low", "high"))
    x = charts.quantity("s", "seconds added", axis={"tickCount": 5})
    return charts.layered(
        [
            charts.layer(charts.telling("bar"), opacity=opacity),
            charts.layer(line, x={**x, **low}, x2=high, color={"value": charts.INK}),
        ],
        values=bars,
        width=width,
        height=_AXES_PX + _ROW_PX * len(y["sort"]),
        x=x,
        y={**y, "scale": {"paddingInner": 0.3}},
        yOffset={"field": "codec", "type": "nominal", "sort": list(SHIPPABLE)},
        color=charts.series("codec", charts.CODEC_COLOURS, symbolType="square"),
    )
