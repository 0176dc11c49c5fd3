"""Measured launches, with what was predicted of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from ...capture.samples import Sample
from ...core.units import format_bytes
from ..phrases import counted
from . import charts
from .measured_differences import (
    difference_notes,
    differences_table,
    label,
    legend_notes,
    run_warnings,
)
from .measured_first_run import first_run_notes, first_run_table
from .model import Chart, Group, Section, Table
from .texts import short_seconds, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...codecs import CodecName
    from ..json_report import Report
    from ..measure_json import MeasurementReport, SampleReport
    from .charts import Drawing, Spec


KINDS = {
    "cold": "Cold launches",
    "warm": "Warm launches",
    "walk": "Reading every file",
}
_METHODS = {
    "launch": "The app was started and timed.",
    "replay": "The reads of a recorded launch were replayed; the app wasn't started.",
}
_STORAGE = {
    "memory": "The images were in memory: a cold launch waited for decompression "
    "alone, not for storage.",
    "disk": "The images were on a disk: a cold launch waited for the disk and for "
    "decompression.",
}
_ONLY_PAYLOAD_DROPPED = (
    "Before a cold launch, only the payload was dropped from the caches, because the "
    "user may not drop the system's: what the launch needs of the system was warm."
)
_SQUASHFUSE = (
    "The images were mounted through squashfuse, which is slower than the kernel: "
    "compare codecs, but an installed snap takes other times."
)
_BOXES = (
    "A box covers the middle half of the runs, its bar is the median, the line "
    "extends from the shortest to the longest run, and each dot is a run."
)
_ROW_PX = 40
_AXES_PX = 50
_LEGEND_PX = 26
_PREDICTED = "var(--decompression)"
_SHAPES = ("diamond", "triangle-up", "square", "cross")


def measured_section(
    measurement: MeasurementReport | None, report: Report | None
) -> Section | None:
    """Return measured launches; ``None`` where there are none.

    :param report: whose estimates are marked; ``None`` where there are none.
    """
    if measurement is None or not measurement.codecs:
        return None
    return Section(
        key="measured",
        title="Measured launches",
        origin="Measured" + ("; predictions are estimated." if report else "."),
        paragraphs=(
            *difference_notes(measurement),
            *run_warnings(measurement),
            _METHODS[measurement.method],
            *notes_on(measurement),
        ),
        legend=_legend(measurement, report),
        groups=(
            Group(
                charts=tuple(_charts(measurement, report)),
                table=measured_table(measurement, report),
                open_table=True,
            ),
            *_differences(measurement),
            *_first_runs(measurement),
        ),
    )


def _differences(measurement: MeasurementReport) -> Iterator[Group]:
    table = differences_table(measurement)
    if table is not None:
        yield Group(
            heading=table.caption,
            paragraphs=tuple(legend_notes(measurement)),
            table=replace(table, caption="Measured means, and medians of the CPU"),
            open_table=True,
        )


def _first_runs(measurement: MeasurementReport) -> Iterator[Group]:
    table = first_run_table(measurement)
    if table is not None:
        yield Group(
            heading="First runs",
            paragraphs=tuple(first_run_notes(measurement)),
            table=table,
            open_table=True,
        )


def fastest(measurement: MeasurementReport) -> str:
    """Return in a sentence which codec's cold launches were the shortest."""
    by_median = sorted(
        (codec.cold_s.median, name) for name, codec in measurement.codecs.items()
    )
    told = ", ".join(f"{name} {short_seconds(median)}" for median, name in by_median)
    return f"Cold launches, median: {told}"


def machine(measurement: MeasurementReport) -> tuple[str, ...]:
    """Return where and how launches were measured."""
    return (
        f"{counted(measurement.runs, 'run')} with each codec, alternating",
        machine_of(measurement),
        *(
            f"{codec} wasn't measured: {reason}"
            for codec, reason in measurement.unavailable.items()
        ),
    )


def notes_on(measurement: MeasurementReport) -> Iterator[str]:
    """Yield what to know of a measurement before comparing figures, in sentences."""
    yield _STORAGE[measurement.storage]
    if measurement.dropped == "payload":
        yield _ONLY_PAYLOAD_DROPPED
    if measurement.mount == "squashfuse":
        yield _SQUASHFUSE


def machine_of(measurement: MeasurementReport) -> str:
    """Return where and how launches were measured, in a line."""
    ahead = measurement.read_ahead_kb
    told = "not known" if ahead is None else f"{ahead} KiB"
    return (
        f"Linux {measurement.kernel}, {measurement.processor}, mounted by "
        f"{measurement.mount}, read-ahead {told}"
    )


def _legend(measurement: MeasurementReport, report: Report | None) -> str:
    if report is None or not report.launches:
        return _BOXES
    left_out = ", without storage" if measurement.storage == "memory" else ""
    return (
        f"{_BOXES} Red shapes are predicted cold launches: the measured warm launch "
        f"plus what each device's estimate adds{left_out}."
    )


