#!/usr/bin/env python3
"""Compare estimated plain deltas with real ones, between two builds of packages.

    .venv/bin/python study/refresh_pairs.py --trees TREES [PAIR…]

``data/refresh-packages.csv`` names each pair's packages of Debian, with both versions:
what a release has and its fix. They are unpacked to TREES, with their files' times.
Real deltas are made as snapd makes them, between images that mksquashfs packs.
``data/refresh-estimates.csv`` has both sizes, and processor seconds of either way.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.scratch import scratch_directory
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.refresh.estimate import DeltaMaker
from snapcraft_compression_advisor.refresh.refresh import SMALL_BYTES
from snapcraft_compression_advisor.refresh.xdelta3 import make_plain_delta
from snapcraft_compression_advisor.trial.exact import pack_with

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from page_parts import replace_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.payload.source import Payload

    Row = Mapping[str, str]

DATA = Path(__file__).parent / "data"
PACKAGES = DATA / "refresh-packages.csv"
TABLE = DATA / "refresh-estimates.csv"
PAGE = Path(__file__).parents[1] / "docs/study/deltas.md"
COLUMNS = (
    *("pair", "codec", "raw_bytes", "image_bytes", "real_bytes"),
    *("low_bytes", "mid_bytes", "high_bytes", "estimate_cpu_s", "real_cpu_s"),
)
HELD = "held-"
"""What pairs' names begin with that no constant was fitted to."""
CODECS = ("xz", "lzo")
SIDES = ("old", "new")
_METADATA = """name: {}
version: "{}"
summary: A pair of builds
description: A pair of builds
"""


def unpack(rows: Sequence[Row], tree: Path) -> None:
    """Make the two builds of a pair, unless they are there."""
    for side in SIDES:
        build = tree / side
        if (build / "meta/snap.yaml").is_file():
            continue
        (build / "meta").mkdir(parents=True)
        for row in rows:
            name = f"{row['package']}={row[side]}"
            with scratch_directory() as scratch:
                command = ("apt-get", "download", "-qq", name)
                subprocess.run(command, check=True, cwd=scratch)
                (archive,) = scratch.glob("*.deb")
                subprocess.run(["dpkg-deb", "-x", archive, build], check=True)  # noqa: S607
        text = _METADATA.format(rows[0]["pair"], side)
        (build / "meta/snap.yaml").write_text(text)


def cpu_s() -> float:
    """Return the processor seconds of this process and of all that it ran."""
    return sum(os.times()[:4])


def measure(pair: str, old: Payload, new: Payload) -> Iterator[dict[str, object]]:
    """Yield the row of each codec."""
    for codec in CODECS:
        times_s = [cpu_s()]
        found = DeltaMaker(old, new).plain(codec).size_bytes
        times_s.append(cpu_s())
        with scratch_directory() as scratch:
            images = []
            for side, build in zip(SIDES, (old, new), strict=True):
                (scratch / side).mkdir()
                packed = pack_with((codec,), build, scratch / side, lambda _: None)
                images += [image for _, image in packed if image]
            real_bytes = make_plain_delta(images[0], images[1], scratch / "delta")
            image_bytes = images[1].stat().st_size
        times_s.append(cpu_s())
        values = (
            *(pair, codec, new.inventory.raw_bytes, image_bytes, real_bytes),
            *(round(each) for each in (found.low, found.mid, found.high)),
            *(f"{after - before:.2f}" for before, after in pairwise(times_s)),
        )
        yield dict(zip(COLUMNS, values, strict=True))


def _error(row: Row) -> float:
    return int(row["mid_bytes"]) / int(row["real_bytes"]) - 1


def _words(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what the page says of small and of larger builds."""
    held = [row for row in rows if row["pair"].startswith(HELD)]
    rows = [row for row in rows if row not in held]
    small = [row for row in rows if int(row["raw_bytes"]) <= SMALL_BYTES]
    large = [row for row in rows if int(row["raw_bytes"]) > SMALL_BYTES]
    for name, some in (("larger", large), ("up to 32 MiB", small), ("kept back", held)):
        errors = [abs(_error(row)) for row in some]
        inside = sum(
            int(row["low_bytes"]) <= int(row["real_bytes"]) <= int(row["high_bytes"])
            for row in some
        )
        shares = [float(e["estimate_cpu_s"]) / float(e["real_cpu_s"]) for e in some]
        yield (
            f"- {name}: error {statistics.median(errors):.1%} (median), "
            f"{max(errors):.1%} (worst); inside the interval: {inside} of {len(some)}; "
            f"processor time {statistics.median(shares):.0%} of making the real one "
            f"(median), {max(shares):.0%} (worst)"
        )


def write_page(rows: Sequence[Row]) -> None:
    """Write the figures, and the table of all pairs."""
    replace_part(PAGE, "words", "\n".join(_words(rows)))
    heads = "files, MB|image, MB|real, MB|estimated, MB|error"
    lines = [f"| pair | codec | {heads.replace('|', ' | ')} |", "|---" * 7 + "|"]
    for row in sorted(rows, key=lambda row: -int(row["raw_bytes"])):
        names = ("raw_bytes", "image_bytes", "real_bytes", "mid_bytes")
        sizes = " | ".join(f"{int(row[name]) / 1e6:.2f}" for name in names)
        cells = (row["pair"], row["codec"], sizes, f"{_error(row):+.1%}")
        lines.append(f"| {' | '.join(cells)} |")
    replace_part(PAGE, "sizes", "\n".join(lines))


def main() -> None:
    """Measure all pairs or those that are named, and write the table and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("pairs", nargs="*", metavar="PAIR")
    arguments = parser.parse_args()
    packages: dict[str, list[Row]] = defaultdict(list)
    for row in csv.DictReader(PACKAGES.open()):
        packages[row["pair"]].append(row)
    rows: list[Mapping[str, object]] = []
    for pair in arguments.pairs or packages:
        tree = arguments.trees / pair
        unpack(packages[pair], tree)
        with open_payload(tree / "old") as old, open_payload(tree / "new") as new:
            rows += measure(pair, old, new)
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_page([*csv.DictReader(TABLE.open())])


if __name__ == "__main__":
    main()
