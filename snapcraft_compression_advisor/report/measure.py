"""Measured launches: a page, and JSON."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ..capture.samples import CONFIDENCE, difference
from ..codecs import SHIPPABLE
from ..core.units import (
    Interval,
    counted,
    first_of,
    percent,
    seconds,
    size,
)
from .document import Part, document_text, part
from .model import Cell, Entry, Page, Section, Table
from .words import WHAT_IF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..capture.measure import CodecMeasurement, Measurement
    from ..capture.samples import Difference, Sample

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
_FIRST = {
    "launch": "An app sets something up when it first starts: measure again with "
    "--home DIR, which keeps that.",
    "replay": "Storage may have been busy before: measure again.",
}
_QUIET = "Close other programs and measure again; all figures include these runs."
_STEADY = "Leave the machine idle, or add rounds with --runs."
_WIDE = 0.3
"""Of a figure: an interval that reaches further is shown by its ends."""


def measure_page(measurement: Measurement) -> Page:
    """Return the page of measured launches, and of lzo's saving."""
    sections = [
        Section(short=True, tables=(_times(measurement),)),
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
        if (known := _difference(measurement, codec)) is not None
    }
    name = next((each for each in (*SHIPPABLE, *found) if each in found), None)
    if name is None:
        medians = sorted((e.cold_s.median, n) for n, e in measurement.codecs.items())
        listed = ", ".join(f"{each} {seconds(median)}" for median, each in medians)
        return f"Cold launches, median: {listed} (measured)"
    return _compared(name, found[name], verb=_VERBS[measurement.method])


def _compared(name: str, found: Difference, *, verb: str) -> str:
    """Return a difference in a sentence."""
    saved, ratio = found.saved_s, found.times_faster
    rounds, confidence = counted(found.rounds, "round"), f"{CONFIDENCE:.0%}"
    if saved.low <= 0 <= saved.high:
        return (
            f"{rounds} don't show whether {name} {verb} faster than {_BASELINE}: it "
            f"saves {_reach(saved)} per cold launch ({confidence} confidence). "
            "Add rounds with --runs."
        )
    faster, times = saved.low > 0, ""
    if ratio is not None and ratio.low > 0:
        shown = ratio if faster else ratio.map(lambda each: 1 / each)
        times = f"{_ratio(shown)} times "
    how, does = ("faster", "saves") if faster else ("slower", "takes")
    taken = saved if faster else -saved
    longer = "" if faster else " longer"
    return (
        f"{name} {verb} {times}{how} than {_BASELINE}: it {does} {_reach(taken)}"
        f"{longer} per cold launch ({rounds}, {confidence} confidence; measured)."
    )


def _ratio(ratio: Interval) -> str:
    """Return a ratio with the reach of its interval; a wide one by its ends."""
    reach = (ratio.high - ratio.low) / 2
    if reach >= _WIDE * abs(ratio.mid):
        return f"{ratio.mid:.2f} ({ratio.low:.2f}\N{EN DASH}{ratio.high:.2f})"
    return f"{ratio.mid:.2f} ± {reach:.2f}"


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
    entries = tuple(
        Entry(mark="Warning:", tone="warning", title=text)
        for text in _on_runs(measurement)
    )
    if entries or measurement.unavailable:
        yield Section(
            short=True,
            sentences=tuple(
                f"{name} not available: {reason}."
                for name, reason in measurement.unavailable.items()
            ),
            entries=entries,
        )


def _on_runs(measurement: Measurement) -> Iterator[str]:
    """Yield what in the runs themselves limits the figures, and what to do."""
    firsts: list[str] = []
    others: list[str] = []
    noisy: list[str] = []
    for name, codec in measurement.codecs.items():
        for state, sample in (("cold", codec.cold_s), ("warm", codec.warm_s)):
            for number in sample.outliers:
                what = (
                    f"{state} launch {number} with {name}, "
                    f"{seconds(sample.runs_s[number - 1])} "
                    f"(median {seconds(sample.median)})"
                )
                (firsts if number == 1 else others).append(what)
        cold = codec.cold_s
        if cold.is_noisy and cold.stdev is not None:
            noisy.append(f"{percent(cold.stdev / cold.mean)} with {name}")
    if firsts:
        yield f"First runs differ: {first_of(firsts)}. {_FIRST[measurement.method]}"
    if others:
        yield f"Outliers: {first_of(others)}. {_QUIET}"
    if noisy:
        yield (
            f"Noisy: cold launches vary by {', '.join(noisy)} (standard deviation by "
            f"mean). {_STEADY}"
        )


def _differences(measurement: Measurement) -> Section | None:
    """Return each codec's cold launches against xz, and their processor time."""
    rows: list[tuple[Cell, ...]] = []
    for name, codec in measurement.codecs.items():
        found = _difference(measurement, codec)
        cold = codec.cold_s
        times = (
            seconds(statistics.median(runs)) if runs else ""
            for runs in (cold.user_s, cold.system_s)
        )
        ratio = found.times_faster if found else None
        saves = _reach(found.saved_s) if found else ""
        rows.append((_label(name), _ratio(ratio) if ratio else "", saves, *times))
    if not any(cell for row in rows for cell in row[1:]):
        return None
    notes = [
        (
            f"Speed and saving: mean with its {CONFIDENCE:.0%} confidence interval (± "
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
        f"speed ({_BASELINE}: 1)",
        "saves",
        "user CPU",
        "system CPU",
    )
    if not any(row[3] or row[4] for row in rows):
        rows, heads = [row[:3] for row in rows], heads[:3]
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


def _difference(measurement: Measurement, codec: CodecMeasurement) -> Difference | None:
    xz = measurement.codecs.get(_BASELINE)
    if xz is None or codec is xz:
        return None
    return difference(xz.cold_s, codec.cold_s)


def measure_json(measurement: Measurement) -> str:
    """Return a measurement as JSON text."""
    codecs = {
        name: part(
            codec,
            "image_bytes",
            cold_s=_sample(codec.cold_s),
            warm_s=_sample(codec.warm_s),
            difference=_difference_part(_difference(measurement, codec)),
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
    return part(sample, "median stdev n outliers user_s system_s", runs=sample.runs_s)


def _difference_part(found: Difference | None) -> Part | None:
    """Return the difference from xz as JSON has it."""
    names = "rounds saved_s times_faster"
    than = {"than": _BASELINE, "confidence": CONFIDENCE}
    return None if found is None else part(found, names, **than)