def _charts(measurement: MeasurementReport, report: Report | None) -> Iterator[Chart]:
    for kind, title in KINDS.items():
        samples = {
            name: sample
            for name, codec in measurement.everything.items()
            if (sample := getattr(codec, f"{kind}_s")) is not None and sample.runs
        }
        if not samples:
            continue
        texts = {
            name: f"{label(name)}: {_median(sample)}, {counted(sample.n, 'run')}"
            for name, sample in samples.items()
        }
        data = [
            value
            for name, sample in samples.items()
            for value in _box(name, sample, texts[name])
        ]
        if kind == "cold":
            for name in (name for name in measurement.codecs if name in samples):
                data += _shapes(name, _predicted(measurement, report, name))
        yield Chart(
            key=f"measured-{kind}",
            title=title,
            alt=told(f"{title}, measured", texts.values()),
            draw=partial(_draw, data),
            wide=False,
        )


def _box(name: str, sample: SampleReport, text: str) -> Iterator[Spec]:
    """Yield the chart's data of one codec's runs."""
    least, first, median, third, most = Sample(runs_s=tuple(sample.runs)).five_numbers
    row = {
        "label": label(name),
        "colour": charts.CODEC_COLOURS.get(name, charts.MUTED),
    }
    yield {**row, "what": "reach", "a": least, "b": most}
    yield {**row, "what": "box", "a": first, "b": third, "text": text}
    yield {**row, "what": "median", "a": median}
    yield from ({**row, "what": "run", "a": seconds} for seconds in sample.runs)


def _shapes(name: str, predicted: Mapping[str, float]) -> Iterator[Spec]:
    """Yield the chart's data of what was predicted for each device."""
    for device, seconds in predicted.items():
        yield {
            "label": label(name),
            "what": "predicted",
            "a": seconds,
            "device": device,
            "text": f"{name}, predicted for {device}: {short_seconds(seconds)}",
        }


def _draw(data: Sequence[Spec], *, width: int) -> Drawing:
    """Draw a box for each codec, its runs as dots, what was predicted as shapes."""
    devices = charts.distinct(data, "device")
    y, x2 = charts.rows(data), {"field": "b"}
    x = charts.quantity("a", "seconds", axis={"tickCount": 5}, scale={"zero": False})
    reach = charts.mark("rule", stroke=charts.INK)
    box = charts.telling("bar", height=20, stroke=charts.INK, fillOpacity=0.75)
    median = charts.mark("tick", stroke=charts.INK, strokeWidth=3, size=20)
    run = charts.mark("point", filled=True, fill=charts.INK, size=12, opacity=0.6)
    layers = [
        charts.layer(reach, where=charts.only("reach"), x2=x2),
        charts.layer(box, where=charts.only("box"), x2=x2, fill=charts.PLAIN),
        charts.layer(median, where=charts.only("median")),
        charts.layer(run, where=charts.only("run")),
    ]
    if devices:  # a layer without marks would be a picture without a name
        look = {"filled": True, "fill": _PREDICTED, "stroke": charts.PAPER}
        shape = charts.telling("point", strokeWidth=1.5, size=150, opacity=1, **look)
        shapes = _shape_of(devices, width=width)
        layers.append(charts.layer(shape, where=charts.only("predicted"), shape=shapes))
    return charts.layered(
        layers,
        values=data,
        width=width,
        height=_AXES_PX + _ROW_PX * len(y["sort"]) + (_LEGEND_PX if devices else 0),
        x=x,
        y=y,
    )


def _shape_of(devices: Sequence[str], *, width: int) -> Spec:
    return charts.series(
        "device",
        dict(zip(devices, cycle(_SHAPES), strict=False)),
        title="predicted for",
        titleOrient="left",
        titleFontWeight="normal",
        titleFontSize=charts.FONT_PX,
        titleColor=charts.INK,
        labelLimit=width // 3,
        symbolFillColor=_PREDICTED,
        symbolOpacity=1,
        symbolSize=90,
    )


def _median(sample: SampleReport) -> str:
    spread = "" if sample.stdev is None else f" ±{short_seconds(sample.stdev)}"
    return f"{short_seconds(sample.median)}{spread}"


def _predicted(
    measurement: MeasurementReport, report: Report | None, name: CodecName
) -> dict[str, float]:
    """Return the seconds of the cold launch predicted on each device."""
    if report is None or not report.launches:
        return {}
    warm_s = measurement.codecs[name].warm_s.median
    in_memory = measurement.storage == "memory"
    return {
        device: warm_s
        + (
            cost.copy_s + cost.decompress_s + cost.metadata_s
            if in_memory
            else cost.added_s.mid
        )
        for device, costs in report.launches[0].devices.items()
        if (cost := costs.get(name)) is not None
    }


def measured_table(measurement: MeasurementReport, report: Report | None) -> Table:
    """Return each codec's times, and what was predicted of them."""
    codecs = measurement.everything
    walked = any(codec.walk_s for codec in codecs.values())
    devices = list(report.launches[0].devices) if report and report.launches else []
    predicted: dict[str, Mapping[str, float]] = {
        name: _predicted(measurement, report, name) for name in measurement.codecs
    }
    return Table(
        caption="Measured seconds: median ± standard deviation",
        heads=(
            "codec",
            "image",
            "cold",
            "warm",
            *["every file"] * walked,
            *(f"cold, predicted for {device}" for device in devices),
        ),
        rows=tuple(
            (
                label(name),
                format_bytes(codec.image_bytes),
                _median(codec.cold_s),
                _median(codec.warm_s),
                *[_median(codec.walk_s) if codec.walk_s else ""] * walked,
                *(
                    short_seconds(predicted[name][device])
                    if device in predicted.get(name, {})
                    else ""
                    for device in devices
                ),
            )
            for name, codec in codecs.items()
        ),
    )
