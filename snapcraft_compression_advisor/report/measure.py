"""Measured launches: a page, and JSON."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ..capture.samples import CONFIDENCE, saved_seconds
from ..codecs import SHIPPABLE
from ..core.units import (
    Interval,
    counted,
    percent,
    seconds,
    size,
)
from .document import Part, document_text, part
from .model import Cell, Entry, Page, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..capture.measure import CodecMeasurement, Measurement
    from ..capture.samples import Sample

_BASELINE = "xz"
_VERBS = {"launch": "starts", "replay": "reads"}
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
_STEADY = "Leave the machine idle, or add rounds with --runs."
WHAT_IF = "* for comparison: snapcraft and the store accept only xz and lzo."
_WIDE = 0.3
"""Of a figure: an interval that reaches further is shown by its ends."""


def measure_page(measurement: Measurement) -> Page:
    """Return the page of measured launches, and of lzo's saving."""
    sections = [
        Section(short=True, tables=(_times(measurement),), sentences=()),
        *_warnings(measurement),
        _differences(measurement),
        _conditions(measurement),
    ]
    return Page(
        title="Measured launches",
        headline=_answer(measurement),
        sections=tuple(each for each in sections if each is not None),
    )


def _answer(measurement: Measurement) -> str:
    """Return the sentence on what cold launches gain by lzo over xz.

    If lzo wasn't measured, the next codec is taken.
    """
    found = {
        name: known
        for name, codec in measurement.codecs.items()
        if (known := _saved(measurement, codec)) is not None
    }
    name = next((each for each in (*SHIPPABLE, *found) if each in found), None)
    if name is None:
        medians = sorted((e.cold_s.median, n) for n, e in measurement.codecs.items())
        listed = ", ".join(f"{each} {seconds(median)}" for median, each in medians)
        return f"Cold launches, median: {listed} (measured)"
    return _compared(name, found[name], measurement)


def _compared(name: str, saved: Interval, measurement: Measurement) -> str:
    """Return a difference in a sentence."""
    verb, confidence = _VERBS[measurement.method], f"{CONFIDENCE:.0%}"
    rounds = counted(measurement.runs, "round")
    if saved.low <= 0 <= saved.high:
        return (
            f"{rounds} don't show whether {name} {verb} faster than {_BASELINE}: it "
            f"saves {_reach(saved)} per cold launch ({confidence} confidence). "
            "Add rounds with --runs."
        )
    how, does, longer = "faster", "saves", ""
    if saved.low <= 0:
        how, does, longer, saved = "slower", "takes", " longer", -saved
    return (
        f"{name} {verb} {how} than {_BASELINE}: it {does} {_reach(saved)}"
        f"{longer} per cold launch ({rounds}, {confidence} confidence; measured)."
    )


def _reach(saved: Interval) -> str:
    reach_s = (saved.high - saved.low) / 2
    if reach_s >= _WIDE * abs(saved.mid):
        return str(seconds(saved))
    return f"{seconds(saved.mid)} ± {seconds(reach_s)}"


def _label(name: str) -> str:
    """Return a codec's name, with a star if it can't be shipped."""
    return name if name in SHIPPABLE else f"{name} *"


def _median(sample: Sample) -> str:
    """Return a sample's median and standard deviation."""
    spread = "" if sample.stdev is None else f" ± {seconds(sample.stdev)}"
    return f"{seconds(sample.median)}{spread}"


def _times(measurement: Measurement) -> Table:
    return Table(
        heads=("codec", "image", "cold", "warm"),
        rows=tuple(
            (
                _label(name),
                size(codec.image_bytes),
                _median(codec.cold_s),
                _median(codec.warm_s),
            )
            for name, codec in measurement.codecs.items()
        ),
    )


