"""Measured launches: a page, and JSON."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from ..capture.paired import CONFIDENCE, difference
from ..capture.samples import PLAIN_COPIES
from ..codecs import SHIPPABLE
from ..core.units import (
    Interval,
    counted,
    first_of,
    format_bytes,
    percent,
    seconds,
    size,
)
from .document import Part, document_text, part
from .model import Cell, Entry, Page, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..capture.first_run import MadeCache
    from ..capture.measure import CodecMeasurement, Measurement
    from ..capture.paired import Difference
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
_ONLY_PAYLOAD_DROPPED = (
    "Before a cold launch, only the payload was dropped from the caches, because the "
    "user may not drop the system's: what the launch needs of the system was warm."
)
_SQUASHFUSE = (
    "The images were mounted through squashfuse, which is slower than the kernel: "
    "compare codecs, but an installed snap takes other times."
)
_FIRST = {
    "launch": "An app that sets something up when it first starts makes such launches: "
    "measure again with --home DIR, which keeps what they set up.",
    "replay": "Storage may have been busy before: measure again.",
}
_QUIET = "Close other programs and measure again; all figures include these runs."
_STEADY = "Leave the machine idle, or add rounds with --until-precise."
WHAT_IF = "* for comparison: snapcraft and the store accept only xz and lzo."
_WIDE = 0.3
"""Of a figure: an interval that reaches further is shown by its ends."""
_CACHES = {
    "fonts": "fontconfig's",
    "settings-schemas": "GSettings' schemas",
    "icon-theme": "icon themes",
    "mime-types": "MIME types",
    "image-loaders": "gdk-pixbuf's loaders",
    "input-methods": "GTK's input methods",
    "gio-modules": "GIO's modules",
    "python-bytecode": "Python bytecode",
    "qml": "compiled QML",
    "kde-services": "KDE's services",
    "gstreamer-plugins": "GStreamer's plugins",
    "shaders": "compiled shaders",
}


def measure_page(measurement: Measurement) -> Page:
    """Return what launches took, and how much faster lzo is."""
    sections = [
        Section(short=True, tables=(_times(measurement),), sentences=()),
        *_warnings(measurement),
        *_first_runs(measurement),
        _differences(measurement),
        _conditions(measurement),
    ]
    return Page(
        title="Measured launches",
        headline=_answer(measurement),
        sections=tuple(each for each in sections if each is not None),
    )


def _answer(measurement: Measurement) -> str:
    """Return how much faster cold launches with lzo are than with xz.

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
            "Add rounds with --until-precise."
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


def _everything(measurement: Measurement) -> Mapping[str, CodecMeasurement]:
    """Return what was measured, by name: the codecs, then the other copies."""
    return {**measurement.codecs, **measurement.compared}


def _label(name: str) -> str:
    """Return a codec's name, with a star if it can't be shipped."""
    return name if name in SHIPPABLE or name in PLAIN_COPIES else f"{name} *"


def median_text(sample: Sample | None) -> str:
    """Return a sample's median and standard deviation; empty for none."""
    if sample is None:
        return ""
    spread = "" if sample.stdev is None else f" ± {seconds(sample.stdev)}"
    return f"{seconds(sample.median)}{spread}"


