"""The constants of ``launch/fit.py``, from launches recorded in two ways.

They were recorded from a mount and from a directory.
"""

from __future__ import annotations

import csv
import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval
from static_folds import STUDENT_95

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parent / "data"
DIRECTORIES = DATA / "directory-launches.csv"


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [*csv.DictReader(line for line in file if not line.startswith("#"))]


def prediction(ratios: Sequence[float]) -> Interval:
    """Return the 90 % prediction interval of a log-normal quantity (Student's t)."""
    logs = [math.log(ratio) for ratio in ratios]
    middle, spread = statistics.mean(logs), statistics.stdev(logs)
    student = STUDENT_95[min(len(logs) - 1, len(STUDENT_95)) - 1]
    reach = student * spread * math.sqrt(1 + 1 / len(logs))
    return Interval(
        low=math.exp(middle - reach),
        mid=math.exp(middle),
        high=math.exp(middle + reach),
    ).map(lambda end: round(end, 2))


DirectoryRow = dict[str, str]
"""A launch recorded twice from a mount and once from a directory."""


def read_directories() -> list[DirectoryRow]:
    """Return what was recorded."""
    return _lines(DIRECTORIES)


def agreed(row: DirectoryRow) -> float:
    """Return the blocks in common with the recording from a mount ÷ their union."""
    return _shared(row, "directory_blocks", "common")


def mounts_agreed(row: DirectoryRow) -> float:
    """Return the same for a second recording from a mount."""
    return _shared(row, "again_blocks", "again_common")


def _shared(row: DirectoryRow, other: str, common: str) -> float:
    both = int(row[common])
    return both / (int(row["mount_blocks"]) + int(row[other]) - both)


def directories_fitted(rows: Sequence[DirectoryRow]) -> dict[str, Interval]:
    """Return the shares of a directory in ``launch/fit.py``."""
    return {
        f"DIRECTORY_{name}_SHARE": prediction(
            [int(row[f"mount_{kind}"]) / int(row[f"directory_{kind}"]) for row in rows]
        )
        for name, kind in (("READ", "bytes"), ("SEEK", "runs"))
    }
