#!/usr/bin/env python3
"""Tell how often intervals of draws hold the truth, on payloads that models left out.

Each payload of ``study/data/block-sizes.csv`` is drawn from as the product does: 24 by
lots of 400 blocks, which are its blocks many times over. The models are fitted to the
other payloads (see ``block_sizes.py``). Without a model, a regression would learn from
a block what its double comes to, so half of the blocks are drawn, each there once.

usage: block_draws.py [--seeds N]
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from block_sizes import (
    COLUMNS,
    DATA,
    LEAST_BLOCKS,
    TARGETS,
    Payloads,
    columns_of,
    fit_codec,
    folds,
    solve,
)
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.trial.block_model import BlockModel, model_columns
from snapcraft_compression_advisor.trial.census import (
    CLOSER_BLOCKS,
    TRIED_BLOCKS,
)
from snapcraft_compression_advisor.trial.estimate import estimate_total
from snapcraft_compression_advisor.trial.phase import Phase, draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Table = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Draw:
    """An estimate's error and the half width of its interval, in shares of the size."""

    error: float
    half_width: float


def main() -> None:
    """Print a line for each codec, by what is known of the blocks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="draws of each payload")
    seeds = range(parser.parse_args().seeds)
    with DATA.open(newline="") as file:
        rows = list(csv.DictReader(file))
    table, payloads = columns_of(rows)
    for known, columns in COLUMNS.items():
        for codec in TARGETS:
            if codec != known:
                found = list(draws(table, columns, codec, payloads, seeds))
                print(f"{known:5}{codec:5}by a model   {summary(found)}")
    for codec in TARGETS:
        found = list(draws_alone(table, COLUMNS["none"], codec, payloads, seeds))
        print(f"none {codec:5}without one  {summary(found)}")


def draws(
    table: Table,
    columns: Sequence[str],
    codec: str,
    payloads: Payloads,
    seeds: Sequence[int],
) -> Iterator[Draw]:
    """Yield draws from each payload, with the model of the others."""
    raw_bytes = table["raw_bytes"]
    ratios = np.column_stack([table[name] for name in columns]) / raw_bytes[:, None]
    x, y = model_columns(ratios, raw_bytes), table[codec] / raw_bytes
    weights = raw_bytes / DATA_BLOCK_BYTES
    errors = fit_codec(table, columns, codec, payloads)
    for part in folds(payloads.names):
        fit = ~part & ~np.isin(payloads.contents, payloads.contents[part])
        model = BlockModel(
            coefficients=solve(x[fit], y[fit], weights[fit]),
            looks=len(columns),
            scatter=float(str(errors["scatter"])),
            bias=float(str(errors["bias"])),
        )
        for number, own in enumerate(blocks_of_payloads(payloads, part)):
            for seed in seeds:
                chance = np.random.default_rng([seed, number])
                chosen = chance.choice(own, CLOSER_BLOCKS)
                phase = phase_of(table, columns, chosen, chance)
                yield attempt(phase, table[codec][chosen], TRIED_BLOCKS, model)


def draws_alone(
    table: Table,
    columns: Sequence[str],
    codec: str,
    payloads: Payloads,
    seeds: Sequence[int],
) -> Iterator[Draw]:
    """Yield draws of half of each payload's blocks, without a model."""
    everywhere = np.ones(len(payloads.names), dtype=np.bool_)
    for number, own in enumerate(blocks_of_payloads(payloads, everywhere)):
        for seed in seeds:
            chance = np.random.default_rng([seed, number])
            phase = phase_of(table, columns, own, chance)
            yield attempt(phase, table[codec][own], len(own) // 2, None)


def blocks_of_payloads(
    payloads: Payloads, part: NDArray[np.bool_]
) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of each payload's blocks, of those that have enough."""
    for name in sorted(set(payloads.names[part].tolist())):
        own = np.flatnonzero(payloads.names == name)
        if len(own) >= LEAST_BLOCKS:
            yield own


def phase_of(
    table: Table,
    columns: Sequence[str],
    chosen: NDArray[np.int64],
    chance: np.random.Generator,
) -> Phase:
    """Return blocks that were looked at closely, as if they were a whole payload."""
    raw_bytes, count = table["raw_bytes"][chosen], len(chosen)
    sizes = np.column_stack([table[name][chosen] for name in columns])
    return Phase(
        members=np.arange(count),
        raw_bytes=raw_bytes,
        shares=np.ones(count),
        weights=np.ones(count),
        ratios=sizes / raw_bytes[:, None],
        latest=len(columns) - 1,
        zeros=np.zeros(count, dtype=np.bool_),
        lots=chance.random(count),
    )


def attempt(
    phase: Phase,
    true: NDArray[np.float64],
    count: int,
    model: BlockModel | None,
) -> Draw:
    """Draw blocks, estimate the size of all and compare."""
    sample = draw(phase, count)
    found = estimate_total((phase,), sample, true[sample.members], model)
    total = float(true.sum())
    return Draw(
        error=found.total_bytes / total - 1, half_width=found.half_width_bytes / total
    )


def summary(found: Sequence[Draw]) -> str:
    """Return in how many draws the interval held, and how wide it was."""
    held = sum(abs(each.error) <= each.half_width for each in found) / len(found)
    width = float(np.median([each.half_width for each in found]))
    error = float(np.sqrt(np.mean([each.error**2 for each in found])))
    return (
        f"held {held:.1%} of {len(found)} draws, error {error:.2%} (root of the mean "
        f"square), half width {width:.2%} (median)"
    )


if __name__ == "__main__":
    main()
