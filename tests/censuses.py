"""Censuses of blocks that don't exist, for tests of samples and estimates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from snapcraft_compression_advisor.trial.phase import Phase, Sample

BLOCK = 128 * 1024


def make_census(count: int, *, seed: int = 0) -> tuple[Phase, NDArray[np.float64]]:
    """Return a census of all blocks and what a slow codec makes of them.

    Two kinds of contents lie in runs, as in files; short tails are among the blocks;
    the slow codec does better than the fast one, by an amount that varies.
    """
    rng = np.random.default_rng(seed)
    tails = rng.random(count) < 0.4
    raw = np.where(tails, rng.integers(200, BLOCK, count), BLOCK).astype(np.float64)
    kind = np.repeat(rng.random(count // 20 + 1) < 0.5, 20)[:count]
    ratio = np.clip(np.where(kind, 0.3, 0.7) + rng.normal(0, 0.1, count), 0.05, 1.0)
    slow = np.clip(ratio * (0.75 + rng.normal(0, 0.08, count)), 0.01, 1.0)
    census = Phase(
        members=np.arange(count),
        raw_bytes=raw,
        shares=np.ones(count),
        weights=np.ones(count),
        ratios=ratio[:, None],
        zeros=np.zeros(count, dtype=np.bool_),
        lots=some_lots(count),
    )
    return census, slow * raw


def some_lots(count: int, *, seed: int = 0) -> NDArray[np.float64]:
    """Return lots that follow from nothing but a seed."""
    return np.random.default_rng([seed, 1]).random(count)


def whole(phase: Phase) -> Sample:
    """Return all blocks of a phase."""
    return Sample(members=phase.members, shares=np.ones(len(phase.members)))


def part_of(
    phase: Phase, members: NDArray[np.int64], weights: NDArray[np.float64]
) -> Phase:
    """Return a phase of some of another one's blocks, drawn from file to file."""
    return Phase(
        members=members,
        raw_bytes=phase.raw_bytes[members],
        shares=1 / weights,
        weights=weights,
        ratios=phase.ratios[members],
        zeros=phase.zeros[members],
        lots=np.minimum(1.0, phase.lots[members] * weights),
    )


def names_alone(phase: Phase) -> Phase:
    """Return what is known of a phase's blocks before any is read: their lengths."""
    count = len(phase.members)
    return Phase(
        members=phase.members,
        raw_bytes=phase.raw_bytes,
        shares=np.ones(count),
        weights=np.ones(count),
        ratios=np.zeros((count, 0)),
        latest=0,
        zeros=np.zeros(count, dtype=np.bool_),
        lots=phase.lots,
    )
