"""Measured launches as a table and box plots, in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.units import format_bytes
from .lines import COLUMNS, wrapped
from .names import printable
from .phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..capture.measure import CodecMeasurement, Measurement, Sample
    from .measure_json import MeasurementReport

LEGEND = "|--[==O==]--|: shortest, first quartile, median, third quartile, longest."
_METHODS = {
    "launch": "Launches",
    "replay": "Reads of a recorded launch, replayed without starting the app",
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
_TIME_COLUMNS = 18
_LONG_S = 1.0
"""Where a cold launch takes as long, seconds are shown, else milliseconds."""

_MS_PER_S = 1000


def render_measurement_text(measurement: Measurement) -> str:
    """Return a measurement as plain text."""
    codecs = measurement.codecs
    longest_s = max(codec.cold_s.median for codec in codecs.values())
    as_text = _seconds if longest_s >= _LONG_S else _milliseconds
    unit = "seconds" if longest_s >= _LONG_S else "milliseconds"
    lines = [
        f"{_METHODS[measurement.method]} (measured)",
        "",
        *_table(measurement, as_text),
        "",
    ]
    for title, samples in _samples(measurement).items():
        plot = box_plot(samples, columns=COLUMNS, as_text=as_text)
        lines += [f"{title}, {unit}", *plot, ""]
    lines += _legend(measurement, unit)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _samples(measurement: Measurement) -> dict[str, dict[str, Sample]]:
    """Return what is plotted: samples by codec, by title."""
    codecs = measurement.codecs
    walks = {name: codec.walk_s for name, codec in codecs.items() if codec.walk_s}
    return {
        "Cold launches": {name: codec.cold_s for name, codec in codecs.items()},
        "Warm launches": {name: codec.warm_s for name, codec in codecs.items()},
        **({"Reading every file": walks} if walks else {}),
    }


def _table(measurement: Measurement, as_text: Callable[[float], str]) -> Iterator[str]:
    walked = any(codec.walk_s for codec in measurement.codecs.values())
    heads = ["cold", "warm", *(["walk"] if walked else [])]
    yield f"{'codec':7}{'image':>9}" + _cells(heads) + f"{'n':>5}"
    for codec in measurement.codecs.values():
        yield _row(codec, as_text)
    for name in measurement.unavailable:
        yield f"{name:7}not available"


def _row(codec: CodecMeasurement, as_text: Callable[[float], str]) -> str:
    samples = [codec.cold_s, codec.warm_s]
    if codec.walk_s:
        samples.append(codec.walk_s)
    image = format_bytes(codec.image_bytes)
    cells = _cells([_median_and_spread(sample, as_text) for sample in samples])
    return f"{codec.codec:7}{image:>9}{cells}{codec.cold_s.n:5}"


def _cells(texts: list[str]) -> str:
    return "".join(text.rjust(_TIME_COLUMNS) for text in texts)


def _median_and_spread(sample: Sample, as_text: Callable[[float], str]) -> str:
    spread = "" if sample.stdev is None else f" ±{as_text(sample.stdev)}"
    return f"{as_text(sample.median)}{spread}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * _MS_PER_S:.2f}"


def notes_on(measurement: Measurement | MeasurementReport) -> Iterator[str]:
    """Yield what to know of a measurement before comparing figures, in sentences."""
    yield _STORAGE[measurement.storage]
    if measurement.dropped == "payload":
        yield _ONLY_PAYLOAD_DROPPED
    if measurement.mount == "squashfuse":
        yield _SQUASHFUSE


def machine_of(measurement: Measurement | MeasurementReport) -> str:
    """Return where and how launches were measured, in a line."""
    ahead = measurement.read_ahead_kb
    told = "not known" if ahead is None else f"{ahead} KiB"
    return (
        f"Linux {measurement.kernel}, {measurement.processor}, mounted by "
        f"{measurement.mount}, read-ahead {told}"
    )


def _legend(measurement: Measurement, unit: str) -> Iterator[str]:
    runs = _runs(measurement)
    notes = (
        f"Times in {unit}: median ± standard deviation of {runs}, alternating codecs.",
        LEGEND,
        *notes_on(measurement),
    )
    yield from wrapped(" ".join(notes), COLUMNS)
    for name, reason in measurement.unavailable.items():
        yield from wrapped(f"{name}: {printable(reason)}", COLUMNS, rest="  ")
    yield from wrapped(machine_of(measurement), COLUMNS, rest="  ")


def _runs(measurement: Measurement) -> str:
    runs = counted(measurement.runs, "run")
    walks = {codec.walk_s.n for codec in measurement.codecs.values() if codec.walk_s}
    return f"{runs} (walk: {max(walks)})" if walks else runs


def box_plot(
    samples: Mapping[str, Sample], *, columns: int, as_text: Callable[[float], str]
) -> list[str]:
    """Return a box plot of each sample, all on one axis.

    :param samples: by name; at least one.
    :param columns: width of the lines; 40 at least.
    :param as_text: how the axis' ends, in seconds, print.
    :return: the axis' ends, then a line a sample.
    """
    label_columns = max(map(len, samples)) + 1
    width = columns - label_columns
    low = min(sample.five_numbers[0] for sample in samples.values())
    high = max(sample.five_numbers[4] for sample in samples.values())
    first_end, last_end = as_text(low), as_text(high)
    axis = first_end + last_end.rjust(width - len(first_end))
    return [
        " " * label_columns + axis,
        *(
            f"{name:{label_columns}}{_box(sample, low, high, width)}".rstrip()
            for name, sample in samples.items()
        ),
    ]


def _box(sample: Sample, low: float, high: float, width: int) -> str:
    """Draw one box; where characters meet, the one that says more is on top."""

    def place(seconds: float) -> int:
        return round((seconds - low) / (high - low) * (width - 1)) if high > low else 0

    least, first, median, third, most = map(place, sample.five_numbers)
    cells = [" "] * width
    cells[least : most + 1] = "-" * (most + 1 - least)
    cells[first : third + 1] = "=" * (third + 1 - first)
    for column, mark in ((least, "|"), (most, "|"), (first, "["), (third, "]")):
        cells[column] = mark
    cells[median] = "O"
    return "".join(cells)
