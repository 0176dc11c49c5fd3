"""Every codec: its size against its cold launch, and the parts of that launch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from . import charts
from .model import Chart, Group, Section, Table
from .texts import (
    launch_groups,
    seconds,
    short_seconds,
    size,
    starred,
    told,
    versus,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.units import Interval
    from ..json_report import Report
    from ..report_launch import CostReport, LaunchReport
    from .charts import Drawing, Spec

_PARTS = (
    "Fixed is the time to request blocks and copy them, the same for every codec. "
    "Storage is the wait for the device. Decompression depends on the codec."
)
_WARM_MEASURED = "The warm launch was measured when the launch was recorded."
_WARM_UNKNOWN = (
    "The duration of a warm launch can't be derived from files, so the chart shows "
    "only the time that a cold launch adds. 'compression-advisor record' measures a "
    "warm launch."
)
_BARS = "Lines are the intervals of the totals. Codecs that can't be shipped are pale."
_PART_COLOURS: Mapping[str, str] = {
    "warm launch": "var(--warm)",
    "fixed": "var(--fixed)",
    "storage": "var(--storage)",
    "decompression": "var(--decompression)",
}
"""By part, in the order of the stack."""

_ROW_PX = 32
_AXES_PX = 74
_ONE_ROW_PX = 400
"""A chart so wide has its legend in one row."""

_WHAT_IF_OPACITY = 0.5


def codec_table(report: Report, launch: LaunchReport | None) -> Table:
    """Return every codec's size, and what it adds to a launch on each device."""
    devices = launch.devices if launch else {}
    codecs = report.trial.codecs
    xz = codecs["xz"].image_bytes if "xz" in codecs else None
    rows = []
    for name, codec in codecs.items():
        label, image = starred(name, codec), codec.image_bytes
        if image is None:
            rows.append((label, "not available", "", *("" for _ in devices)))
            continue
        added = (
            seconds(costs[name].added_s) if name in costs else ""
            for costs in devices.values()
        )
        rows.append((label, size(image), versus(image, xz), *added))
    app = f" of {launch.app}" if launch else ""
    return Table(
        caption=f"Image size and seconds added to a cold launch{app}"
        if devices
        else "Image size with every codec",
        heads=("codec", "image", "vs xz", *devices),
        short="all codecs and devices",
        rows=tuple(rows),
    )


def launch_section(report: Report) -> Section | None:
    """Return what launches take; ``None`` where none is known."""
    launches = [launch for launch in report.launches if launch.files]
    if not launches:
        return None
    recorded = any(_warm_s(launch) is not None for launch in launches)
    return Section(
        key="launch",
        title="Cold and warm launch",
        origin="Estimated"
        + ("; the warm launch measured." if recorded else ", with intervals."),
        paragraphs=(_PARTS, _WARM_MEASURED if recorded else _WARM_UNKNOWN),
        legend=_BARS,
        groups=launch_groups(
            launches,
            lambda launch: Group(
                charts=tuple(_launch_charts(report, launch)),
                table=_parts_table(report, launch),
            ),
        ),
    )


def _launch_charts(report: Report, launch: LaunchReport) -> Iterator[Chart]:
    whole = "of a cold launch" if _warm_s(launch) else "added to a cold launch"
    for number, (device, costs) in enumerate(launch.devices.items()):
        if not costs:
            continue
        stacks = {
            starred(name, report.trial.codecs.get(name)): cost
            for name, cost in costs.items()
        }
        totals = (
            f"{label} {short_seconds(sum(_parts_of(cost).values()))}"
            for label, cost in stacks.items()
        )
        data = [value for stack in stacks.items() for value in _stack(*stack)]
        yield Chart(
            key=f"launch-{number}",
            title=device,
            alt=told(
                f"Seconds {whole} of {launch.app} on {device} by codec, stacked", totals
            ),
            draw=partial(_draw_launch, data, title=f"seconds {whole}"),
            wide=False,
        )


def _parts_of(cost: CostReport) -> Mapping[str, float]:
    """Return the seconds of each part of a launch, in the order of the stack."""
    warm = {} if cost.warm_s is None else {"warm launch": cost.warm_s}
    return {
        **warm,
        "fixed": cost.copy_s,
        "storage": cost.io_s,
        "decompression": cost.decompress_s + cost.metadata_s,
    }


def _stack(label: str, cost: CostReport) -> Iterator[Spec]:
    """Yield the chart's data of one codec: the interval of the whole, and its parts."""
    whole, start = _whole(cost), 0.0
    yield {"label": label, "whole": True, "start": whole.low, "end": whole.high}
    for part, value in _parts_of(cost).items():
        yield {
            "label": label,
            "whole": False,
            "part": part,
            "start": start,
            "end": start + value,
            "opacity": _WHAT_IF_OPACITY if label.endswith("*") else 1,
            "text": f"{label}, {part}: {short_seconds(value)} of {seconds(whole)}",
        }
        start += value


def _draw_launch(data: Sequence[Spec], *, title: str, width: int) -> Drawing:
    """Draw a bar for each codec, with the interval of the whole.

    :param title: of the axis of seconds.
    """
    narrow = width < _ONE_ROW_PX
    shown = charts.distinct(data, "part")
    y, x = charts.rows(data), charts.quantity("start", title, axis={"tickCount": 5})
    end: Spec = {"field": "end"}
    colour = charts.series(
        "part",
        {part: each for part, each in _PART_COLOURS.items() if part in shown},
        symbolType="square",
        columns=2 if narrow else 4,
    )
    opacity: Spec = {"field": "opacity", "type": "quantitative", "scale": None}
    bar = charts.telling("bar", stroke=charts.PAPER, strokeWidth=1, height=18)
    line = charts.mark("rule", stroke=charts.INK, strokeWidth=1.5)
    stop = charts.mark("tick", stroke=charts.INK, size=9)
    return charts.layered(
        [
            charts.layer(
                bar, where="!datum.whole", x2=end, color=colour, opacity=opacity
            ),
            charts.layer(line, where="datum.whole", x2=end),
            charts.layer(stop, where="datum.whole"),
            charts.layer(stop, where="datum.whole", x={**x, **end}),
        ],
        values=data,
        width=width,
        height=_AXES_PX + _ROW_PX * len(y["sort"]) + 20 * narrow,
        x=x,
        y=y,
    )


def _whole(cost: CostReport) -> Interval:
    """Return what a cold launch takes; where the warm one isn't known, what it adds."""
    return cost.added_s.interval().map(lambda end: (cost.warm_s or 0.0) + end)


def _parts_table(report: Report, launch: LaunchReport) -> Table:
    warm = _warm_s(launch) is not None
    parts = [*_PART_COLOURS][not warm :]
    rows = [
        (
            device,
            starred(name, report.trial.codecs.get(name)),
            *(short_seconds(_parts_of(cost).get(part, 0.0)) for part in parts),
            seconds(_whole(cost)),
        )
        for device, costs in launch.devices.items()
        for name, cost in costs.items()
    ]
    return Table(
        caption=f"Parts of a cold launch of {launch.app}",
        heads=("device", "codec", *parts, "cold launch" if warm else "added"),
        rows=tuple(rows),
        words=frozenset((1,)),
    )


def _warm_s(launch: LaunchReport) -> float | None:
    costs = [cost for device in launch.devices.values() for cost in device.values()]
    return costs[0].warm_s if costs else None
