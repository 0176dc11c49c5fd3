"""How far sizes of an advice are off, and how often intervals of draws hold them."""

from __future__ import annotations

import json
import statistics
import sys
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

from debian_payloads import note
from measured_process import run_measured
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.payload.source import open_payload
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial import census, sampled
from snapcraft_compression_advisor.trial.estimate import estimate_total
from snapcraft_compression_advisor.trial.look import look_at_blocks
from snapcraft_compression_advisor.trial.sampled import Ladder, climb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lot import Row
    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.look import CloserLook, QuickLook

SEEDS = 20
CODECS = ("xz", "lzo")


def measure_sizes(
    name: str, tree: Path, images: Path, packs: Mapping[str, Row]
) -> dict[str, float]:
    """Return how far an advice's sizes are off, and which intervals of draws held.

    :param images: what is before the codec in the paths of the packed images.
    """
    report_file = images.with_suffix(".report")
    command = [sys.executable, "-m", "snapcraft_compression_advisor", "advise"]
    options = ["--format", "json", "--output", str(report_file)]
    run_measured([*command, str(tree), *options])
    said = json.loads(report_file.read_text())["trial"]["codecs"]
    report_file.unlink()
    note(name, f"{SEEDS} draws")
    held = intervals_held(
        tree, {codec: images.with_name(f"{images.name}.{codec}") for codec in CODECS},
        SEEDS,
    )  # fmt: skip
    row: dict[str, float] = {}
    for codec in CODECS:
        size = said[codec]["image_bytes"]
        row[f"{codec}_error"] = size["mid"] / packs[codec]["image_bytes"] - 1
        row[f"{codec}_half_width"] = (size["high"] - size["low"]) / 2 / size["mid"]
        row[f"{codec}_held"], row[f"{codec}_draws"] = held[codec]
    return row


def intervals_held(
    prime: Path, images: Mapping[str, Path], seeds: int
) -> dict[str, tuple[int, int]]:
    """Return for each codec in how many draws the interval held the true total.

    The draws and estimates are the product's own; only the blocks' sizes come from the
    images rather than from compressing them again.
    """
    with (
        open_payload(prime) as payload,
        patch.object(census, "look_at_blocks", remembered := Remembered()),
        patch.object(sampled, "look_at_blocks", remembered),
    ):
        layout = lay_out(payload)
        ladders = [climb(payload, layout, seed=seed) for seed in range(seeds)]
    held = {}
    blocks = [layout.block(number) for number in range(layout.block_count)]
    for codec, image in images.items():
        if codec == "none":
            continue
        stored = dict(stored_sizes(image))
        true = np.array([stored[b.path, b.offset] for b in blocks], dtype=np.float64)
        hits = sum(holds(ladder, codec, true) for ladder in ladders)
        held[codec] = (hits, seeds)
    return held


class Remembered:
    """Looks at each block once, however many draws take it."""

    def __init__(self) -> None:
        self._rows: dict[tuple[type, int], NDArray[np.float64]] = {}

    def __call__(
        self,
        payload: Payload,
        layout: Layout,
        numbers: NDArray[np.int64],
        look: QuickLook | CloserLook,
    ) -> NDArray[np.float64]:
        """See :func:`look_at_blocks`."""
        keys = [(type(look), number) for number in numbers.tolist()]
        new = np.array([n for kind, n in keys if (kind, n) not in self._rows], np.int64)
        rows = look_at_blocks(payload, layout, new, look)
        self._rows.update(
            zip(((type(look), n) for n in new.tolist()), rows, strict=True)
        )
        found = np.array([self._rows[key] for key in keys], dtype=np.float64)
        return found.reshape(len(numbers), look.columns)


def holds(ladder: Ladder, codec: str, true: NDArray[np.float64]) -> bool:
    """Return whether the interval of one draw holds the sum of all blocks' sizes."""
    stored = true[ladder.sample.members]
    model = ladder.models.get(codec)
    found = estimate_total(ladder.phases, ladder.sample, stored, model)
    error = abs(found.total_bytes - float(true.sum()))
    return round(error) <= found.half_width_bytes


def stored_sizes(path: Path) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the stored size of every block of an image by file and offset."""
    with Image.open(path) as image:
        for entry in image.walk():
            offset = 0
            for block in entry.blocks or ():
                yield (entry.path, offset), block.stored_bytes
                offset += block.raw_bytes


def size_cells(row: Row) -> Iterator[str]:
    """Yield a row's cells of the sizes with each codec."""
    for codec in CODECS:
        yield (
            f"{row[f'{codec}_error']:+.2%} ±{row[f'{codec}_half_width']:.2%}, "
            f"{row[f'{codec}_held']:.0f}/{row[f'{codec}_draws']:.0f}"
        )


def size_figures(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how large the errors of sizes are, and how many intervals held."""
    errors = [abs(row[f"{codec}_error"]) for row in rows for codec in CODECS]
    held = sum(row[f"{codec}_held"] for row in rows for codec in CODECS)
    draws = sum(row[f"{codec}_draws"] for row in rows for codec in CODECS)
    yield (
        f"- size error, xz and lzo: median {statistics.median(errors):.2%}, worst "
        f"{max(errors):.2%}"
    )
    yield (
        f"- truth inside the 95 % interval: {held:.0f} of {draws:.0f} "
        f"({held / draws:.1%})"
    )
