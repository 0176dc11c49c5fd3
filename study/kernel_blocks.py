#!/usr/bin/env python3
"""Time the kernel's cold reads of single data blocks, with every codec.

The script packs blocks of real applications, one per file, with each codec into images
in memory, so it times the kernel's work alone. It reads each block with one codec after
the other, in several rounds, and keeps the median. Then it fits the costs, and prints
the error of the sum for each application that is left out of the fit.

usage: kernel_blocks.py [--primes DIR [--blocks N] [--rounds N]] [-o FILE]

Without --primes it fits the existing table again.
"""

from __future__ import annotations

import argparse
import csv
import io
import platform
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.capture.block_timing import (
    BlockPlace,
    TimedBlock,
    Timings,
    choose_blocks,
    time_blocks,
    write_blocks,
)
from snapcraft_compression_advisor.capture.cost_fit import FittedCosts, fit_costs
from snapcraft_compression_advisor.capture.measure import (
    processor_name,
)
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.devices.device import block_seconds
from snapcraft_compression_advisor.squashfs import mksquashfs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

APPLICATIONS = (
    "browser", "cli", "game", "gnome-calculator", "office", "python-app",
)  # fmt: skip
TABLE = Path(__file__).parent / "data" / "kernel-blocks.csv"
MEMORY = Path("/dev/shm")  # noqa: S108 # a name of our own is made in it
COLUMNS = ("application", "codec", "raw_bytes", "stored_bytes", "median_us")
_US_PER_S = 1e6
_SEED = 1


def main() -> None:
    """Time, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--primes", type=Path, help="primes of prime_from_debs.py")
    parser.add_argument("--blocks", type=int, default=120, help="of each application")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("-o", "--output", type=Path, default=TABLE)
    arguments = parser.parse_args()
    if arguments.primes is not None:
        measure(arguments)
    report(read_table(arguments.output))


def measure(arguments: argparse.Namespace) -> None:
    """Time the blocks, and write the table."""
    places = tuple(choose(arguments.primes, arguments.blocks))
    with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
        timings = time_places(places, Path(scratch), rounds=arguments.rounds)
    command = (
        f"kernel_blocks.py --blocks {arguments.blocks} --rounds {arguments.rounds}"
    )
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(table(timings, command), encoding="utf-8")


def report(blocks: Sequence[TimedBlock]) -> None:
    """Print the fitted costs in µs and KiB, and the error of each sum left out."""
    costs = fit_costs(blocks)
    for name, cost in (("fill", costs.fill), *costs.decompress.items()):
        ends = (
            cost.raw_s_per_byte if cost.raw_s_per_byte.mid else cost.stored_s_per_byte
        )
        spread = (
            f"{ends.low / ends.mid:.2f} to {ends.high / ends.mid:.2f}"
            if ends.mid
            else ""
        )
        print(
            f"{name:5} {cost.block_s.mid * _US_PER_S:7.2f} µs/block"
            f"{cost.raw_s_per_byte.mid * _US_PER_S * KIB:8.3f} µs/KiB raw"
            f"{cost.stored_s_per_byte.mid * _US_PER_S * KIB:8.3f} µs/KiB stored"
            f"  interval {spread}"
        )
    for codec in CODECS:
        errors = left_out_errors(blocks, codec)
        print(
            f"{codec:5} predicted / measured - 1: "
            + ", ".join(f"{name} {error:+.1%}" for name, error in errors.items())
        )


def left_out_errors(blocks: Sequence[TimedBlock], codec: str) -> dict[str, float]:
    """Return by application how far its sum is off, if left out of the fit."""
    errors = {}
    for application in dict.fromkeys(block.group for block in blocks):
        costs = fit_costs([block for block in blocks if block.group != application])
        mine = [
            block
            for block in blocks
            if (block.group, block.codec) == (application, codec)
        ]
        measured_s = sum(block.median_s for block in mine)
        predicted_s = sum(_predicted_s(block, costs) for block in mine)
        errors[application] = predicted_s / measured_s - 1
    return errors


def _predicted_s(block: TimedBlock, costs: FittedCosts) -> float:
    parts = [costs.fill]
    if block.compressed:
        parts.append(costs.decompress[block.codec])
    return sum(
        block_seconds(cost, raw_bytes=block.raw_bytes, stored_bytes=block.stored_bytes)
        for cost in parts
    )


def read_table(path: Path) -> tuple[TimedBlock, ...]:
    """Return the blocks of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(
            TimedBlock(
                group=row["application"],
                codec=row["codec"],
                raw_bytes=int(row["raw_bytes"]),
                stored_bytes=int(row["stored_bytes"]),
                median_s=float(row["median_us"]) / _US_PER_S,
            )
            for row in rows
        )


def choose(primes: Path, count: int) -> Iterator[BlockPlace]:
    """Choose blocks of each application, the same ones each time."""
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    for application in APPLICATIONS:
        files = sorted(
            path
            for path in (primes / application).rglob("*")
            if path.is_file() and not path.is_symlink() and path.stat().st_size
        )
        yield from choose_blocks(files, group=application, count=count, chance=chance)


def time_places(
    places: tuple[BlockPlace, ...], scratch: Path, *, rounds: int
) -> Timings:
    """Pack the blocks with each codec, and time them."""
    tree = scratch / "tree"
    tree.mkdir()
    groups = write_blocks(places, tree)
    exclude_file = scratch / "excludes"
    exclude_file.touch()
    images = {}
    for codec in CODECS:
        images[codec] = scratch / f"{codec}.squashfs"
        mksquashfs.pack(
            tree,
            images[codec],
            codec=codec,
            snap_type="app",
            exclude_file=exclude_file,
        )
    return time_blocks(images, groups, rounds=rounds, progress=print)


def table(timings: Timings, command: str) -> str:
    """Return the CSV text."""
    errors = ", ".join(f"{codec} {each:.1%}" for codec, each in timings.error.items())
    text = io.StringIO()
    text.write(
        f"# Cold read of one page of a file of one block, image in memory; median of "
        f"all rounds, measured. Linux {platform.release()}, {processor_name()}. "
        f"{command}. Standard error of the summed medians: {errors}\n"
    )
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for block in timings.blocks:
        rows.writerow(
            (
                block.group,
                block.codec,
                block.raw_bytes,
                block.stored_bytes,
                f"{block.median_s * _US_PER_S:.1f}",
            )
        )
    return text.getvalue()


if __name__ == "__main__":
    main()
