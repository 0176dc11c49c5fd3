"""Cold and warm launch with every codec, in their parts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..contract import Interval
from . import charts
from .model import Chart, Group, Section, Table
from .texts import app_heading, seconds, short_seconds, starred, told
from .tradeoff import DRAWN_APPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..json_report import Report
    from ..report_launch import CostReport, LaunchReport
    from .charts import Drawing, Spec


_PARTS = (
    "Fixed is the time to request blocks and copy them, the same for every codec. "
    "Storage is the wait for the device. Decompression depends on the codec."
)
_LEGEND = (
    "Lines are the intervals of the totals. Codecs that can't be shipped are pale."
)

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


def launch_section(report: Report) -> Section | None:
    """Return what launches take; ``None`` where none is known."""
    launches = [launch for launch in report.launches if launch.files]
    if not launches:
        return None
    recorded = any(_warm_s(launch) is not None for launch in launches)
    warm = (
        "The warm launch was measured when the launch was recorded."
        if recorded
        else "The duration of a warm launch can't be derived from files, so the chart "
        "shows only the time that a cold launch adds. 'compression-advisor "
        "record' measures a warm launch."
    )
    return Section(
        key="launch",
        title="Cold and warm launch",
        origin="Estimated"
        + ("; the warm launch measured." if recorded else ", with intervals."),
        paragraphs=(_PARTS, warm),
        legend=_LEGEND,
        groups=tuple(
            Group(
                heading=app_heading(launch, launches),
                charts=tuple(_charts(report, launch)) if number < DRAWN_APPS else (),
                table=_table(report, launch),
            )
            for number, launch in enumerate(launches)
        ),
    )


def _charts(report: Report, launch: LaunchReport) -> Iterator[Chart]:
    for number, (device, costs) in enumerate(launch.devices.items()):
        if not costs:
            continue
        whole = "of a cold launch" if _warm_s(launch) else "added to a cold launch"
        labels = {name: starred(name, report.trial.codecs.get(name)) for name in costs}
        yield Chart(
            key=f"launch-{number}",
            title=device,
            alt=told(
                f"Seconds {whole} of {launch.app} on {device} by codec, stacked",
                (
                    f"{labels[name]} {short_seconds(sum(_parts_of(cost).values()))}"
                    for name, cost in costs.items()
                ),
            ),
            draw=partial(
                _draw,
                [
                    value
                    for name, cost in costs.items()
                    for value in _data(labels[name], cost)
                ],
                title=f"seconds {whole}",
            ),
            wide=False,
        )


def _parts_of(cost: CostReport) -> Mapping[str, float]:
    """Return the seconds of each part of a launch, in the order of the stack."""
    warm = {} if cost.warm_s is None else {"warm launch": cost.warm_s}
    return {
        **warm,
        "fixed": cost.copy_s,
        "storage": cost.io_s,
        "decompression": cost.decompress_s,
    }


def _data(label: str, cost: CostReport) -> Iterator[Spec]:
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


def _draw(data: Sequence[Spec], *, title: str, width: int) -> Drawing:
    """Draw a bar for each codec, with the interval of the whole.

    :param title: of the axis of seconds.
    """
    labels = list(dict.fromkeys(value["label"] for value in data))
    shown = {value.get("part") for value in data}
    y, x = charts.rows(labels), charts.quantity("start", title, axis={"tickCount": 5})
    end: Spec = {"field": "end"}
    colour: Spec = {
        "field": "part",
        "type": "nominal",
        "scale": {
            "domain": [part for part in _PART_COLOURS if part in shown],
            "range": [each for part, each in _PART_COLOURS.items() if part in shown],
        },
        "legend": charts.legend(
            symbolType="square", columns=2 if width < _ONE_ROW_PX else 4
        ),
    }
    line = charts.mark("rule", stroke=charts.INK, strokeWidth=1.5)
    stop = charts.mark("tick", stroke=charts.INK, size=9)
    whole = "datum.whole === true"
    return charts.layered(
        [
            charts.layer(
                charts.telling("bar", stroke=charts.PAPER, strokeWidth=1, height=18),
                where="datum.whole === false",
                y=y,
                x=x,
                x2=end,
                color=colour,
                opacity={"field": "opacity", "type": "quantitative", "scale": None},
                description=charts.TOLD,
            ),
            charts.layer(line, where=whole, y=y, x=x, x2=end),
            charts.layer(stop, where=whole, y=y, x=x),
            charts.layer(stop, where=whole, y=y, x={**x, **end}),
        ],
        values=data,
        width=width,
        height=_AXES_PX + _ROW_PX * len(labels) + 20 * (width < _ONE_ROW_PX),
    )


def _whole(cost: CostReport) -> Interval:
    warm_s, added = cost.warm_s or 0.0, cost.added_s
    return Interval(
        low=warm_s + added.low, mid=warm_s + added.mid, high=warm_s + added.high
    )


def _table(report: Report, launch: LaunchReport) -> Table:
    warm = _warm_s(launch) is not None
    parts = (*(("warm launch",) if warm else ()), "fixed", "storage", "decompression")
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
