"""Measured launches against those with xz, and what is to be said of their runs."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ...capture.samples import Sample
from ...codecs import SHIPPABLE
from ..phrases import LISTED_NAMES, counted
from .model import Table
from .texts import percent, short_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..contract import Figure
    from ..measure_json import (
        CodecMeasurementReport,
        DifferenceReport,
        MeasurementReport,
        SampleReport,
    )

_VERBS = {"launch": "starts", "replay": "reads"}
_SET_UP = (
    "An app that sets something up when it first starts makes such launches: measure "
    "again with --home DIR, which keeps what they set up."
)
_NOT_SETTLED = "Storage may have been busy before: measure again."
_FIRST = {"launch": _SET_UP, "replay": _NOT_SETTLED}
_QUIET = "Close other programs and measure again; all figures include these runs."
_STEADY = "Leave the machine idle, or add rounds with --until-precise."
_WIDE = 0.3
"""Of a figure: an interval that reaches further is shown by its ends."""


def difference_notes(measurement: MeasurementReport) -> Iterator[str]:
    """Yield in a sentence how much faster cold launches with lzo are than with xz.

    Where lzo wasn't measured, the next codec is taken.
    """
    found = {
        name: codec.difference
        for name, codec in measurement.codecs.items()
        if codec.difference is not None
    }
    name = next((each for each in (*SHIPPABLE, *found) if each in found), None)
    if name is not None:
        yield _told(name, found[name], verb=_VERBS[measurement.method])


def _told(name: str, against: DifferenceReport, *, verb: str) -> str:
    """Return a difference in a sentence."""
    saved, ratio = against.saved_s.interval(), against.times_faster
    basis = f"{counted(against.rounds, 'round')}, {against.confidence:.0%} confidence"
    if saved.low <= 0 <= saved.high:
        return (
            f"No difference between {name} and {against.than} shows: {name} saves "
            f"{_seconds(saved)} per cold launch ({basis}). "
            "--until-precise adds rounds."
        )
    faster = saved.low > 0
    times = ""
    if ratio is not None and ratio.low > 0:
        shown = ratio.interval() if faster else ratio.interval().map(lambda x: 1 / x)
        times = f"{_times(shown)} times "
    how, does = ("faster", "saves") if faster else ("slower", "takes")
    taken = saved if faster else saved.map(lambda x: -x)
    longer = "" if faster else " longer"
    return (
        f"{name} {verb} {times}{how} than {against.than}: it {does} "
        f"{_seconds(taken)}{longer} per cold launch ({basis})."
    )


def differences_table(measurement: MeasurementReport) -> Table | None:
    """Return each codec's cold launches against xz, and their processor time.

    :returns: ``None`` where neither is known.
    """
    codecs = measurement.codecs
    compared = any(codec.difference for codec in codecs.values())
    timed = any(codec.cold_s.system_s for codec in codecs.values())
    if not compared and not timed:
        return None
    than = next((c.difference.than for c in codecs.values() if c.difference), "")
    return Table(
        caption=" and ".join(
            [f"Cold launches against {than}"] * compared
            + ["their processor time" if compared else "Processor time"] * timed
        ),
        heads=(
            "codec",
            *(f"speed ({than}: 1)", "saves") * compared,
            *("user CPU", "system CPU") * timed,
        ),
        rows=tuple(
            (
                name if name in SHIPPABLE else f"{name} *",
                *_compared(codec) * compared,
                *_processor(codec.cold_s) * timed,
            )
            for name, codec in codecs.items()
        ),
    )


def _compared(codec: CodecMeasurementReport) -> tuple[str, str]:
    against = codec.difference
    if against is None:
        return "1", ""
    ratio = against.times_faster
    return "" if ratio is None else _times(ratio), _seconds(against.saved_s)


def _processor(cold: SampleReport) -> tuple[str, ...]:
    return tuple(
        short_seconds(statistics.median(runs)) if runs else ""
        for runs in (cold.user_s, cold.system_s)
    )


def legend_notes(measurement: MeasurementReport) -> Iterator[str]:
    """Yield how to read the table of differences, in sentences."""
    against = next(
        (c.difference for c in measurement.codecs.values() if c.difference), None
    )
    if against is not None:
        yield (
            f"Speed and saving: mean with its {against.confidence:.0%} confidence "
            "interval (± or range), from the differences within "
            f"{counted(against.rounds, 'round')}."
        )
    if measurement.precision is not None:
        yield (
            "The number of rounds wasn't fixed, so the interval is widened for "
            f"{counted(measurement.precision.checks, 'planned check')}."
        )
    if any(codec.cold_s.system_s for codec in measurement.codecs.values()):
        yield (
            "CPU: median processor time of all processes of a cold launch; that of the "
            "system includes decompression by the kernel."
        )


def run_warnings(measurement: MeasurementReport) -> Iterator[str]:
    """Yield what in the runs themselves limits the figures, and what to do."""
    if measurement.precision is not None and not measurement.precision.reached:
        yield (
            f"Not as precise as requested: {counted(measurement.runs, 'round')} don't "
            f"suffice for ± {short_seconds(measurement.precision.wanted_s)}. Set "
            "--max-runs higher, or measure on an idle machine."
        )
    firsts: list[str] = []
    others: list[str] = []
    noisy: list[str] = []
    for state, name, sample in _samples(measurement):
        for number in sample.outliers:
            what = f"{state} launch {number} with {name}, {_run(sample, number)}"
            (firsts if number == 1 else others).append(what)
        if state == "cold" and sample.is_noisy and sample.stdev is not None:
            noisy.append(f"{percent(sample.stdev / sample.mean)} with {name}")
    if firsts:
        yield f"First runs differ: {_listed(firsts)}. {_FIRST[measurement.method]}"
    if others:
        yield f"Outliers: {_listed(others)}. {_QUIET}"
    if noisy:
        yield (
            f"Noisy: the standard deviation of cold launches is {', '.join(noisy)} of "
            f"the mean. {_STEADY}"
        )


def _samples(measurement: MeasurementReport) -> Iterator[tuple[str, str, Sample]]:
    """Yield the runs of each state and codec; a saved report may have none."""
    for name, codec in measurement.codecs.items():
        for state, report in (("cold", codec.cold_s), ("warm", codec.warm_s)):
            if report.runs:
                yield state, name, Sample(runs_s=tuple(report.runs))


def _listed(told: Sequence[str]) -> str:
    more = len(told) - LISTED_NAMES
    rest = f"; {more} more" if more > 0 else ""
    return "; ".join(told[:LISTED_NAMES]) + rest


def _run(sample: Sample, number: int) -> str:
    """Return an outlier's seconds, beside the median."""
    seconds = short_seconds(sample.runs_s[number - 1])
    return f"{seconds} (median {short_seconds(sample.median)})"


def _times(ratio: Figure) -> str:
    return _spread(ratio, lambda number: f"{number:.2f}")


def _seconds(saved: Figure) -> str:
    return _spread(saved, short_seconds)


def _spread(figure: Figure, as_text: Callable[[float], str]) -> str:
    """Return a figure with the reach of its interval; a wide one by its ends."""
    reach = (figure.high - figure.low) / 2
    if reach < _WIDE * abs(figure.mid):
        return f"{as_text(figure.mid)} ± {as_text(reach)}"
    return f"{as_text(figure.mid)} ({as_text(figure.low)} to {as_text(figure.high)})"
