"""What applying a delta takes, fitted to measured times, and how far that is off."""

from __future__ import annotations

import csv
import math
import os
import statistics
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from refresh_pairs import Row, read_rows
from snapcraft_compression_advisor.codecs import CODECS, SHIPPABLE
from snapcraft_compression_advisor.core.units import KIB, Interval
from snapcraft_compression_advisor.devices.apply import (
    ApplySizes,
    ApplyWork,
    Format,
    apply_memory_bytes,
    apply_work,
    search_s,
)
from snapcraft_compression_advisor.devices.apply_speeds import MEASURED
from snapcraft_compression_advisor.devices.device import ApplySpeeds, ByteCost
from snapcraft_compression_advisor.payload.search_work import SearchWork

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

TABLE = Path(__file__).parent / "data" / "refresh-apply.csv"
PAIRS = Path(__file__).parent / "data" / "refresh-pairs.csv"
COLUMNS = (
    *("set", "pair", "codec", "format", "processors", "round"),
    *("old_raw_bytes", "new_raw_bytes", "old_image_bytes", "new_image_bytes"),
    *("delta_bytes", "seconds", "unsquashfs_s", "xdelta3_s", "mksquashfs_s"),
    *("unsquashfs_kib", "xdelta3_kib", "mksquashfs_kib"),
)
_LEAST_S = 0.02
"""Shorter times are those of starting the program."""


def report() -> Iterator[str]:
    """Yield the costs fitted to the pairs of the fit, and the error of each time."""
    rows = read_table()
    fitted = [row for row in rows if row["set"] == "fit"]
    speeds = fit(fitted)
    yield from shown(speeds)
    written, coded, least, greatest = fit_decoding(fitted)
    yield (
        f"decode: {written * 1e9:.2f} ns per byte written, {coded * 1e9:.1f} ns per "
        f"byte decoded; pairs of the fit took {least:.2f} to {greatest:.2f} of that"
    )
    for name in dict.fromkeys(str(row["set"]) for row in rows):
        errors = []
        for row in (row for row in rows if row["set"] == name):
            processors = int(row["processors"])
            predicted = predicted_s(row, speeds, processors)
            errors.append(predicted / float(row["seconds"]) - 1)
            yield (
                f"{name} {row['pair']:14} {row['codec']:5} {row['format']:17} "
                f"{processors} {float(row['seconds']):7.2f} s, predicted "
                f"{predicted:7.2f} s {errors[-1]:+.1%}"
            )
    yield from summary()
    shares = sorted(memory_share(row) for row in rows)
    yield (
        "memory held, per what is said to be held at most: "
        f"{shares[0]:.0%} to {shares[-1]:.0%}"
    )


def summary() -> Iterator[str]:
    """Yield the figures of docs/method.md: of the pairs that weren't fitted."""
    rows = [row for row in read_table() if row["set"] != "fit"]
    aware = [row for row in rows if row["format"] != "xdelta3"]
    yield "| pair | contents, MB | xz | predicted | lzo | predicted |"
    yield "|---|---|---|---|---|---|"
    errors: dict[str, list[float]] = {codec: [] for codec in SHIPPABLE}
    for name in dict.fromkeys(row["pair"] for row in aware):
        pair = [row for row in aware if row["pair"] == name]
        cells = [name, f"{float(pair[0]['new_raw_bytes']) / 1e6:.0f}"]
        for codec in SHIPPABLE:
            mine = [row for row in pair if row["codec"] == codec]
            measured_s = statistics.median(map(processor_s, mine))
            predicted = replace(work_of(mine[0], MEASURED), digest=0.0).seconds(1)
            error = predicted / measured_s - 1
            errors[codec].append(abs(error))
            cells += [f"{measured_s:.2f} s", f"{predicted:.2f} s ({error:+.0%})"]
        yield f"| {' | '.join(cells)} |"
    for codec, some in errors.items():
        yield (
            f"{codec}: median {statistics.median(some):.1%}, worst {max(some):.1%} of "
            f"{len(some)} pairs"
        )
    yield from _packing_alone({row["pair"] for row in read_table()})
    plain = [row for row in rows if row["format"] == "xdelta3"]
    some = [
        abs(work_of(row, MEASURED).decode / processor_s(row) - 1)
        for row in plain
        if processor_s(row) > _LEAST_S
    ]
    yield (
        f"plain deltas: median {statistics.median(some):.1%}, worst {max(some):.1%} of "
        f"{len(some)} times"
    )


def _packing_alone(applied: Collection[str]) -> Iterator[str]:
    """Yield how far packing other pairs' new images is off, with lzo."""
    costs = CODECS["lzo"].pack_search
    errors = [
        abs(search_s(costs, searched(row)) / row.pack_cpu_s - 1)
        for row in read_rows(PAIRS)
        if costs is not None
        and (row.codec, row.format) == ("lzo", "xdelta3")
        and row.pair not in applied
    ]
    yield (
        f"lzo, packing alone: median {statistics.median(errors):.1%}, worst "
        f"{max(errors):.1%} of {len(errors)} more pairs"
    )


def processor_s(row: dict[str, str]) -> float:
    """Return the processor time of all programs."""
    names = ("unsquashfs_s", "xdelta3_s", "mksquashfs_s")
    return sum(float(row[name] or 0) for name in names)


