"""What launches recorded from mounts and directories say, for ``directory.py``."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path

from snapcraft_compression_advisor.core.units import Interval
from traced_fit import prediction

LAUNCHES = Path(__file__).parent / "data/directory-launches.csv"

Row = dict[str, str]
_TOLD = {"1": "yes", "0": "no"}


def read_rows() -> list[Row]:
    """Return what was recorded."""
    with LAUNCHES.open(newline="") as file:
        return [*csv.DictReader(line for line in file if not line.startswith("#"))]


def agreed(row: Row) -> float:
    """Return the blocks in common with the recording from a mount ÷ their union."""
    return _shared(row, "directory_blocks", "common")


def mounts_agreed(row: Row) -> float:
    """Return the same for a second recording from a mount."""
    return _shared(row, "again_blocks", "again_common")


def _shared(row: Row, other: str, common: str) -> float:
    both = int(row[common])
    return both / (int(row["mount_blocks"]) + int(row[other]) - both)


def fitted(rows: Sequence[Row]) -> dict[str, Interval]:
    """Return the shares of a directory in ``launch/traced_share.py``."""
    return {
        f"DIRECTORY_{name}_SHARE": prediction(
            [int(row[f"mount_{kind}"]) / int(row[f"directory_{kind}"]) for row in rows]
        )
        for name, kind in (("READ", "bytes"), ("SEEK", "runs"))
    }


def print_fit(rows: Sequence[Row]) -> None:
    """Print a table in Markdown, and the constants."""
    print(
        "| application | kind | blocks, mount | directory | in common ÷ union | "
        "two mounts | bytes | reads told |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        ratio = int(row["directory_bytes"]) / int(row["mount_bytes"])
        print(
            f"| {row['application']} | {row['kind']} | {int(row['mount_blocks']):,} | "
            f"{int(row['directory_blocks']):,} | {agreed(row):.3f} | "
            f"{mounts_agreed(row):.3f} | {ratio:.3f} | {_TOLD[row['calls_told']]} |"
        )
    for name, shares in (
        *(
            (f"directory, reads told: {word}", [agreed(row) for row in rows_told])
            for told, word in _TOLD.items()
            if (rows_told := [row for row in rows if row["calls_told"] == told])
        ),
        ("a second mount", [mounts_agreed(row) for row in rows]),
    ):
        print(
            f"{name}: median {statistics.median(shares):.3f}, least {min(shares):.3f}"
        )
    for name, interval in fitted(rows).items():
        print(f"{name} = {interval}")
