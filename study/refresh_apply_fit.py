"""What applying a delta takes, fitted to measured times, and how far that is off."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from refresh_apply_rows import (
    DIGESTS,
    OTHER_DEVICE,
    OTHER_TABLE,
    Row,
    alone,
    key_of,
    known,
    of_rounds,
    other_times_s,
    read_table,
    searched,
    sizes_of,
    times_s,
    work_of,
    written_bytes,
)
from snapcraft_compression_advisor.codecs import CODECS, SHIPPABLE
from snapcraft_compression_advisor.codecs.codec import PackSearch
from snapcraft_compression_advisor.core.units import KIB, Interval
from snapcraft_compression_advisor.devices.apply import (
    ApplyWork,
    DecodeRate,
    decode_ratios,
)
from snapcraft_compression_advisor.devices.apply_speeds import (
    MEASURED,
    SIDE_BY_SIDE,
    WAIT_S,
)
from snapcraft_compression_advisor.devices.device import ApplySpeeds, ByteCost
from snapcraft_compression_advisor.devices.device_file import read_device

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

PACK_PARTS = {
    "xz": ("raw_bytes", "near_steps", "blocks", "starts"),
    "lzo": ("raw_bytes", "steps", "starts"),
}
"""What packing with a codec goes by. xz clears its tables for each block."""
PACK_SETS = ("fit", "check")
DRAWN_SETS = ("drawn", "blind")
"""Pairs drawn by lot. Nothing but a width is fitted to them."""
_LEAST_S = 0.02
"""Shorter times are those of starting the program."""


def report() -> Iterator[str]:
    """Yield the costs fitted to the pairs of the fit, and the error of each time."""
    rows = of_rounds(read_table())
    fitted = [row for row in rows if row["set"] == "fit"]
    other = of_rounds(read_table(OTHER_TABLE))
    yield from shown(fit(fitted))
    for codec in SHIPPABLE:
        costs = fit_packing(codec, rows)
        yield (
            f"{codec}: {costs.raw_us_per_kib:.2f} µs per KiB, "
            f"{costs.step_ns:.3f} or {costs.near_step_ns:.3f} ns per step, "
            f"{costs.block_us:.1f} µs per block, "
            f"{costs.start_ms:.1f} ms to start; pairs took {costs.least:.2f} to "
            f"{costs.greatest:.2f} of that"
        )
    (start, written, read, coded), ends = fit_decoding(on_both(rows, other))
    yield (
        f"decode: {start * 1e3:.1f} ms to start, "
        f"{written * 1e9:.2f} ns per byte written, "
        f"{read * 1e9:.2f} ns per byte of the delta, "
        f"{coded * 1e9:.1f} ns per byte decoded; pairs of the fit took "
        f"{ends[0]:.2f} to {ends[1]:.2f} of that"
    )
    for name, some in (("the fit", fitted), ("the other machine", other)):
        factor, wait_s = fit_side_by_side(some)
        yield f"on two processors, {name}: {factor:.3f} of that and {wait_s:.3f} s"
    for row in rows:
        measured, predicted = times_s(row)
        yield (
            f"{row['set']} {row['pair']:14} {row['codec']:5} {row['format']:17} "
            f"{row['processors']} {measured:7.3f} s, predicted "
            f"{predicted:7.3f} s {predicted / measured - 1:+.1%}"
        )
    yield from summary()


def summary() -> Iterator[str]:
    """Yield the figures of docs/method.md.

    Of the pairs drawn by lot on the machine of the fit, the median of the rounds
    counts.
    """
    other = of_rounds(read_table(OTHER_TABLE))
    drawn = [row for row in other if row["set"] in DRAWN_SETS]
    yield from table_of(drawn, other_times_s)
    yield "Pairs drawn by lot, calibrated machine:"
    yield from errors_of(drawn, other_times_s)
    yield "The pairs of the fit, calibrated machine:"
    yield from errors_of([r for r in other if r["set"] in PACK_SETS], other_times_s)
    yield "Pairs drawn by lot, machine of the fit:"
    drawn = [row for row in read_table() if row["set"] in DRAWN_SETS]
    yield from errors_of(of_rounds(drawn, statistics.median), times_s)


Times = Callable[[Row], tuple[float, float]]
"""What a row took, and what is predicted."""


def table_of(rows: Sequence[Row], times: Times) -> Iterator[str]:
    """Yield a table of snap-aware deltas with the codecs of snaps."""
    yield "| pair | contents, MB | processors | xz | predicted | lzo | predicted |"
    yield "|---|---|---|---|---|---|---|"
    for name in dict.fromkeys(row["pair"] for row in rows):
        for processors in ("1", "2"):
            cells = []
            for codec in SHIPPABLE:
                key = (name, codec, "snap-1-1-xdelta3", processors)
                (row,) = (each for each in rows if key_of(each) == key)
                measured, predicted = times(row)
                error = predicted / measured - 1
                cells += [f"{measured:.2f} s", f"{predicted:.2f} s ({error:+.0%})"]
            contents = f"{float(row['new_raw_bytes']) / 1e6:.0f}"
            yield f"| {' | '.join([name, contents, processors, *cells])} |"


def errors_of(rows: Sequence[Row], times: Times) -> Iterator[str]:
    """Yield how far predictions are off."""
    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["format"] != "xdelta3" and row["codec"] in SHIPPABLE:
            measured, predicted = times(row)
            key = row["codec"], row["processors"]
            errors[key].append(abs(predicted / measured - 1))
    for (codec, processors), some in sorted(errors.items()):
        yield (
            f"{codec}, processors: {processors}: median "
            f"{statistics.median(some):.1%}, worst {max(some):.1%} of {len(some)} pairs"
        )
    plain = [times(row) for row in rows if row["format"] == "xdelta3"]
    for text, least in (
        ("plain deltas", 0.0),
        (f"those of {_LEAST_S} s and more", _LEAST_S),
    ):
        some = [abs(p / taken - 1) for taken, p in plain if taken >= least]
        yield (
            f"{text}: median {statistics.median(some):.1%}, worst {max(some):.1%} of "
            f"{len(some)} times"
        )


def on_both(rows: Sequence[Row], other: Sequence[Row]) -> list[tuple[Row, ApplySpeeds]]:
    """Return the pairs of the fit, with the speeds of the machine of each."""
    speeds = read_device(OTHER_DEVICE).apply
    found = [(row, MEASURED) for row in rows] + [(row, speeds) for row in other]
    return [(row, each) for row, each in found if row["set"] == "fit"]


def fit_decoding(
    rows: Sequence[tuple[Row, ApplySpeeds]],
) -> tuple[list[float], tuple[float, float]]:
    """Return what ``xdelta3 -d`` takes to start, per byte written, read and decoded.

    :param rows: with the speeds of the machine that each was measured on.
    :returns: with them the least and the greatest of what a row took per prediction, of
        those that take long enough to tell.
    """
    some = [
        (row, speeds)
        for row, speeds in rows
        if row["processors"] == "1" and sizes_of(row).coded is not None
    ]
    parts = [decoding(row, speeds) for row, speeds in some]
    seconds = [float(row["xdelta3_s"]) for row, _ in some]
    costs, ratios = fitted_parts(parts, seconds, weights=0.5)
    large = [r for r, each in zip(ratios, seconds, strict=True) if each > _LEAST_S]
    return costs, (min(large), max(large))


def decoding(row: Row, speeds: ApplySpeeds) -> list[float]:
    """Return what ``xdelta3 -d`` has to do, as the machine of the fit would take it."""
    plain = row["format"] == "xdelta3"
    rate: DecodeRate = "patch_s_per_byte" if plain else "rebuild_s_per_byte"
    copying, lzma = decode_ratios(speeds, rate, "mid")
    written = written_bytes(row) * copying
    coded = (sizes_of(row).coded or 0.0) * lzma
    return [1.0, written, float(row["delta_bytes"]) * copying, coded]


def fit_side_by_side(rows: Sequence[Row]) -> tuple[float, float]:
    """Return how long programs take on two processors, per their time alone.

    :returns: that factor, and the seconds that come on top.
    """
    aware = [row for row in rows if row["mksquashfs_s"] and row["codec"] in SHIPPABLE]
    one = {key_of(row)[:3]: row for row in alone(aware)}
    parts, seconds = [], []
    for row in (row for row in aware if row["processors"] == "2"):
        names = ("unsquashfs_s", "xdelta3_s", "mksquashfs_s")
        unpack, decode, pack = (float(one[key_of(row)[:3]][name]) for name in names)
        ahead = work_of(row).ahead
        work = ApplyWork(
            unpack=unpack, decode=decode, pack=pack, digest=0.0, ahead=ahead
        )
        parts.append([(work.seconds(2) - WAIT_S) / SIDE_BY_SIDE, 1.0])
        seconds.append(float(row["seconds"]))
    (factor, wait_s), _ = fitted_parts(parts, seconds)
    return factor, wait_s


def fit_packing(codec: str, rows: Sequence[Row]) -> PackSearch:
    """Return what mksquashfs takes per byte, search, step and block.

    Its ends are those of the pairs of the fit and of those drawn by lot, which say how
    far off it is on contents that nobody looked at.

    :param rows: of all pairs on the machine of the fit.
    """
    parts, seconds = packing(codec, [row for row in rows if row["set"] in PACK_SETS])
    costs, ratios = fitted_parts(parts, seconds)
    drawn = [row for row in rows if row["set"] in DRAWN_SETS]
    parts, seconds = packing(codec, drawn)
    ratios += (np.array(seconds) / (np.array(parts) @ np.array(costs))).tolist()
    cost = defaultdict(float, zip(PACK_PARTS[codec], costs, strict=True))
    return PackSearch(
        raw_us_per_kib=cost["raw_bytes"] * 1e6 * KIB,
        step_ns=cost["steps"] * 1e9,
        near_step_ns=cost["near_steps"] * 1e9,
        start_ms=cost["starts"] * 1e3,
        block_us=cost["blocks"] * 1e6,
        least=min(ratios),
        greatest=max(ratios),
    )


def packing(codec: str, rows: Sequence[Row]) -> tuple[list[list[float]], list[float]]:
    """Return what mksquashfs had to do with a codec, and the seconds of that."""
    some = [
        row
        for row in alone(rows)
        if row["codec"] == codec and row["mksquashfs_s"] and sizes_of(row).search
    ]
    works = [{**asdict(searched(known(row))), "starts": 1.0} for row in some]
    parts = [[work[part] for part in PACK_PARTS[codec]] for work in works]
    return parts, [float(row["mksquashfs_s"]) for row in some]


def fitted_parts(
    parts: Sequence[Sequence[float]], seconds: Sequence[float], *, weights: float = 1.0
) -> tuple[list[float], list[float]]:
    """Return the cost of each part with the least errors; none is negative.

    :param weights: 1 for relative errors, 0 for those in seconds.
    :returns: with them what each row took per prediction.
    """
    table, taken = np.array(parts), np.array(seconds)
    scale = taken**-weights
    wanted, costs = list(range(table.shape[1])), np.zeros(table.shape[1])
    while True:
        scaled = table[:, wanted] * scale[:, None]
        found, *_ = np.linalg.lstsq(scaled, taken * scale, rcond=None)
        if found.min() >= 0:
            break
        del wanted[int(found.argmin())]
    costs[wanted] = found
    return costs.tolist(), (taken / (table @ costs)).tolist()


def fit(rows: Sequence[Row]) -> ApplySpeeds:
    """Return costs fitted to the processor time of each program."""
    rows = alone(rows)
    aware = [row for row in rows if row["format"] != "xdelta3"]
    plain = [row for row in rows if row["format"] == "xdelta3"]
    unpack, pack = dict(MEASURED.unpack), dict(MEASURED.pack)
    for codec in dict.fromkeys(row["codec"] for row in aware):
        mine = [row for row in aware if row["codec"] == codec]
        by_stored = CODECS[codec].tool_time.by_stored
        size = "old_image_bytes" if by_stored else "old_raw_bytes"
        unpack[codec] = fit_bytes(mine, "unsquashfs_s", size)
        pack[codec] = fit_bytes(mine, "mksquashfs_s", "new_raw_bytes")
    return ApplySpeeds(
        unpack=unpack,
        pack=pack,
        rebuild_s_per_byte=spread(aware, "xdelta3_s", "new_raw_bytes"),
        patch_s_per_byte=spread(plain, "xdelta3_s", "new_image_bytes"),
        digest_s_per_byte=fit_digest({row["pair"] for row in rows}),
    )


def fit_digest(pairs: Collection[str]) -> Interval:
    """Return the seconds of the digest per byte of an image."""
    with DIGESTS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["pair"] in pairs]
    return spread(rows, "seconds", "bytes")


def fit_bytes(rows: Sequence[Row], program: str, size: str) -> ByteCost:
    """Return the cost per byte of a size: how it differs between pairs is its width.

    Of contents, or of what they take in the image where that says it better.
    """
    cost, nothing = spread(rows, program, size), Interval.exactly(0.0)
    if size.endswith("raw_bytes"):
        return ByteCost(raw_s_per_byte=cost, stored_s_per_byte=nothing)
    return ByteCost(raw_s_per_byte=nothing, stored_s_per_byte=cost)


def spread(rows: Sequence[Row], program: str, size: str) -> Interval:
    """Return the seconds per byte: the least, the geometric mean, the greatest."""
    rates = [float(row[program]) / float(row[size]) for row in rows]
    mean = math.exp(sum(map(math.log, rates)) / len(rates))
    return Interval(low=min(rates), mid=mean, high=max(rates))


def shown(speeds: ApplySpeeds) -> Iterator[str]:
    """Yield costs as the module of the model has them: µs per KiB."""
    for name, costs in (("pack", speeds.pack), ("unpack", speeds.unpack)):
        for codec, cost in costs.items():
            per_byte = cost.raw_s_per_byte + cost.stored_s_per_byte
            yield f'{name} "{codec}": {shown_ends(per_byte)},'
    yield f"digest {shown_ends(speeds.digest_s_per_byte)}"
    yield f"rebuild {shown_ends(speeds.rebuild_s_per_byte)}"
    yield f"patch {shown_ends(speeds.patch_s_per_byte)}"


def shown_ends(cost: Interval) -> str:
    """Return the ends and the middle of a cost."""
    ends = (f"{each * 1e6 * KIB:.2f}" for each in (cost.low, cost.mid, cost.high))
    return f"({', '.join(ends)})"
