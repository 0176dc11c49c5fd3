"""Measured launches against those with xz, and what is to be said of their runs."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ...capture.samples import PLAIN_COPIES, Sample
from ...codecs import SHIPPABLE
from ..phrases import LISTED_NAMES, counted
from .model import Table
from .texts import percent, seconds, short_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def label(name: str) -> str:
    """Return a codec's name, with a star where it can't be shipped."""
    return name if name in SHIPPABLE or name in PLAIN_COPIES else f"{name} *"


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
    rounds, confidence = counted(against.rounds, "round"), f"{against.confidence:.0%}"
    if saved.low <= 0 <= saved.high:
        return (
            f"{rounds} don't show whether {name} {verb} faster than {against.than}: it "
            f"saves {_seconds(saved)} per cold launch ({confidence} confidence). "
            "Add rounds with --until-precise."
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
        f"{name} {verb} {times}{how} than {against.than}: it {does} {_seconds(taken)}"
        f"{longer} per cold launch ({rounds}, {confidence} confidence)."
    )


def differences_table(measurement: MeasurementReport) -> Table | None:
    """Return each codec's cold launches against xz, and their processor time.

    :returns: ``None`` where neither is known.
    """
    codecs = measurement.everything
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
                label(name),
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
        (c.difference for c in measurement.everything.values() if c.difference), None
    )
    if against is not None:
        yield (
            f"Speed and saving: mean with its {against.confidence:.0%} confidence "
            "interval (± or range), from the differences within "
            f"{counted(against.rounds, 'round')}."
        )
    if measurement.compared:
        yield (
            f"{' and '.join(measurement.compared)}: the same files without squashfs."
        )
    if measurement.precision is not None:
        yield (
            "The number of rounds wasn't fixed, so the interval is widened for "
            f"{counted(measurement.precision.checks, 'planned check')}."
        )
    if any(codec.cold_s.system_s for codec in measurement.codecs.values()):
        yield (
            "CPU: median processor time of all processes of a cold launch; system CPU "
            "includes decompression by the kernel."
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
            f"Noisy: cold launches vary by {', '.join(noisy)} (standard deviation by "
            f"mean). {_STEADY}"
        )


def _samples(measurement: MeasurementReport) -> Iterator[tuple[str, str, Sample]]:
    """Yield the runs of each state and codec; a saved report may have none."""
    for name, codec in measurement.everything.items():
        for state, report in (("cold", codec.cold_s), ("warm", codec.warm_s)):
            if report.runs:
                yield state, name, Sample(runs_s=tuple(report.runs))


def _listed(told: Sequence[str]) -> str:
    more = len(told) - LISTED_NAMES
    rest = f"; {more} more" if more > 0 else ""
    return "; ".join(told[:LISTED_NAMES]) + rest


def _run(sample: Sample, number: int) -> str:
    """Return an outlier's seconds, beside the median."""
    run_s = short_seconds(sample.runs_s[number - 1])
    return f"{run_s} (median {short_seconds(sample.median)})"


def _times(ratio: Figure) -> str:
    """Return a ratio with the reach of its interval; a wide one by its ends."""
    if _is_wide(ratio):
        return f"{ratio.mid:.2f} ({ratio.low:.2f}\N{EN DASH}{ratio.high:.2f})"
    return f"{ratio.mid:.2f} ± {(ratio.high - ratio.low) / 2:.2f}"


def _seconds(saved: Figure) -> str:
    if _is_wide(saved):
        return seconds(saved)
    reach_s = (saved.high - saved.low) / 2
    return f"{short_seconds(saved.mid)} ± {short_seconds(reach_s)}"


def _is_wide(figure: Figure) -> bool:
    return (figure.high - figure.low) / 2 >= _WIDE * abs(figure.mid)