def fit_decoding(
    rows: Sequence[dict[str, str]],
) -> tuple[float, float, float, float]:
    """Return what ``xdelta3 -d`` takes per byte written and per byte decoded.

    :returns: with them the least and the greatest of what a row took per prediction.
    """
    some = [row for row in rows if sizes_of(row).coded is not None]
    parts = np.array([[written_bytes(row), sizes_of(row).coded or 0] for row in some])
    seconds = np.array([float(row["xdelta3_s"]) for row in some])
    weighted = parts / np.sqrt(seconds)[:, None]
    costs, *_ = np.linalg.lstsq(weighted, np.sqrt(seconds), rcond=None)
    ratios = seconds / (parts @ costs)
    large = ratios[seconds > _LEAST_S]
    return (*costs.tolist(), float(large.min()), float(large.max()))


def written_bytes(row: dict[str, str]) -> float:
    """Return how much xdelta3 writes."""
    plain = row["format"] == "xdelta3"
    return float(row["new_image_bytes" if plain else "new_raw_bytes"])


def memory_share(row: dict[str, str]) -> float:
    """Return the largest resident sets together, per what the model allows."""
    held_kib = sum(int(row[column] or 0) for column in COLUMNS[-3:])
    plain = row["format"] == "xdelta3"
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    allowed = apply_memory_bytes(
        sizes_of(row), "xdelta3" if plain else "snap-1-1-xdelta3", physical
    )
    return held_kib * KIB / allowed


def read_table() -> list[dict[str, str]]:
    """Return the rows of the table."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def predicted_s(row: dict[str, str], speeds: ApplySpeeds, processors: int) -> float:
    """Return what the model says of a row; its images are in memory, no digest."""
    return replace(work_of(row, speeds), digest=0.0).seconds(processors)


def work_of(row: dict[str, str], speeds: ApplySpeeds) -> ApplyWork:
    """Return the processor time of each step, predicted."""
    plain = row["format"] == "xdelta3"
    delta_format: Format = "xdelta3" if plain else "snap-1-1-xdelta3"
    return apply_work(speeds, sizes_of(row), delta_format, row["codec"], "mid")


def sizes_of(row: dict[str, str]) -> ApplySizes:
    """Return the sizes of a row."""
    known = estimates().get((row["pair"], row["codec"], row["format"]))
    return ApplySizes(
        old_image=float(row["old_image_bytes"]),
        new_image=float(row["new_image_bytes"]),
        old_raw=float(row["old_raw_bytes"]),
        new_raw=float(row["new_raw_bytes"]),
        delta=float(row["delta_bytes"]),
        coded=None if known is None else float(known.coded_bytes),
        search=None if known is None else searched(known),
    )


def searched(row: Row) -> SearchWork:
    """Return what packing a pair's new image takes."""
    return SearchWork(raw_bytes=row.raw_bytes, searches=row.searches, steps=row.steps)


@cache
def estimates() -> dict[tuple[str, str, str], Row]:
    """Return what is known of pairs by pair, codec and format."""
    return {(row.pair, row.codec, row.format): row for row in read_rows(PAIRS)}


def fit(rows: Sequence[dict[str, str]]) -> ApplySpeeds:
    """Return costs fitted to the processor time of each program."""
    aware = [row for row in rows if row["format"] != "xdelta3"]
    plain = [row for row in rows if row["format"] == "xdelta3"]
    unpack, pack = dict(MEASURED.unpack), dict(MEASURED.pack)
    for codec in dict.fromkeys(row["codec"] for row in aware):
        mine = [row for row in aware if row["codec"] == codec]
        unpack[codec] = fit_bytes(mine, "unsquashfs_s", "old")
        pack[codec] = fit_bytes(mine, "mksquashfs_s", "new")
    return ApplySpeeds(
        unpack=unpack,
        pack=pack,
        rebuild_s_per_byte=spread(aware, "xdelta3_s", "new_raw_bytes"),
        patch_s_per_byte=spread(plain, "xdelta3_s", "new_image_bytes"),
        digest_s_per_byte=MEASURED.digest_s_per_byte,
    )


def fit_bytes(rows: Sequence[dict[str, str]], program: str, image: str) -> ByteCost:
    """Return the cost per byte of contents: how it differs between pairs is its width.

    Sizes don't say it better: packing programs takes lzo thrice as long as packing
    text or what is compressed already.
    """
    return ByteCost(
        raw_s_per_byte=spread(rows, program, f"{image}_raw_bytes"),
        stored_s_per_byte=Interval.exactly(0.0),
    )


def spread(rows: Sequence[dict[str, str]], program: str, size: str) -> Interval:
    """Return the seconds per byte: the least, the geometric mean, the greatest."""
    rates = [float(row[program]) / float(row[size]) for row in rows]
    mean = math.exp(sum(map(math.log, rates)) / len(rates))
    return Interval(low=min(rates), mid=mean, high=max(rates))


def shown(speeds: ApplySpeeds) -> Iterator[str]:
    """Yield costs as the module of the model has them: µs per KiB."""
    for name, costs in (("pack", speeds.pack), ("unpack", speeds.unpack)):
        for codec, cost in costs.items():
            yield f'{name} "{codec}": {shown_ends(cost.raw_s_per_byte)},'
    yield f"rebuild {shown_ends(speeds.rebuild_s_per_byte)}"
    yield f"patch {shown_ends(speeds.patch_s_per_byte)}"


def shown_ends(cost: Interval) -> str:
    """Return the ends and the middle of a cost."""
    ends = (f"{each * 1e6 * KIB:.2f}" for each in (cost.low, cost.mid, cost.high))
    return f"({', '.join(ends)})"