def _times(measurement: Measurement) -> Table:
    codecs = _everything(measurement)
    walked = any(codec.walk_s for codec in codecs.values())
    return Table(
        heads=("codec", "image", "cold", "warm", *["every file"] * walked),
        rows=tuple(
            (
                _label(name),
                size(codec.image_bytes),
                median_text(codec.cold_s),
                median_text(codec.warm_s),
                *[median_text(codec.walk_s)] * walked,
            )
            for name, codec in codecs.items()
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
    precision = measurement.precision
    if precision is not None and not precision.reached:
        yield (
            f"Not as precise as requested: {counted(measurement.runs, 'round')} don't "
            f"suffice for ± {seconds(precision.wanted_s)}. Set --max-runs higher, or "
            "measure on an idle machine."
        )
    firsts: list[str] = []
    others: list[str] = []
    noisy: list[str] = []
    for name, codec in _everything(measurement).items():
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
    for name, codec in _everything(measurement).items():
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
    if measurement.precision is not None:
        checks = counted(measurement.precision.checks, "planned check")
        notes.append(
            "The number of rounds wasn't fixed, so the interval is widened for "
            f"{checks}."
        )
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
    walks = {e.walk_s.n for e in _everything(measurement).values() if e.walk_s}
    runs = counted(measurement.runs, "run")
    runs += f" (every file: {max(walks)})" if walks else ""
    ahead = measurement.read_ahead_kb
    texts = [
        f"Times: median ± standard deviation of {runs}, alternating codecs.",
        WHAT_IF,
        _METHODS[measurement.method],
        _STORAGE[measurement.storage],
    ]
    if measurement.compared:
        names = " and ".join(measurement.compared)
        texts.append(f"{names}: the same files without squashfs.")
    if measurement.dropped == "payload":
        texts.append(_ONLY_PAYLOAD_DROPPED)
    if measurement.mount == "squashfuse":
        texts.append(_SQUASHFUSE)
    texts.append(
        f"Linux {measurement.kernel}, {measurement.processor}, mounted by "
        f"{measurement.mount}, read-ahead "
        f"{'not known' if ahead is None else f'{ahead} KiB'}."
    )
    return Section(title="How it was measured", sentences=tuple(texts))


def _first_runs(measurement: Measurement) -> Iterator[Section]:
    """Yield what first runs spend their time on, if they were measured."""
    plain = measurement.codecs.get("none")
    rows = []
    for name, codec in _everything(measurement).items():
        found = _first_run(codec, plain)
        if found is not None and codec.first_s is not None:
            unpacking = found["decompression_s"]
            reading = found["reading_s"] - (unpacking or 0.0)
            whole = (codec.first_s.median, found["own_s"], found["caches_s"], reading)
            apart = "" if unpacking is None else seconds(unpacking)
            rows.append((_label(name), *map(seconds, whole), apart))
    if not rows:
        return
    made = "; ".join(map(_made, measurement.made_caches))
    last = ["reading", "decompression"] if plain else ["reading, decompression"]
    heads = ("codec", "first run", "app's own", "caches", *last)
    yield Section(
        title="First runs with cold caches, in a new home directory",
        short=True,
        origin="Measured, medians.",
        sentences=(
            f"Caches that a first run made: {made}."
            if made
            else "A first run made no caches that the advisor knows.",
        ),
        tables=(Table(heads=heads, rows=tuple(row[: len(heads)] for row in rows)),),
    )
    yield Section(
        title="Parts of a first run",
        sentences=(
            (
                "App's own: a warm launch. Caches: what a first run with warm caches "
                "of the system takes more than that. Reading and decompression: what "
                "a cold first run takes more than a warm one; decompression: that, "
                "less the same of an uncompressed image."
            ),
        ),
    )


def _made(cache: MadeCache) -> str:
    words = f"{_CACHES.get(cache.kind, cache.kind)} ({counted(cache.files, 'file')}, "
    words += format_bytes(cache.size_bytes)
    if cache.program_s is not None:
        words += f"; the program that makes it took {seconds(cache.program_s)}"
    return words + ")"


def _difference(measurement: Measurement, codec: CodecMeasurement) -> Difference | None:
    xz = measurement.codecs.get(_BASELINE)
    if xz is None or codec is xz:
        return None
    checks = measurement.precision.checks if measurement.precision else 1
    return difference(xz.cold_s, codec.cold_s, checks=checks)


def _first_run(codec: CodecMeasurement, plain: CodecMeasurement | None) -> Part | None:
    """Return the parts of a first run, as JSON has them."""
    if codec.first_s is None or codec.first_warm_s is None:
        return None
    reading_s = _reading_s(codec)
    return {
        "cold_s": sample_part(codec.first_s),
        "warm_s": sample_part(codec.first_warm_s),
        "own_s": codec.warm_s.median,
        "caches_s": max(0.0, codec.first_warm_s.median - codec.warm_s.median),
        "reading_s": reading_s,
        "decompression_s": max(0.0, reading_s - _reading_s(plain)) if plain else None,
    }


def _reading_s(codec: CodecMeasurement) -> float:
    """Return what a cold first run takes more than a warm one."""
    if codec.first_s is None or codec.first_warm_s is None:
        return 0.0
    return max(0.0, codec.first_s.median - codec.first_warm_s.median)


def measure_json(measurement: Measurement) -> str:
    """Return a measurement as JSON text."""
    plain = measurement.codecs.get("none")
    codecs, compared = (
        {
            name: part(
                codec,
                "image_bytes",
                cold_s=sample_part(codec.cold_s),
                warm_s=sample_part(codec.warm_s),
                walk_s=sample_part(codec.walk_s),
                difference=difference_part(_difference(measurement, codec)),
                first_run=_first_run(codec, plain),
            )
            for name, codec in measured.items()
        }
        for measured in (measurement.codecs, measurement.compared)
    )
    names = (
        "unavailable method mount storage dropped read_ahead_kb runs kernel processor "
        "precision made_caches"
    )
    return document_text(part(measurement, names, codecs=codecs, compared=compared))


def sample_part(sample: Sample | None) -> Part | None:
    """Return a sample as JSON has it."""
    if sample is None:
        return None
    return part(sample, "median stdev n outliers user_s system_s", runs=sample.runs_s)


def difference_part(found: Difference | None) -> Part | None:
    """Return how much faster something is than with xz, as JSON has it."""
    if found is None:
        return None
    names = "rounds saved_s times_faster"
    return part(found, names, than=_BASELINE, confidence=CONFIDENCE)
