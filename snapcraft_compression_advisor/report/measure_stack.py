"""Launches measured over several mounts, as JSON and as text in 80 columns."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from .. import __version__
from ..capture.paired import CONFIDENCE, difference
from ..capture.samples import Sample
from ..codecs import SHIPPABLE, CodecName  # pydantic reads it at run time
from ..core.units import format_bytes
from ..payload.stack import Role  # likewise
from .contract import Count, Document, Part, Text, filled
from .lines import wrapped
from .measure_json import DifferenceReport, SampleReport
from .page.texts import short_seconds
from .phrases import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..capture.measure_stack import StackMeasurement

_CODEC_COLUMNS = 10
_TIME_COLUMNS = 18
_METHODS = {
    "launch": "Launches over {} (measured)",
    "replay": "Reads of a recorded launch over {}, replayed (measured)",
}


class LayerReport(Part):
    """A snap of the launch, mounted by itself."""

    role: Role
    snap: Text
    image_bytes: dict[CodecName, Count]
    difference: DifferenceReport | None = Field(
        default=None,
        description="cold launches with lzo for this snap alone against those with xz, "
        "whatever the others have; null unless both were measured twice or more",
    )


class CombinationReport(Part):
    """What was measured with one combination of codecs."""

    codecs: list[CodecName] = Field(description="of the layers, in their order")
    cold_s: SampleReport = Field(description="caches dropped right before")
    warm_s: SampleReport = Field(description="right after the cold one")


class StackMeasurementReport(Document):
    """The report of ``measure --base … --content … --format json``; all measured."""

    model_config = ConfigDict(title="compression-advisor measurement of a stack")

    layers: list[LayerReport] = Field(description="the app's own first")
    combinations: list[CombinationReport]
    method: Literal["launch", "replay"]
    storage: Literal["memory", "disk"] = Field(
        description="memory if the images stayed in memory, so that cold launches "
        "waited for decompression alone"
    )
    read_ahead_kb: int = Field(description="of the mounts")
    runs: Annotated[int, Field(ge=1)]
    kernel: str
    processor: str


def build_stack_report(measurement: StackMeasurement) -> StackMeasurementReport:
    """Return a measurement in the shape of the contract."""
    return filled(
        StackMeasurementReport,
        measurement,
        advisor_version=__version__,
        layers=[
            filled(LayerReport, layer, difference=_difference(measurement, number))
            for number, layer in enumerate(measurement.layers)
        ],
    )


def _difference(measurement: StackMeasurement, layer: int) -> DifferenceReport | None:
    """Return what lzo saves in one layer, each pair of launches alike in the others."""
    slow, fast = (
        tuple(
            chain.from_iterable(
                each.cold_s.runs_s
                for each in measurement.combinations
                if each.codecs[layer] == codec
            )
        )
        for codec in SHIPPABLE
    )
    if not slow or not fast or measurement.runs == 1:
        return None
    found = difference(Sample(runs_s=slow), Sample(runs_s=fast))
    if found is None:
        return None
    return filled(DifferenceReport, found, than=SHIPPABLE[0], confidence=CONFIDENCE)


def render_stack_json(measurement: StackMeasurement) -> str:
    """Return a measurement as JSON text."""
    return build_stack_report(measurement).text()


def render_stack_text(measurement: StackMeasurement) -> str:
    """Return a measurement as plain text."""
    report = build_stack_report(measurement)
    mounts = counted(len(report.layers), "mount")
    lines = [_METHODS[report.method].format(mounts), ""]
    lines += chain.from_iterable(map(_layer_lines, report.layers))
    lines += ["", *_table(report), "", *_legend(report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _layer_lines(layer: LayerReport) -> Iterator[str]:
    sizes = ", ".join(
        f"{codec} {format_bytes(count)}" for codec, count in layer.image_bytes.items()
    )
    yield from wrapped(f"{layer.role} {layer.snap}: {sizes}", rest="  ")
    if layer.difference is not None:
        saved = layer.difference.saved_s
        ends = f"{short_seconds(saved.low)} to {short_seconds(saved.high)}"
        yield from wrapped(
            f"  lzo instead of xz for it alone saves {short_seconds(saved.mid)} "
            f"({ends}) of a cold launch",
            rest="  ",
        )


def _table(report: StackMeasurementReport) -> Iterator[str]:
    heads = [layer.role for layer in report.layers]
    yield from _row(heads, ("cold", "warm"))
    for each in report.combinations:
        yield from _row(each.codecs, (_median(each.cold_s), _median(each.warm_s)))


def _row(names: Sequence[str], times: Sequence[str]) -> Iterator[str]:
    yield "".join(f"{name:{_CODEC_COLUMNS}}" for name in names) + "".join(
        f"{time:>{_TIME_COLUMNS}}" for time in times
    )


def _median(sample: SampleReport) -> str:
    spread = "" if sample.stdev is None else f" ±{short_seconds(sample.stdev)}"
    return f"{short_seconds(sample.median)}{spread}"


def _legend(report: StackMeasurementReport) -> Iterator[str]:
    runs = counted(report.runs, "run")
    yield from wrapped(
        f"Times: median ± standard deviation of {runs}, alternating combinations. "
        "Savings: mean of all pairs of launches that differ in that codec alone, "
        f"with the {CONFIDENCE:.0%} confidence interval. Whoever publishes a snap "
        "chooses its codec."
    )
    where = "in memory" if report.storage == "memory" else "on the disk"
    yield from wrapped(
        f"Linux {report.kernel}, {report.processor}, images {where}, read-ahead "
        f"{report.read_ahead_kb} KiB",
        rest="  ",
    )
