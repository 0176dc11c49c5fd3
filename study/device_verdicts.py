#!/usr/bin/env python3
"""Compare what devices decide by themselves, for ``docs/study/default-devices.md``.

    .venv/bin/python study/device_verdicts.py

For each application that was measured, from its recorded blocks and its images
(``data/static-blocks.csv``, ``data/launch-images.csv``). The snap is taken to have xz.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from accuracy_data import DATA
from snapcraft_compression_advisor.advice.evidence import (
    AVERAGE,
    Evidence,
    Policy,
    Saving,
)
from snapcraft_compression_advisor.advice.judging import recommend
from snapcraft_compression_advisor.core.units import Interval, combined
from snapcraft_compression_advisor.devices.builtin_devices import find_device
from snapcraft_compression_advisor.launch.launch_set import LaunchSet
from snapcraft_compression_advisor.launch.model import (
    BlockSums,
    average_figures,
    cost_of_blocks,
    saved_figures,
    seconds_saved,
    total_s,
)
from static_accuracy import BLOCK_FIELDS, BLOCKS, VERDICTS, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from snapcraft_compression_advisor.advice.recommendation import Recommendation
    from snapcraft_compression_advisor.launch.model import LaunchEstimate

IMAGES = DATA / "launch-images.csv"
DEVICES = ("nvme-laptop", "sata-ssd-laptop", "hdd-laptop", "sbc-emmc")
DEFAULT = ("nvme-laptop", "hdd-laptop")
NOTEBOOKS = {"nvme-laptop": 1247, "sata-ssd-laptop": 943, "hdd-laptop": 702}
"""Notebooks with a drive of each kind, of 2,669 that ran Linux in June 2023: linuxhw,
Trends, Notebook/README.md, commit 01e920728a05. It counts SSDs on SATA as SSD."""


def main() -> None:
    """Print the table."""
    print("\n".join(table()))


def table() -> Iterator[str]:
    """Yield a row for each application, the one that gains most first."""
    shares = {
        each: count / sum(NOTEBOOKS.values()) for each, count in NOTEBOOKS.items()
    }
    rows = [_row(name, shares) for name in sorted(_names())]
    heads = ("application", *DEVICES, "the default set", "average of 2023")
    yield f"| {' | '.join(heads)} |"
    yield f"|---{'|--:' * len(DEVICES)}{'|---' * 2}|"
    yield from (text for _, text in sorted(rows, key=lambda row: -row[0]))


def _row(name: str, shares: Mapping[str, float]) -> tuple[float, str]:
    costs = {device: _estimates(name, device) for device in DEVICES}
    savings = {
        device: Saving(
            app=name, device=device, seconds=seconds_saved(each["xz"], each["lzo"])
        )
        for device, each in costs.items()
    }
    users = [
        (share, saved_figures(costs[device]["xz"], costs[device]["lzo"]))
        for device, share in shares.items()
    ]
    mean = combined(total_s, average_figures(users))
    average = Saving(app=name, device=AVERAGE, seconds=mean, shares=shares)
    alone = {device: _advice(name, saving) for device, saving in savings.items()}
    cells = (
        f"{savings[device].seconds.mid:.2f} s {alone[device].verdict}"
        for device in DEVICES
    )
    both = _advice(name, *(savings[device] for device in DEFAULT))
    weighted = _advice(name, *savings.values(), average=average)
    return mean.mid, (
        f"| {name} | {' | '.join(cells)} | {both.verdict} | {weighted.verdict} |"
    )


def _names() -> set[str]:
    return {row["application"] for row in read_rows(VERDICTS)}


def _estimates(name: str, device: str) -> dict[str, LaunchEstimate]:
    """Return what the recorded blocks cost, by codec."""
    waited = next(row for row in _rows(VERDICTS, name))
    one = Interval.exactly(1.0)
    launch_set = LaunchSet(
        app=name,
        source="recorded",
        files=(),
        read_share=one,
        seek_share=one,
        waited_share=Interval(
            **{end: float(waited[f"waited_{end}"]) for end in ("low", "mid", "high")}
        ),
    )
    return {
        row["codec"]: cost_of_blocks(
            BlockSums(**{field: float(row[field]) for field in BLOCK_FIELDS[3:]}),
            launch_set,
            row["codec"],
            find_device(device),
        )
        for row in _rows(BLOCKS, name)
    }


def _rows(path: Path, name: str) -> Iterator[dict[str, str]]:
    for row in read_rows(path):
        if (row["application"], row["set"]) == (name, "recorded"):
            yield row


def _advice(
    name: str, *savings: Saving, average: Saving | None = None
) -> Recommendation:
    sizes = {
        row["codec"]: float(row["image_bytes"])
        for row in read_rows(IMAGES)
        if row["application"] == name
    }
    evidence = Evidence(
        declared="xz",
        xz_bytes=Interval.exactly(sizes["xz"]),
        lzo_bytes=Interval.exactly(sizes["lzo"]),
        bytes_added=Interval.exactly(sizes["lzo"] - sizes["xz"]),
        savings=savings,
        averages=(average,) if average else (),
    )
    return recommend(evidence, Policy())


if __name__ == "__main__":
    main()
