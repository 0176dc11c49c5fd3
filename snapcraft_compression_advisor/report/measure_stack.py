"""Launches measured over several mounts: a page, and JSON."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ..capture.paired import CONFIDENCE, difference
from ..capture.samples import Sample
from ..codecs import SHIPPABLE
from ..core.units import counted, format_bytes, seconds
from .document import document_text, part
from .measure import difference_part, median_text, sample_part
from .model import Page, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..capture.measure_stack import StackMeasurement
    from ..capture.paired import Difference

_METHODS = {"launch": "Launches", "replay": "Replayed reads of a recorded launch"}


def stack_page(measurement: StackMeasurement) -> Page:
    """Return what each snap's codec saves, and what every combination takes."""
    mounts = counted(len(measurement.layers), "mount")
    roles = tuple(layer.role for layer in measurement.layers)
    rows = tuple(
        (*each.codecs, median_text(each.cold_s), median_text(each.warm_s))
        for each in measurement.combinations
    )
    where = "in memory" if measurement.storage == "memory" else "on the disk"
    runs = counted(measurement.runs, "run")
    return Page(
        title="Measured launches over several mounts",
        headline=f"{_METHODS[measurement.method]} over {mounts} (measured)",
        sections=(
            Section(short=True, sentences=tuple(_layers(measurement))),
            Section(
                short=True,
                tables=(
                    Table(
                        heads=(*roles, "cold", "warm"),
                        rows=rows,
                        words=frozenset(range(len(roles))),
                    ),
                ),
            ),
            Section(
                title="How it was measured",
                sentences=(
                    (
                        f"Times: median ± standard deviation of {runs}, alternating "
                        "combinations. Savings: mean of all pairs of launches that "
                        f"differ in that codec alone, with the {CONFIDENCE:.0%} "
                        "confidence interval. Whoever publishes a snap chooses its "
                        "codec."
                    ),
                    (
                        f"Linux {measurement.kernel}, {measurement.processor}, images "
                        f"{where}, read-ahead {measurement.read_ahead_kb} KiB."
                    ),
                ),
            ),
        ),
    )


def _layers(measurement: StackMeasurement) -> Iterator[str]:
    for number, layer in enumerate(measurement.layers):
        sizes = ", ".join(
            f"{codec} {format_bytes(count)}"
            for codec, count in layer.image_bytes.items()
        )
        found = _difference(measurement, number)
        saves = (
            f"; lzo instead of xz for it alone saves {seconds(found.saved_s)} of a "
            "cold launch"
            if found
            else ""
        )
        yield f"{layer.role} {layer.snap}: {sizes}{saves}."


def _difference(measurement: StackMeasurement, layer: int) -> Difference | None:
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
    return difference(Sample(runs_s=slow), Sample(runs_s=fast))


def stack_json(measurement: StackMeasurement) -> str:
    """Return a measurement as JSON text."""
    return document_text(
        part(
            measurement,
            "method storage read_ahead_kb runs kernel processor",
            layers=[
                part(
                    layer,
                    "role snap image_bytes",
                    difference=difference_part(_difference(measurement, number)),
                )
                for number, layer in enumerate(measurement.layers)
            ],
            combinations=[
                part(
                    each,
                    "codecs",
                    cold_s=sample_part(each.cold_s),
                    warm_s=sample_part(each.warm_s),
                )
                for each in measurement.combinations
            ],
        )
    )
