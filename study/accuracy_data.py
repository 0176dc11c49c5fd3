"""The measured launches that the repo keeps, read for ``accuracy.py``."""

from __future__ import annotations

import csv
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.launch.fit import waited_share
from snapcraft_compression_advisor.launch.model import BlockSums
from snapcraft_compression_advisor.launch.profile import read_profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DATA = Path(__file__).parent / "data"
CODECS = ("lz4", "lzo", "zstd", "gzip", "xz")
"""Those with something to decompress, in the order of its cost."""


@dataclass(frozen=True, kw_only=True)
class Launches:
    """What was measured of one application.

    :param cold_s: of every cold launch, by codec, ``none`` among them.
    :param sums: by codec, the blocks of the recorded launch.
    :param runs: of adjacent blocks of a file.
    :param waited_share: of the work on blocks, what the launch waits for, as recorded.
    :param image_bytes: by codec, the size of the whole image, estimated.
    """

    name: str
    cold_s: Mapping[str, tuple[float, ...]]
    sums: Mapping[str, BlockSums]
    runs: int
    waited_share: float
    image_bytes: Mapping[str, float]

    @property
    def base_s(self) -> float:
        """Median of the cold launches from the uncompressed image."""
        return statistics.median(self.cold_s["none"])

    def differences_s(self, one: str, other: str) -> tuple[float, ...]:
        """Return how much longer launches with one codec took, round by round."""
        return tuple(
            a - b for a, b in zip(self.cold_s[one], self.cold_s[other], strict=True)
        )

    def added_s(self, codec: str) -> float:
        """Return how much longer than uncompressed a codec's cold launch takes.

        The median of the rounds: what a round has in common, such as a slower
        processor, falls out.
        """
        return statistics.median(self.differences_s(codec, "none"))


def read_launches() -> tuple[Launches, ...]:
    """Read the data of all applications, in the order in which they were measured."""
    cold: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows("launch-times.csv"):
        if row["kind"] == "cold":
            cold[row["application"]][row["codec"]].append(float(row["wall_s"]))
    sums: dict[str, dict[str, BlockSums]] = defaultdict(dict)
    for row in _rows("launch-blocks.csv"):
        sums[row["application"]][row["codec"]] = BlockSums(
            blocks=int(row["blocks"]),
            raw_bytes=int(row["raw_bytes"]),
            stored_bytes=int(row["stored_bytes"]),
            compressed_blocks=int(row["compressed_blocks"]),
            compressed_raw_bytes=int(row["compressed_raw_bytes"]),
            compressed_stored_bytes=int(row["compressed_stored_bytes"]),
        )
    sizes: dict[str, dict[str, float]] = defaultdict(dict)
    for row in _rows("launch-images.csv"):
        sizes[row["application"]][row["codec"]] = float(row["image_bytes"])
    profiles = {name: read_profile(DATA / "launches" / f"{name}.json") for name in cold}
    return tuple(
        Launches(
            name=name,
            cold_s={codec: tuple(runs) for codec, runs in by_codec.items()},
            sums=sums[name],
            runs=sum(len(file.blocks) for file in profiles[name].files),
            waited_share=waited_share(profiles[name]).mid,
            image_bytes=sizes[name],
        )
        for name, by_codec in cold.items()
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    path = DATA / name
    if not path.exists():
        return
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))
