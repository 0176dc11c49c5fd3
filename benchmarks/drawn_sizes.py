#!/usr/bin/env python3
"""Measure only the sizes that the advice gives for a lot's payloads.

It draws and packs as drawn.py does, in the same folders, and times nothing: it takes a
third of the time, and other programs may run meanwhile. Further lots tell how often
intervals hold: ten payloads are few, since all draws of one share its bias.

usage: drawn_sizes.py --seeds TEXT… --work WORK [--cache DIR] [-o PAGE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lot import MB, code_digest, draw, kept, pack_once, tree_bytes
from measured_process import keep_bytecode, run_measured
from page_parts import replace_part
from trial import intervals_held, machine, note, tree_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lot import Row

SEEDS = 20
CODECS = ("xz", "lzo")


def main() -> None:
    """Measure what isn't measured yet, and print or write the part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--seeds", required=True, nargs="+", metavar="TEXT", help="one for each lot"
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path(".cache/debs"))
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    keep_bytecode(arguments.work / "bytecode")
    lots = {}
    for seed in arguments.seeds:
        drawn = draw(argparse.Namespace(seed=seed, **vars(arguments)))
        lots[seed] = {
            name: measure(name, tree, arguments.work) for name, tree in drawn.items()
        }
    text = "\n".join(report(lots))
    if arguments.output:
        replace_part(arguments.output, "sizes", text)
    else:
        print(text)


def measure(name: str, tree: Path, work: Path) -> Row:
    """Return what there is to know of a payload's sizes, measured now or before."""
    note(name, "reading")
    digest = tree_digest(tree)
    images = work / "packs" / digest
    packs = {}
    for codec in CODECS:
        image = Path(f"{images}.{codec}")
        make = partial(pack_once, name, tree, image, codec)
        packs[codec] = kept(Path(f"{image}.json"), make)
    row = kept(
        work / "draws" / f"{digest}-{code_digest()}.json",
        partial(measure_sizes, name, tree, images, packs),
    )
    return {**row, "raw_bytes": float(tree_bytes(tree))}


def measure_sizes(
    name: str, tree: Path, images: Path, packs: Mapping[str, Row]
) -> dict[str, float]:
    """Return how far an advice's sizes are off, and which intervals of draws held.

    :param images: what is before the codec in the paths of the packed images.
    """
    report_file = images.with_suffix(".report")
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "advise"]
    options = ["--format", "json", "--output", str(report_file)]
    run_measured([*command, str(tree), *options])
    said = json.loads(report_file.read_text())["trial"]["codecs"]
    report_file.unlink()
    note(name, f"{SEEDS} draws")
    held = intervals_held(
        tree, {codec: images.with_name(f"{images.name}.{codec}") for codec in CODECS},
        SEEDS,
    )  # fmt: skip
    row: dict[str, float] = {}
    for codec in CODECS:
        size = said[codec]["image_bytes"]
        row[f"{codec}_error"] = size["mid"] / packs[codec]["image_bytes"] - 1
        row[f"{codec}_half_width"] = (size["high"] - size["low"]) / 2 / size["mid"]
        row[f"{codec}_held"], row[f"{codec}_draws"] = held[codec]
    return row


def report(lots: Mapping[str, Mapping[str, Row]]) -> Iterator[str]:
    """Yield the part of the page: a table, and the figures of each lot and of all."""
    yield f"Lots of the seeds {', '.join(map(repr, lots))}. {machine()}"
    yield ""
    yield "| payload | MB | xz | lzo |"
    yield "|---|---|---|---|"
    named = [item for rows in lots.values() for item in rows.items()]
    for name, row in sorted(named, key=lambda item: -item[1]["raw_bytes"]):
        cells = (name, f"{row['raw_bytes'] / MB:.0f}", *size_cells(row))
        yield f"| {' | '.join(cells)} |"
    for seed, rows in lots.items():
        yield f"\nSeed {seed!r}:\n"
        yield from size_figures([*rows.values()])
    yield "\nTogether:\n"
    yield from size_figures([row for _, row in named])


def size_cells(row: Row) -> Iterator[str]:
    """Yield a row's cells of the sizes with each codec."""
    for codec in CODECS:
        yield (
            f"{row[f'{codec}_error']:+.2%} ±{row[f'{codec}_half_width']:.2%}, "
            f"{row[f'{codec}_held']:.0f}/{row[f'{codec}_draws']:.0f}"
        )


def size_figures(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how large the errors of sizes are, and how many intervals held."""
    errors = [abs(row[f"{codec}_error"]) for row in rows for codec in CODECS]
    held = sum(row[f"{codec}_held"] for row in rows for codec in CODECS)
    draws = sum(row[f"{codec}_draws"] for row in rows for codec in CODECS)
    yield (
        f"- size error, xz and lzo: median {statistics.median(errors):.2%}, worst "
        f"{max(errors):.2%}"
    )
    yield (
        f"- truth inside the 95 % interval: {held:.0f} of {draws:.0f} "
        f"({held / draws:.1%})"
    )


if __name__ == "__main__":
    os.umask(0o022)
    main()
