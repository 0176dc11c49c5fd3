"""Cold and warm launch with every codec, in their parts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.report.charts.launch_parts import (
    LaunchBar,
    draw_launch_parts,
)
from snapcraft_compression_advisor.report.contract import Interval
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import (
    seconds,
    short_seconds,
    starred,
)
from snapcraft_compression_advisor.report.page.tradeoff import DRAWN_APPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.codecs import CodecName
    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.report_launch import (
        CostReport,
        LaunchReport,
    )


_PARTS = (
    "Fixed is asking for blocks and copying them, the same with every codec. Storage "
    "is waiting for the device. Decompression is the codec's own."
)
_LEGEND = (
    "The line is the interval of the whole. Codecs that can't be shipped are pale."
)


def launch_section(report: Report) -> Section | None:
    """Return what launches take; ``None`` where none is known."""
    launches = [launch for launch in report.launches if launch.files]
    if not launches:
        return None
    recorded = any(_warm_s(launch) is not None for launch in launches)
    warm = (
        "The warm launch was measured when the launch was recorded."
        if recorded
        else "How long a warm launch takes can't be told from files: what is shown is "
        "what a cold one takes longer. 'compression-advisor record' measures it."
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
                heading=f"App {launch.app}" if len(launches) > 1 else "",
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
        bars = tuple(_bar(report, name, cost) for name, cost in costs.items())
        whole = "of a cold launch" if _warm_s(launch) else "added to a cold launch"
        yield Chart(
            key=f"launch-{number}",
            title=device,
            alt=f"Seconds {whole} of {launch.app} on {device} by codec, stacked: "
            + "; ".join(
                f"{bar.label} {short_seconds(sum(bar.parts.values()))}" for bar in bars
            )
            + ".",
            draw=partial(draw_launch_parts, bars, title=f"seconds {whole}"),
            wide=False,
        )


def parts_of(cost: CostReport) -> Mapping[str, float]:
    """Return the seconds of each part of a launch, in the order of the stack."""
    warm = {} if cost.warm_s is None else {"warm launch": cost.warm_s}
    return {
        **warm,
        "fixed": cost.copy_s,
        "storage": cost.io_s,
        "decompression": cost.decompress_s,
    }


def _bar(report: Report, name: CodecName, cost: CostReport) -> LaunchBar:
    codec = report.trial.codecs.get(name)
    label, warm_s = starred(name, codec), cost.warm_s or 0.0
    parts = parts_of(cost)
    whole = seconds(_whole(cost))
    return LaunchBar(
        label=label,
        shippable=codec is not None and codec.shippable,
        parts=parts,
        texts={
            part: f"{label}, {part}: {short_seconds(value)} of {whole}"
            for part, value in parts.items()
        },
        low=warm_s + cost.added_s.low,
        high=warm_s + cost.added_s.high,
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
            *(short_seconds(parts_of(cost).get(part, 0.0)) for part in parts),
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
