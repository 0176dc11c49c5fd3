"""How far single blocks' predicted sizes may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.trial.phase import Phase


LEAST_ERROR = 0.05
"""Of a block that wasn't tried: no prediction holds for all kinds of contents alike."""


PLIABLE_SHARE = 0.25
"""A block that a fast codec makes shorter by less can be off by less, in proportion."""

LEAST_PLIABLE = 0.1


def errors_of_census(
    phases: Sequence[Phase],
    blocks: Phase,
    predicted_bytes: Sequence[NDArray[np.float64]],
    members: NDArray[np.int64],
    stored_bytes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how far the sizes of a census's blocks are off, one standard deviation.

    By how much the closest look at a block fails on the blocks that were tried.

    :param phases: from all blocks to those looked at most closely.
    :param blocks: of the census.
    :param predicted_bytes: for each phase, the predicted size of every block in it.
    :param members: numbers of the blocks that were tried.
    :param stored_bytes: their sizes.
    :returns: per byte of the block's size; 0 for those tried.
    """
    errors = np.zeros(len(blocks.members))
    for phase, predicted in zip(phases, predicted_bytes, strict=True):
        if phase.ratios.shape[1]:
            places = phase.places_of(members)
            error = _scatter(stored_bytes, predicted[places], phase.raw_bytes[places])
            errors[blocks.places_of(phase.members)] = max(error, LEAST_ERROR)
    errors *= _pliable(blocks)
    errors[blocks.places_of(members)] = 0.0
    return np.where(blocks.zeros, 0.0, errors)


def errors_of_layout(
    layout: Layout, blocks: Phase, errors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far the sizes of all blocks are off, one standard deviation.

    A block that wasn't read is taken to compress like the next one that was. Blocks of
    one file are more alike than those of neighbours.

    :param blocks: of the census.
    :param errors: theirs, per byte.
    :returns: per byte of each block's size.
    """
    if blocks.complete or not len(blocks.members):
        every = np.zeros(layout.block_count)
        every[blocks.members] = errors
        return every
    files = layout.files_of_blocks()
    known = files[blocks.members]
    ratios = blocks.ratios[:, 0]
    same_file = known[1:] == known[:-1]
    nearest = _nearest(layout, blocks)
    every = np.where(
        known[nearest] == files,
        _difference(ratios, same_file) * _pliable(blocks)[nearest],
        _difference(ratios, ~same_file),
    )
    every[blocks.members] = errors
    return every


def runs_of_unread(layout: Layout, blocks: Phase) -> NDArray[np.int64]:
    """Return for every block how many are taken to compress like the same one.

    :param blocks: of the census.
    :returns: 0 for blocks that were read; empty where all were.
    """
    if blocks.complete or not len(blocks.members):
        return np.zeros(0, dtype=np.int64)
    nearest = _nearest(layout, blocks)
    runs = np.bincount(nearest)[nearest] - 1  # without the one that was read
    runs[blocks.members] = 0
    return runs


def _nearest(layout: Layout, blocks: Phase) -> NDArray[np.int64]:
    """Return for every block which one of the census it is taken for."""
    numbers = np.arange(layout.block_count)
    return np.minimum(blocks.places_of(numbers), len(blocks.members) - 1)


def _pliable(blocks: Phase) -> NDArray[np.float64]:
    left = (1 - blocks.ratios[:, 0]) / PLIABLE_SHARE
    shares: NDArray[np.float64] = np.clip(left, LEAST_PLIABLE, 1.0)
    return shares


def _difference(ratios: NDArray[np.float64], among: NDArray[np.bool_]) -> float:
    """Return how much the ratios of neighbours differ, relative to ratios.

    :param among: of which pairs of neighbours.
    """
    squares = float(np.mean(ratios**2))
    if not among.any() or not squares:
        return 1.0
    return max(
        LEAST_ERROR, float(np.sqrt(np.mean(np.diff(ratios)[among] ** 2) / squares))
    )


def _scatter(
    stored_bytes: NDArray[np.float64],
    predicted_bytes: NDArray[np.float64],
    raw_bytes: NDArray[np.float64],
) -> float:
    ratios = predicted_bytes / raw_bytes
    missed = stored_bytes / raw_bytes - ratios
    squares = float(np.mean(ratios**2)) if len(ratios) else 0.0
    return float(np.sqrt(np.mean(missed**2) / squares)) if squares else 0.0
