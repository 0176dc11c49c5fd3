#!/usr/bin/env python3
"""Time the guess of a launch from files, for ``docs/study/accuracy.md``.

    .venv/bin/python study/guess_time.py TREE…

Each run is a process of its own, which reads the inventory of the payload and then
guesses. The files are in the page cache after the first run, which isn't counted. The
script writes ``data/guess-times.csv``. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy_data import DATA
from snapcraft_compression_advisor.launch.guess.guess import static_launch_set
from snapcraft_compression_advisor.payload.source import DirectoryPayload

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMES = DATA / "guess-times.csv"
RUNS = 5


@dataclass(frozen=True, kw_only=True)
class GuessTime:
    """What the guess of an application took, medians of the runs.

    :param inventory_s: for its inventory, which all of the advisor needs.
    :param guess_s: for the guess itself.
    """

    application: str
    payload_bytes: int
    files: int
    inventory_s: float
    guess_s: float


def main() -> None:
    """Time the guesses."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+", metavar="TREE", type=Path)
    times = [timed(tree) for tree in parser.parse_args().trees]
    with TIMES.open("w", newline="", encoding="utf-8") as file:
        names = [field.name for field in fields(GuessTime)]
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(each) for each in times)


def timed(tree: Path) -> GuessTime:
    """Return the medians of an application's runs."""
    context = get_context("spawn")
    runs: list[GuessTime] = []
    for _ in range(RUNS + 1):
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            runs.append(pool.submit(_once, tree).result())
    return GuessTime(
        application=tree.name,
        payload_bytes=runs[0].payload_bytes,
        files=runs[0].files,
        inventory_s=_median([run.inventory_s for run in runs[1:]]),
        guess_s=_median([run.guess_s for run in runs[1:]]),
    )


def _once(tree: Path) -> GuessTime:
    start = time.perf_counter()
    payload = DirectoryPayload(tree)
    inventory = payload.inventory
    read = time.perf_counter()
    static_launch_set(payload, tree.name)
    return GuessTime(
        application=tree.name,
        payload_bytes=inventory.raw_bytes,
        files=inventory.file_count,
        inventory_s=read - start,
        guess_s=time.perf_counter() - read,
    )


def _median(times: Sequence[float]) -> float:
    return round(statistics.median(times), 3)


def read_times() -> list[GuessTime]:
    """Return what was measured."""
    kinds = {"int": int, "float": float, "str": str}
    types = {each.name: kinds[str(each.type)] for each in fields(GuessTime)}
    with TIMES.open(newline="", encoding="utf-8") as file:
        return [
            GuessTime(**{name: types[name](text) for name, text in row.items()})
            for row in csv.DictReader(file)
        ]


if __name__ == "__main__":
    main()
