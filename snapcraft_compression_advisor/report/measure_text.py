"""Measured launches as the page's table and as box plots, in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.printable import printable
from .lines import COLUMNS, wrapped
from .measure_json import build_measurement_report
from .page.measured import KINDS, machine_of, measured_table, notes_on
from .page.measured_differences import (
    difference_notes,
    differences_table,
    legend_notes,
    run_warnings,
)
from .page.measured_first_run import first_run_notes, first_run_table
from .page.texts import WHAT_IF, short_seconds
from .phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..capture.measure import Measurement
    from ..capture.samples import Sample
    from .measure_json import MeasurementReport
    from .page.model import Table

LEGEND = "|--[==O==]--|: shortest, first quartile, median, third quartile, longest."
_METHODS = {
    "launch": "Launches",
    "replay": "Reads of a recorded launch, replayed without starting the app",
}
_TIME_COLUMNS = 18
_LABEL_COLUMNS = 7


def render_measurement_text(measurement: Measurement) -> str:
    """Return a measurement as plain text."""
    report = build_measurement_report(measurement)
    measured = {**measurement.codecs, **measurement.compared}
    table = measured_table(report, None)
    lines = [f"{_METHODS[measurement.method]} (measured)", ""]
    for sentence in difference_notes(report):
        lines += [*wrapped(sentence), ""]
    label_columns = max(_LABEL_COLUMNS, 1 + max(len(row[0]) for row in table.rows))
    for codec, image, *times in (table.heads, *table.rows):
        cells = "".join(time.rjust(_TIME_COLUMNS) for time in times)
        lines.append(f"{codec:{label_columns}}{image:>9}{cells}")
    lines += _columns(differences_table(report), label_columns)
    lines += _columns(first_run_table(report), label_columns)
    for kind, title in KINDS.items():
        times_of = {
            name: getattr(codec, f"{kind}_s") for name, codec in measured.items()
        }
        samples = {name: sample for name, sample in times_of.items() if sample}
        if samples:
            plot = box_plot(samples, columns=COLUMNS, as_text=short_seconds)
            lines += ["", title, *plot]
    for sentence in run_warnings(report):
        lines += ["", *wrapped(f"Warning: {sentence}", rest="  ")]
    lines += ["", *_legend(measurement, report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _columns(table: Table | None, label_columns: int) -> Iterator[str]:
    if table is None:
        return
    yield from ("", f"{table.caption} (measured)", "")
    rows = (table.heads, *table.rows)
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    for codec, *cells in rows:
        columns = zip(cells, widths[1:], strict=True)
        yield f"{codec:{label_columns}}" + "".join(
            f"{cell:>{width}}" for cell, width in columns
        )


def _legend(measurement: Measurement, report: MeasurementReport) -> Iterator[str]:
    runs = counted(measurement.runs, "run")
    walks = {each.walk_s.n for each in report.everything.values() if each.walk_s}
    runs += f" (every file: {max(walks)})" if walks else ""
    notes = (
        f"Times: median ± standard deviation of {runs}, alternating codecs.",
        LEGEND,
        f"{WHAT_IF}.",
        *legend_notes(report),
        *first_run_notes(report),
        *notes_on(report),
    )
    yield from wrapped(" ".join(notes))
    for name, reason in measurement.unavailable.items():
        yield from wrapped(f"{name} not available: {printable(reason)}", rest="  ")
    yield from wrapped(machine_of(report), rest="  ")


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
