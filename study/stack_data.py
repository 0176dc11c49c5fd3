"""The measured launches over several mounts, read for ``stack_accuracy.py``."""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.devices.device_file import read_device
from snapcraft_compression_advisor.launch.launch_set import LaunchSet
from snapcraft_compression_advisor.launch.model import BlockSums, cost_of_blocks
from snapcraft_compression_advisor.launch.profile import read_profile
from snapcraft_compression_advisor.launch.stack_model import together
from stack_launcher import COMBINATIONS, UNCOMPRESSED
from stack_layers import ROLES
from stacks import BLOCK_FIELDS, BLOCKS, DEVICE, LAUNCHES, TIMES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from snapcraft_compression_advisor.devices.device import DeviceProfile
    from snapcraft_compression_advisor.launch.model import LaunchEstimate
    from stack_launcher import Combination

CHOICES = tuple(each for each in COMBINATIONS if each != UNCOMPRESSED)
"""What the packages of a stack can be: xz or lzo each."""

_SUMS = BLOCK_FIELDS[5:]


@dataclass(frozen=True, kw_only=True)
class Stacked:
    """What was measured of one application, and what the model makes of it.

    :param cold_s: every cold launch, by combination, in the order of the rounds.
    :param warm_s: the warm launch of each round.
    :param processors_busy: of the cold launch from uncompressed images, the median.
    :param sums: of the blocks read, by payload and codec.
    :param metadata_blocks: that a launch reads, by payload.
    :param device: the machine that measured.
    """

    name: str
    cold_s: Mapping[Combination, tuple[float, ...]]
    warm_s: tuple[float, ...]
    processors_busy: float
    sums: Mapping[tuple[str, str], BlockSums]
    metadata_blocks: Mapping[str, int]
    device: DeviceProfile

    @property
    def rounds(self) -> int:
        """How often each combination was launched."""
        return len(self.warm_s)

    def over_warm_s(self, combination: Combination) -> float:
        """Return what a cold launch adds to a warm one: the median of the rounds."""
        return _median_difference(self.cold_s[combination], self.warm_s)

    def over_plain_s(self, combination: Combination) -> float:
        """Return what it adds to one from uncompressed images, likewise."""
        return _median_difference(self.cold_s[combination], self.cold_s[UNCOMPRESSED])

    def differences_s(self, one: Combination, other: Combination) -> list[float]:
        """Return how much longer one takes than another, round by round."""
        pairs = zip(self.cold_s[one], self.cold_s[other], strict=True)
        return [a - b for a, b in pairs]

    def estimate(self, combination: Combination) -> LaunchEstimate:
        """Return what the model says: every layer by itself, and all together."""
        launch_set = LaunchSet(
            app=self.name,
            source="recorded",
            files=(),  # their blocks are summed up already
            read_share=Interval.exactly(1.0),
            seek_share=Interval.exactly(1.0),
            waited_share=Interval.exactly(1 / max(1.0, self.processors_busy)),
        )
        return together(
            [
                cost_of_blocks(
                    self.sums[role, codec],
                    replace(launch_set, metadata_blocks=self.metadata_blocks[role]),
                    codec,
                    self.device,
                )
                for role, codec in zip(ROLES, combination, strict=True)
            ]
        )


def _median_difference(some: tuple[float, ...], others: tuple[float, ...]) -> float:
    return statistics.median(a - b for a, b in zip(some, others, strict=True))


def read_stacked() -> tuple[Stacked, ...]:
    """Read the data of all applications, in the order in which they were measured.

    None if nothing was measured yet.
    """
    if not TIMES.exists():
        return ()
    cold: dict[str, dict[Combination, list[float]]] = {}
    warm: dict[str, list[float]] = defaultdict(list)
    busy: dict[str, list[float]] = defaultdict(list)
    for row in _rows(TIMES):
        name, wall_s = row["application"], float(row["wall_s"])
        combination = tuple(row[role] for role in ROLES)
        if row["kind"] == "warm":
            warm[name].append(wall_s)
            continue
        cold.setdefault(name, defaultdict(list))[combination].append(wall_s)
        if combination == UNCOMPRESSED:
            busy_s = float(row["user_s"]) + float(row["system_s"])
            busy[name].append(busy_s / wall_s)
    sums: dict[str, dict[tuple[str, str], BlockSums]] = defaultdict(dict)
    for row in _rows(BLOCKS):
        sums[row["application"]][row["role"], row["codec"]] = BlockSums(
            runs=int(row["runs"]), **{field: int(row[field]) for field in _SUMS}
        )
    device = read_device(DEVICE)
    return tuple(
        Stacked(
            name=name,
            cold_s={each: tuple(runs) for each, runs in by_combination.items()},
            warm_s=tuple(warm[name]),
            processors_busy=statistics.median(busy[name]),
            sums=sums[name],
            metadata_blocks=_metadata_blocks(name),
            device=device,
        )
        for name, by_combination in cold.items()
    )


def _metadata_blocks(name: str) -> dict[str, int]:
    """Return the metadata blocks that a launch was counted to read, by payload."""
    payloads = read_profile(LAUNCHES / f"{name}.json").payloads or ()
    return {each.role: each.metadata_blocks or 0 for each in payloads}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
