#!/usr/bin/env python3
"""Measure what xdelta3 sends although the old stream has it.

    .venv/bin/python study/refresh_lost.py --trees DIR -o study/data/refresh-lost.csv
    .venv/bin/python study/refresh_lost.py --summary study/data/refresh-lost.csv

xdelta3 collects the copies of a window of 8 MiB in a buffer of 32,768. Where that is
full, it decides which part of the old stream the window refers to, and finds nothing
else any more (``xd3_srcwin_setup`` of xdelta3 3.0.11). The script makes each delta of
``refresh_pairs.py`` with a buffer without a limit (``-I 0``), and counts the windows
that have more copies. DIR has the images, as ``refresh_pairs.py`` leaves them there.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from refresh_pairs import PAIRS, Row, images, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TABLE = Path(__file__).parent / "data" / "refresh-pairs.csv"
COLUMNS = ("pair", "codec", "format", "delta_bytes", "unlimited_bytes", "full_windows")
MOST_COPIES = 1 << 15
_SNAP_HEADER_BYTES = 32
_WINDOW = re.compile(r"VCDIFF window number: +(\d+)")
_COPY = re.compile(r"CPY_\d")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or summarise."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--pair", action="append", help="only these pairs")
    parsed = parser.parse_args(arguments)
    if parsed.summary:
        print(summary(parsed.summary))
        return
    if not parsed.trees or not parsed.output:
        parser.error("say where the images are (--trees) and what to write (-o)")
    with parsed.output.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for row in read_rows(TABLE):
            # The snap-aware delta is the same with every codec.
            twice = row.format != "xdelta3" and row.codec != "xz"
            if not twice and row.pair in (parsed.pair or [row.pair]):
                table.writerow(measured(parsed.trees, row))
                file.flush()


def measured(trees: Path, row: Row) -> tuple[object, ...]:
    """Return a row: how large a delta is without the limit."""
    (pair,) = (each for each in PAIRS if each.name == row.pair)
    old, new = images(trees, pair, row.codec)
    plain = row.format == "xdelta3"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        delta = Path(scratch, "delta")
        streams = [old, new] if plain else [Path(scratch, each) for each in "on"]
        if not plain:
            for image, stream in zip((old, new), streams, strict=True):
                _run("unsquashfs", "-no-progress", "-pf", str(stream), str(image))
        options = ("-3",) if plain else ("-7", "-A")
        names = [str(each) for each in (*streams, delta)]
        _run("xdelta3", *options, "-I", "0", "-D", "-f", "-e", "-s", *names)
        length = delta.stat().st_size
        said = _run("xdelta3", "printdelta", str(delta))
    header = 0 if plain else _SNAP_HEADER_BYTES
    full = sum(copies > MOST_COPIES for copies in copies_of(said).values())
    return row.pair, row.codec, row.format, row.delta_bytes - header, length, full


def copies_of(said: str) -> Counter[int]:
    """Return how many copies each window has, by what ``printdelta`` says."""
    found, window = Counter[int](), -1
    for line in said.splitlines():
        if match := _WINDOW.match(line):
            window = int(match[1])
        else:
            found[window] += len(_COPY.findall(line))
    return found


def summary(path: Path) -> str:
    """Return the figures of ``compare.LOST_BYTES``."""
    lost, windows = [], 0
    for row in _rows(path):
        full = int(row["full_windows"])
        windows += full
        lost += [int(row["delta_bytes"]) - int(row["unlimited_bytes"])] if full else []
    mean = sum(lost) / windows
    spread = math.sqrt(sum(each**2 for each in lost) / windows - mean**2)
    some = [each for each in lost if each > mean]
    return (
        f"{len(lost)} deltas have {windows} such windows: on average one adds "
        f"{mean / 1e3:.0f} kB, standard deviation {spread / 1e3:.0f} kB; "
        f"{len(some)} deltas lost {min(some) / 1e3:.0f} to {max(some) / 1e3:.0f} kB"
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _run(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    main()
