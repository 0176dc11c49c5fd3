"""How far single blocks' predicted sizes may be off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from censuses import make_census, part_of
from snapcraft_compression_advisor.payload.layout import Layout, make_layout
from snapcraft_compression_advisor.trial.census import Census
from snapcraft_compression_advisor.trial.phase import Phase, Sample
from snapcraft_compression_advisor.trial.stored import (
    LEAST_ERROR,
    block_errors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLOCK = 128 * 1024


def census_of(members: Sequence[int], ratios: Sequence[float]) -> Phase:
    """Return a census of some blocks, all of them full."""
    count = len(members)
    return Phase(
        members=np.array(members, dtype=np.int64),
        raw_bytes=np.full(count, float(BLOCK)),
        shares=np.full(count, 0.5),
        weights=np.full(count, 2.0),
        ratios=np.array(ratios, dtype=np.float64)[:, None],
        zeros=np.zeros(count, dtype=np.bool_),
        lots=np.linspace(0.1, 0.9, count),
    )


def errors_of(
    phases: Sequence[Phase],
    predicted: Sequence[NDArray[np.float64]],
    tried: NDArray[np.int64],
    stored: NDArray[np.float64],
    layout: Layout | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the errors of blocks that were tried without fail."""
    layout = layout or make_layout([("a", len(phases[0].members) * BLOCK)])
    census = Census(layout=layout, phases=(phases[0],))
    sample = Sample(members=tried, shares=np.ones(len(tried)))
    return block_errors(census, phases, predicted, sample, stored)


def test_the_error_is_what_predictions_miss_of_the_blocks_tried() -> None:
    census, truth = make_census(400)
    predicted = truth * np.where(np.arange(400) % 2, 1.2, 0.8)
    tried = np.arange(0, 400, 4) + np.arange(100) % 2
    errors, runs = errors_of([census], [predicted], tried, truth[tried])
    assert (errors[tried] == 0).all()
    pliable = census.ratios[:, 0] < 0.75
    untried = np.setdiff1d(np.flatnonzero(pliable), tried)
    assert errors[untried] == pytest.approx(0.2, abs=0.03)
    assert not len(runs)


def test_blocks_that_do_not_compress_are_off_by_little() -> None:
    blocks = replace(census_of([0, 1, 2], [0.4, 0.99, 1.0]), weights=np.ones(3))
    predicted = blocks.ratios[:, 0] * BLOCK
    errors, _ = errors_of([blocks], [predicted], np.array([0]), predicted[:1] * 1.3)
    assert errors[0] == 0
    assert errors[1] == errors[2] == pytest.approx(0.1 * 0.3, rel=0.01)


def test_no_prediction_is_taken_to_be_perfect() -> None:
    census, truth = make_census(40)
    tried = np.arange(0, 40, 2)
    errors, _ = errors_of([census], [truth], tried, truth[tried])
    assert errors[1::2].max() == LEAST_ERROR


def test_the_closest_look_at_a_block_counts() -> None:
    census, truth = make_census(40)
    closer = part_of(census, np.arange(0, 40, 2), np.ones(20))
    tried = np.array([0, 4, 8, 12])
    sizes = [truth * 1.5, truth[closer.members] * 1.1]
    errors, _ = errors_of([census, closer], sizes, tried, truth[tried])
    assert errors[2] < errors[1]


def test_unread_blocks_are_off_by_what_neighbours_differ_in_runs() -> None:
    layout = make_layout([("a", 8 * BLOCK), ("b", 4 * BLOCK)])
    blocks = census_of([1, 3, 5, 9, 10], [0.50, 0.52, 0.48, 0.10, 0.12])
    sizes = blocks.ratios[:, 0] * BLOCK
    errors, runs = errors_of([blocks], [sizes], blocks.members, sizes, layout)
    assert (errors[blocks.members] == 0).all()
    assert errors[[0, 2, 4, 11]] == pytest.approx(errors[0])
    assert errors[0] > LEAST_ERROR
    assert runs.tolist() == [1, 0, 1, 0, 1, 0, 3, 3, 3, 0, 0, 1]


def test_an_empty_census_has_no_errors() -> None:
    nothing = np.zeros(0)
    none = census_of([], [])
    errors, _ = errors_of([none], [nothing], none.members, nothing, make_layout([]))
    assert not len(errors)
