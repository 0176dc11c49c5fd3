#!/usr/bin/env python3
"""Measure how far xdelta3 finds what has moved, with the options that snapd sets.

    python3 study/refresh_reach.py > study/data/refresh-reach.csv

A file of 4 MiB moves within a stream of 192 MiB, back or ahead; all other bytes stay in
their order. A row has the size of the delta: as long as the file where xdelta3 didn't
find it. ``REACH_BYTES`` of ``refresh/compare.py`` is checked with it.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from pathlib import Path

from snapcraft_compression_advisor.core.units import MIB

FILE_MIB, STREAM_MIB = 4, 192
DISTANCES_MIB = (8, 24, 27, 29, 31, 34, 60)


def delta_bytes(folder: Path, old: bytes, new: bytes) -> int:
    """Return the size of the delta that xdelta3 makes."""
    paths = [folder / name for name in ("old", "new", "delta")]
    for path, contents in zip(paths, (old, new), strict=False):
        path.write_bytes(contents)
    source, target, delta = map(str, paths)
    subprocess.run(  # no command of others
        ["xdelta3", "-3", "-f", "-e", "-s", source, target, delta],  # noqa: S607
        check=True,
    )
    return paths[2].stat().st_size


def main() -> None:
    """Print a row for each distance."""
    dice = random.Random(1)  # noqa: S311 # no secret
    rest = dice.randbytes((STREAM_MIB - FILE_MIB) * MIB)
    file = dice.randbytes(FILE_MIB * MIB)
    print("direction,distance_mib,delta_bytes")
    with tempfile.TemporaryDirectory() as folder:
        for distance in DISTANCES_MIB:
            early, late = (
                rest[:start] + file + rest[start:]
                for start in (8 * MIB, (8 + distance) * MIB)
            )
            for name, old, new in (("ahead", early, late), ("back", late, early)):
                print(f"{name},{distance},{delta_bytes(Path(folder), old, new)}")


if __name__ == "__main__":
    main()
