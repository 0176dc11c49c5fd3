#!/usr/bin/env python3
"""Fit what packing takes to how much a compressor has to search in the contents.

    python3 study/refresh_packing.py measure TREE... > packing.csv
    python3 study/refresh_packing.py report

``measure`` compresses 8 blocks of each prime directory, drawn along its contents, with
the libraries that mksquashfs links. A row has the processor time of a block (of the
thread alone: other programs ran meanwhile; the least of three rounds), and what
:mod:`snapcraft_compression_advisor.payload.search_work` says of it.

``report`` fits a codec's ``PackSearch`` to these blocks (``refresh-packing.csv``:
applications drawn for fits), and its scale to mksquashfs where it packed the pairs of
the set ``fit`` of study/data/refresh-apply.csv; that table's other pairs check it.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from refresh_apply_fit import estimates, read_table
from snapcraft_compression_advisor.codecs import CODECS, SHIPPABLE
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.payload.search_work import block_work, drawn_blocks
from snapcraft_compression_advisor.payload.source import open_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

DATA = Path(__file__).parent / "data"
BLOCKS = DATA / "refresh-packing.csv"
COLUMNS = (
    *("tree", "path", "offset_bytes", "raw_bytes", "searches", "steps"),
    *("lzo_s", "xz_s"),
)
_BLOCKS_PER_TREE = 8
_ROUNDS = 3
_PARTS = ("raw_bytes", "searches", "steps")


def measured(tree: Path) -> Iterator[list[object]]:
    """Yield the rows of a tree."""
    with open_payload(tree) as payload:
        for path, offset in drawn_blocks(payload, _BLOCKS_PER_TREE):
            block = payload.read(path, offset=offset, length=DATA_BLOCK_BYTES)
            work = block_work(block)
            figures = (work.raw_bytes, work.searches, work.steps)
            seconds = [f"{least_s(codec, block):.6f}" for codec in ("lzo", "xz")]
            yield [tree.name, path, offset, *map(round, figures), *seconds]


def least_s(codec: str, block: bytes) -> float:
    """Return how long a block takes to compress, at least."""
    taken = []
    for _ in range(_ROUNDS):
        started = time.thread_time()
        CODECS[codec].compress(block)
        taken.append(time.thread_time() - started)
    return min(taken)


def fit_blocks(
    rows: Sequence[Mapping[str, str]], codec: str
) -> tuple[float, float, float]:
    """Return seconds per raw byte, per search and per step; none is negative.

    Weighted least squares, between the errors in seconds and the relative ones.
    """
    seconds = np.array([float(row[f"{codec}_s"]) for row in rows])
    parts = np.array([[float(row[name]) for name in _PARTS] for row in rows])
    weights = 1 / np.sqrt(seconds)
    wanted, costs = [0, 1, 2], np.zeros(3)
    while True:
        scaled = parts[:, wanted] * weights[:, None]
        found, *_ = np.linalg.lstsq(scaled, seconds * weights, rcond=None)
        if found.min() >= 0:
            break
        del wanted[int(found.argmin())]
    costs[wanted] = found
    raw, search, step = costs.tolist()
    return raw, search, step


def fit(
    codec: str, blocks: Sequence[Mapping[str, str]], rows: Sequence[Mapping[str, str]]
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """Return the costs per raw byte, search and step of mksquashfs.

    :param rows: of study/data/refresh-apply.csv.
    :returns: with them the least and the greatest of what any pair took per prediction.
    """
    costs = np.array(fit_blocks(blocks, codec))
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in packed(rows, codec):
        ratio = float(row["mksquashfs_s"]) / predicted_s(row, costs)
        ratios.setdefault((row["set"], row["pair"]), []).append(ratio)
    found = {key: statistics.median(some) for key, some in ratios.items()}
    fitted = [math.log(ratio) for key, ratio in found.items() if key[0] == "fit"]
    scale = math.exp(statistics.fmean(fitted))
    return costs * scale, (min(found.values()) / scale, max(found.values()) / scale)


def packed(
    rows: Sequence[Mapping[str, str]], codec: str
) -> Iterator[Mapping[str, str]]:
    """Yield the rows where something was packed whose contents are known."""
    for row in rows:
        known = (row["pair"], codec, row["format"]) in estimates()
        if known and row["codec"] == codec and row["mksquashfs_s"]:
            yield row


def predicted_s(row: Mapping[str, str], costs: NDArray[np.float64]) -> float:
    """Return how long packing a pair's new image takes."""
    known = estimates()[row["pair"], row["codec"], row["format"]]
    return float(np.array([known.raw_bytes, known.searches, known.steps]) @ costs)


def read_blocks() -> list[dict[str, str]]:
    """Return the rows of the blocks."""
    lines = BLOCKS.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def report() -> Iterator[str]:
    """Yield the fitted costs, and how far packing each pair is off."""
    blocks, rows = read_blocks(), read_table()
    for codec in SHIPPABLE:
        costs, (least, greatest) = fit(codec, blocks, rows)
        raw, search, step = (costs * np.array([1e6 * KIB, 1e9, 1e9])).tolist()
        yield (
            f"{codec}: {raw:.2f} µs per KiB, {search:.2f} ns per search, {step:.4f} ns "
            f"per step; pairs took {least:.2f} to {greatest:.2f} of that"
        )
        for row in packed(rows, codec):
            seconds = float(row["mksquashfs_s"])
            error = predicted_s(row, costs) / seconds - 1
            yield f"  {row['set']:5} {row['pair']:16} {seconds:7.2f} s {error:+.1%}"


def main() -> None:
    """Measure or report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure")
    measure.add_argument("trees", nargs="+", type=Path)
    commands.add_parser("report")
    arguments = parser.parse_args()
    if arguments.command == "report":
        print("\n".join(report()))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for tree in arguments.trees:
        writer.writerows(measured(tree))


if __name__ == "__main__":
    main()
