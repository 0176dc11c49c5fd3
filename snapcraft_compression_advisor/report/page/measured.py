"""Measured launches, with what was predicted of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.capture.timings import Sample
from snapcraft_compression_advisor.core.units import format_bytes
from snapcraft_compression_advisor.report.charts.boxes import (
    Box,
    Predicted,
    draw_boxes,
)
from snapcraft_compression_advisor.report.page.model import (
    Chart,
    Group,
    Section,
    Table,
)
from snapcraft_compression_advisor.report.page.texts import short_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.codecs import CodecName
    from snapcraft_compression_advisor.report.json_report import Report
    from snapcraft_compression_advisor.report.measure_json import (
        CodecMeasurementReport,
        MeasurementReport,
        SampleReport,
    )
    from snapcraft_compression_advisor.report.report_launch import CostReport


_SHIPPABLE = ("xz", "lzo")
_KINDS = {
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
    "disk": "The images were on a disk: a cold launch waited for it and for "
    "decompression.",
}
_BOXES = (
    "A box holds the middle half of the runs, the bar in it is the median, the line "
    "reaches from the shortest to the longest, and each dot is a run."
)


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
        origin="Measured" + ("; what was predicted is estimated." if report else "."),
        paragraphs=tuple(_paragraphs(measurement)),
        legend=_legend(measurement, report),
        groups=(
            Group(
                charts=tuple(_charts(measurement, report)),
                table=_table(measurement, report),
                open_table=True,
            ),
        ),
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
    ahead = measurement.read_ahead_kb
    told = "not known" if ahead is None else f"{ahead} KiB"
    return (
        (
            f"{measurement.runs} runs with each codec in turns; mounted by "
            f"{measurement.mount}, read-ahead {told}"
        ),
        f"Linux {measurement.kernel}, {measurement.processor}",
        *(
            f"{codec} wasn't measured: {reason}"
            for codec, reason in measurement.unavailable.items()
        ),
    )


def _paragraphs(measurement: MeasurementReport) -> Iterator[str]:
    yield f"{_METHODS[measurement.method]} {_STORAGE[measurement.storage]}"
    if measurement.dropped == "payload":
        yield (
            "Before a cold launch only the payload was dropped from the caches: what "
            "the launch needs of the system was warm."
        )
    if measurement.mount == "squashfuse":
        yield (
            "The images were mounted through squashfuse, which is slower than the "
            "kernel: compare codecs, but don't take these for the times of a snap."
        )


def _legend(measurement: MeasurementReport, report: Report | None) -> str:
    if report is None or not report.launches:
        return _BOXES
    left_out = ", storage left out" if measurement.storage == "memory" else ""
    return (
        f"{_BOXES} Red shapes are the cold launches that were predicted for devices: "
        f"the measured warm one, and what a device's estimate adds to it{left_out}."
    )


def _sample(codec: CodecMeasurementReport, kind: str) -> SampleReport | None:
    return {"cold": codec.cold_s, "warm": codec.warm_s, "walk": codec.walk_s}[kind]


def _charts(measurement: MeasurementReport, report: Report | None) -> Iterator[Chart]:
    for kind, title in _KINDS.items():
        boxes = tuple(
            _box(
                name,
                sample,
                _predicted(measurement, report, name) if kind == "cold" else (),
            )
            for name, codec in measurement.codecs.items()
            if (sample := _sample(codec, kind)) is not None and sample.runs
        )
        if boxes:
            yield Chart(
                key=f"measured-{kind}",
                title=title,
                alt=f"{title}, measured: {'; '.join(box.text for box in boxes)}.",
                draw=partial(draw_boxes, boxes, title="seconds"),
                wide=False,
            )


def _box(
    name: CodecName, sample: SampleReport, predicted: tuple[Predicted, ...]
) -> Box:
    label = name if name in _SHIPPABLE else f"{name} *"
    return Box(
        codec=name,
        label=label,
        five=Sample(runs_s=tuple(sample.runs)).five_numbers,
        runs_s=tuple(sample.runs),
        text=f"{label}: {_median(sample)}, {sample.n} runs",
        predicted=predicted,
    )


def _median(sample: SampleReport) -> str:
    spread = "" if sample.stdev is None else f" ±{short_seconds(sample.stdev)}"
    return f"{short_seconds(sample.median)}{spread}"


def _predicted(
    measurement: MeasurementReport, report: Report | None, name: CodecName
) -> tuple[Predicted, ...]:
    """Return the cold launch predicted on each device."""
    if report is None or not report.launches:
        return ()
    warm_s = measurement.codecs[name].warm_s.median
    found = []
    for device, costs in report.launches[0].devices.items():
        if name in costs:
            total_s = warm_s + _added_s(costs[name], measurement)
            text = f"{name}, predicted for {device}: {short_seconds(total_s)}"
            found.append(Predicted(device=device, seconds=total_s, text=text))
    return tuple(found)


def _added_s(cost: CostReport, measurement: MeasurementReport) -> float:
    if measurement.storage == "memory":
        return cost.copy_s + cost.decompress_s
    return cost.added_s.mid


def _table(measurement: MeasurementReport, report: Report | None) -> Table:
    walked = any(codec.walk_s for codec in measurement.codecs.values())
    devices = list(report.launches[0].devices) if report and report.launches else []
    rows = []
    for name, codec in measurement.codecs.items():
        predicted = {
            each.device: each for each in _predicted(measurement, report, name)
        }
        rows.append(
            (
                name if name in _SHIPPABLE else f"{name} *",
                format_bytes(codec.image_bytes),
                _median(codec.cold_s),
                _median(codec.warm_s),
                *([_median(codec.walk_s) if codec.walk_s else ""] if walked else []),
                *(
                    short_seconds(predicted[device].seconds)
                    if device in predicted
                    else ""
                    for device in devices
                ),
            )
        )
    return Table(
        caption="Measured seconds: median ± standard deviation",
        heads=(
            "codec",
            "image",
            "cold",
            "warm",
            *(["every file"] if walked else []),
            *(f"cold, predicted for {device}" for device in devices),
        ),
        rows=tuple(rows),
    )
