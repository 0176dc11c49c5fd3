"""Applies of deltas that were measured, and what is predicted of each."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from refresh_pairs import Row as Estimate
from refresh_pairs import read_rows
from snapcraft_compression_advisor.devices.apply import (
    ApplySizes,
    ApplyWork,
    Format,
    apply_work,
)
from snapcraft_compression_advisor.devices.apply_speeds import MEASURED
from snapcraft_compression_advisor.devices.device import ApplySpeeds
from snapcraft_compression_advisor.devices.device_file import read_device
from snapcraft_compression_advisor.payload.search_work import SearchWork

Row = dict[str, str]
"""One application of a delta, by column."""
TABLE = Path(__file__).parent / "data" / "refresh-apply.csv"
OTHER_TABLE = Path(__file__).parent / "data" / "refresh-apply-other.csv"
OTHER_DEVICE = Path(__file__).parent / "data" / "refresh-device.yaml"
"""What ``calibrate`` measured on the machine of the other table."""
DIGESTS = Path(__file__).parent / "data" / "refresh-digest.csv"
OTHER_DIGESTS = Path(__file__).parent / "data" / "refresh-digest-other.csv"
PAIRS = Path(__file__).parent / "data" / "refresh-pairs.csv"
COLUMNS = (
    *("set", "pair", "codec", "format", "processors", "round"),
    *("old_raw_bytes", "new_raw_bytes", "old_image_bytes", "new_image_bytes"),
    *("delta_bytes", "seconds", "unsquashfs_s", "xdelta3_s", "mksquashfs_s"),
    *("unsquashfs_kib", "xdelta3_kib", "mksquashfs_kib"),
)
TIMES = ("seconds", "unsquashfs_s", "xdelta3_s", "mksquashfs_s")


def times_s(row: Row) -> tuple[float, float]:
    """Return what a row took on the machine of the fit, and what is predicted."""
    return measured_s(row), work_of(row, MEASURED).seconds(int(row["processors"]))


def other_times_s(row: Row) -> tuple[float, float]:
    """Return what a row took on the other machine, and what its profile says."""
    work = work_of(row, read_device(OTHER_DEVICE).apply)
    digest = digests_s(OTHER_DIGESTS)[row["pair"], row["codec"]]
    return float(row["seconds"]) + digest, work.seconds(int(row["processors"]))


def measured_s(row: Row) -> float:
    """Return how long a row took, with the digest of the new image."""
    key = row["pair"], row["codec"]
    digest = digests_s(DIGESTS).get(key)
    if digest is None:
        digest = float(row["new_image_bytes"]) * MEASURED.digest_s_per_byte.mid
    return float(row["seconds"]) + digest


@cache
def digests_s(path: Path) -> dict[tuple[str, str], float]:
    """Return how long the digest of each new image takes on a machine."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["pair"], row["codec"]): float(row["seconds"])
            for row in csv.DictReader(file)
        }


def key_of(row: Row) -> tuple[str, ...]:
    """Return what was done, however often."""
    return tuple(row[name] for name in ("pair", "codec", "format", "processors"))


def of_rounds(
    rows: Sequence[Row], pick: Callable[[Iterable[float]], float] = min
) -> list[Row]:
    """Return one time of each kind: by default the least of its rounds.

    Whatever else runs on the machine's host makes some of them longer.
    """
    rounds: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        rounds.setdefault((row["set"], *key_of(row)), []).append(row)
    return [
        some[0]
        | {
            name: str(pick([float(row[name]) for row in some]))
            for name in TIMES
            if some[0][name]
        }
        for some in rounds.values()
    ]


def alone(rows: Sequence[Row]) -> list[Row]:
    """Return the times on one processor: on two, each program takes longer."""
    return [row for row in rows if row["processors"] == "1"]


def written_bytes(row: Row) -> float:
    """Return how much xdelta3 writes."""
    plain = row["format"] == "xdelta3"
    return float(row["new_image_bytes" if plain else "new_raw_bytes"])


def read_table(path: Path = TABLE) -> list[Row]:
    """Return the rows of a table."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def work_of(row: Row, speeds: ApplySpeeds = MEASURED) -> ApplyWork:
    """Return the processor time of each step, predicted; images are in memory."""
    plain = row["format"] == "xdelta3"
    delta_format: Format = "xdelta3" if plain else "snap-1-1-xdelta3"
    return apply_work(speeds, sizes_of(row), delta_format, row["codec"], "mid")


def sizes_of(row: Row) -> ApplySizes:
    """Return the sizes of a row."""
    estimate = estimates().get((row["pair"], row["codec"], row["format"]))
    return ApplySizes(
        old_image=float(row["old_image_bytes"]),
        new_image=float(row["new_image_bytes"]),
        old_raw=float(row["old_raw_bytes"]),
        new_raw=float(row["new_raw_bytes"]),
        delta=float(row["delta_bytes"]),
        coded=None if estimate is None else float(estimate.coded_bytes),
        search=None if estimate is None else searched(estimate),
    )


def known(row: Row) -> Estimate:
    """Return what was estimated of a row's pair."""
    return estimates()[row["pair"], row["codec"], row["format"]]


def searched(estimate: Estimate) -> SearchWork:
    """Return what packing a pair's new image takes."""
    return SearchWork(
        raw_bytes=estimate.raw_bytes,
        steps=estimate.steps,
        near_steps=estimate.near_steps,
        blocks=estimate.blocks,
    )


@cache
def estimates() -> dict[tuple[str, str, str], Estimate]:
    """Return what is known of pairs by pair, codec and format."""
    return {(row.pair, row.codec, row.format): row for row in read_rows(PAIRS)}