def _warnings(measurement: Measurement) -> Iterator[Section]:
    noisy = [
        f"{percent(cold.stdev / cold.mean)} with {name}"
        for name, codec in measurement.codecs.items()
        for cold in (codec.cold_s,)
        if cold.is_noisy and cold.stdev is not None
    ]
    text = (
        f"Noisy: cold launches vary by {', '.join(noisy)} (standard deviation by "
        f"mean). {_STEADY}"
    )
    entries = (Entry(mark="Warning:", tone="warning", title=text),) * bool(noisy)
    if entries or measurement.unavailable:
        yield Section(
            short=True,
            sentences=tuple(
                f"{name} not available: {reason}."
                for name, reason in measurement.unavailable.items()
            ),
            entries=entries,
        )


def _differences(measurement: Measurement) -> Section | None:
    """Return each codec's cold launches against xz, and their processor time."""
    rows: list[tuple[Cell, ...]] = []
    for name, codec in measurement.codecs.items():
        saved, cold = _saved(measurement, codec), codec.cold_s
        times = (
            seconds(statistics.median(runs)) if runs else ""
            for runs in (cold.user_s, cold.system_s)
        )
        rows.append((_label(name), _reach(saved) if saved else "", *times))
    if not any(cell for row in rows for cell in row[1:]):
        return None
    notes = [
        (
            f"Saving: mean with its {CONFIDENCE:.0%} confidence interval (± "
            "or range), from the differences within the rounds."
        )
    ]
    if any(each.cold_s.system_s for each in measurement.codecs.values()):
        notes.append(
            "CPU: median processor time of all processes of a cold launch; system CPU "
            "includes decompression by the kernel."
        )
    heads: tuple[str, ...] = (
        "codec",
        "saves",
        "user CPU",
        "system CPU",
    )
    if not any(row[2] or row[3] for row in rows):
        rows, heads = [row[:2] for row in rows], heads[:2]
    return Section(
        title=f"Cold launches against {_BASELINE}",
        origin="Measured.",
        sentences=tuple(notes),
        tables=(Table(heads=heads, rows=tuple(rows)),),
    )


def _conditions(measurement: Measurement) -> Section:
    runs = counted(measurement.runs, "run")
    ahead = measurement.read_ahead_kb
    texts = [
        f"Times: median ± standard deviation of {runs}, alternating codecs.",
        WHAT_IF,
        _METHODS[measurement.method],
        _STORAGE[measurement.storage],
    ]
    texts.append(
        f"Linux {measurement.kernel}, {measurement.processor}, mounted by the kernel, "
        "blocks of 128 KiB, read-ahead "
        f"{'not known' if ahead is None else f'{ahead} KiB'}."
    )
    return Section(title="How it was measured", sentences=tuple(texts))


def _saved(measurement: Measurement, codec: CodecMeasurement) -> Interval | None:
    xz = measurement.codecs.get(_BASELINE)
    if xz is None or codec is xz:
        return None
    return saved_seconds(xz.cold_s, codec.cold_s)


def measure_json(measurement: Measurement) -> str:
    """Return a measurement as JSON text."""
    codecs = {
        name: part(
            codec,
            "image_bytes",
            cold_s=_sample(codec.cold_s),
            warm_s=_sample(codec.warm_s),
            difference=_difference_part(_saved(measurement, codec), measurement.runs),
        )
        for name, codec in measurement.codecs.items()
    }
    return document_text(
        part(
            measurement,
            "unavailable method storage read_ahead_kb runs kernel processor",
            mount="kernel",
            dropped="system",
            codecs=codecs,
        )
    )


def _sample(sample: Sample) -> Part:
    return part(sample, "median stdev n user_s system_s", runs=sample.runs_s)


def _difference_part(saved: Interval | None, rounds: int) -> Part | None:
    """Return the difference from xz as JSON has it."""
    if saved is None:
        return None
    return {
        "than": _BASELINE,
        "confidence": CONFIDENCE,
        "rounds": rounds,
        "saved_s": saved,
    }
