"""Box plots in text characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from snapcraft_compression_advisor.capture.timings import Sample

LEGEND = "|--[==O==]--|: shortest, first quartile, median, third quartile, longest."


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
