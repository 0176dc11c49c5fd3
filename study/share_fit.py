"""The constants of ``launch/fit.py``, from launches recorded in two ways.

Blocks that are only mapped: launches recorded by strace, which an earlier version did,
and by residency. Directories: launches recorded from a mount and from a directory.
"""

from __future__ import annotations

import csv
import math
import statistics
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.fit import read_interval
from static_folds import STUDENT_95

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = Path(__file__).parent / "data"
TRACES = DATA / "traced-launches.csv"
DIRECTORIES = DATA / "directory-launches.csv"


@dataclass(frozen=True, kw_only=True)
class TracedRow:
    """What a trace and residency say about one launch; bytes are those of raw blocks.

    :param use: ``fit`` or ``check``.
    :param seen_bytes: seen read by the trace.
    :param mapped_bytes: only mapped.
    :param resident_bytes: of both, in the cache afterwards.
    :param other_bytes: in the cache, and not in the trace.
    :param expected_bytes: of the trace's blocks, by their shares.
    :param largest_expected_bytes: of the blocks only mapped of one file, the one of
        which most are expected, among those of which nothing was counted.
    :param largest_read_bytes: of these, read.
    """

    application: str
    use: str
    seen_bytes: int
    mapped_bytes: int
    resident_bytes: int
    other_bytes: int
    expected_bytes: int
    runs: int
    expected_runs: float
    whole_runs: int
    largest_expected_bytes: int
    largest_read_bytes: int

    @property
    def read_share(self) -> float:
        """Bytes read per byte expected."""
        return (self.resident_bytes + self.other_bytes) / self.expected_bytes

    @property
    def seek_share(self) -> float:
        """Runs per run expected."""
        return self.runs / self.expected_runs

    @property
    def whole_share(self) -> float:
        """Bytes read per byte that the trace names."""
        return self.resident_bytes / (self.seen_bytes + self.mapped_bytes)

    @property
    def largest(self) -> float:
        """Bytes that are expected of one file's mapping, per byte expected."""
        return self.largest_expected_bytes / self.expected_bytes

    @property
    def largest_read_share(self) -> float:
        """Bytes read of that file's mapping per byte expected of it."""
        return self.largest_read_bytes / self.largest_expected_bytes

    @property
    def whole_seek_share(self) -> float:
        """Runs per run that the trace names."""
        return self.runs / self.whole_runs


def read_traces() -> list[TracedRow]:
    """Return what was measured."""
    types = {"str": str, "int": int, "float": float}
    return [
        TracedRow(
            **{
                each.name: types[str(each.type)](row[each.name])
                for each in fields(TracedRow)
            }
        )
        for row in _lines(TRACES)
    ]


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


def traces_fitted(rows: Sequence[TracedRow]) -> dict[str, Interval]:
    """Return the shares of ``launch/fit.py``.

    Only launches that mapped files tell anything of mapped files. How far one file
    may be off is what the worst of all was, those that check among them.
    """
    fit = [row for row in rows if row.use == "fit" and row.mapped_bytes]
    whole = prediction([row.whole_share for row in fit])
    files = [row.largest_read_share for row in rows if row.largest_expected_bytes]
    return {
        "FILE_READ_SHARE": Interval(
            low=round(min(files), 2), mid=1.0, high=round(max(files), 2)
        ),
        "READ_SHARE": prediction([row.read_share for row in fit]),
        "SEEK_SHARE": prediction([row.seek_share for row in fit]),
        "WHOLE_READ_SHARE": whole.map(lambda end: min(1.0, end)),
        "WHOLE_SEEK_SHARE": prediction([row.whole_seek_share for row in fit]),
    }


def interval_of(row: TracedRow) -> Interval:
    """Return the interval that a launch's profile gets."""
    named = row.seen_bytes + row.mapped_bytes
    return read_interval(
        largest=row.largest,
        least=row.seen_bytes / row.expected_bytes,
        most=named / row.expected_bytes,
    )


def whole_measured(rows: Sequence[TracedRow]) -> tuple[float, float]:
    """Return the least and the most that was read of all that traces name."""
    shares = [round(row.whole_share, 2) for row in rows if row.mapped_bytes]
    return min(shares), max(shares)


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
