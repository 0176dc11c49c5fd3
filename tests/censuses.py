"""Censuses of blocks that don't exist, for tests of samples and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.trial.census import Census

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 128 * 1024


def make_census(count: int, *, seed: int = 0) -> tuple[Census, NDArray[np.float64]]:
    """Return a census and what a slow codec makes of its blocks.

    Two kinds of contents lie in runs, as in files; short tails are among the blocks;
    the slow codec does better than the fast one, by an amount that varies.
    """
    rng = np.random.default_rng(seed)
    tails = rng.random(count) < 0.4
    raw = np.where(tails, rng.integers(200, BLOCK, count), BLOCK).astype(np.float64)
    kind = np.repeat(rng.random(count // 20 + 1) < 0.5, 20)[:count]
    ratio = np.clip(np.where(kind, 0.3, 0.7) + rng.normal(0, 0.1, count), 0.05, 1.0)
    slow = np.clip(ratio * (0.75 + rng.normal(0, 0.08, count)), 0.01, 1.0)
    census = Census(
        numbers=np.arange(count),
        raw_bytes=raw,
        fast_bytes=ratio * raw,
        parts=np.zeros((count, 0)),
        weights=np.ones(count),
    )
    return census, slow * raw
