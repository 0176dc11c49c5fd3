"""How far single blocks' predicted sizes may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from censuses import make_census, part_of
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.trial.phase import Phase
from snapcraft_compression_advisor.trial.stored import (
    LEAST_ERROR,
    errors_of_census,
    errors_of_layout,
    runs_of_unread,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        kinds=np.zeros((count, 0)),
        zeros=np.zeros(count, dtype=np.bool_),
        lots=np.linspace(0.1, 0.9, count),
    )


def test_the_error_is_what_predictions_miss_of_the_blocks_tried() -> None:
    census, truth = make_census(400)
    predicted = truth * np.where(np.arange(400) % 2, 1.2, 0.8)
    tried = np.arange(0, 400, 4) + np.arange(100) % 2
    errors = errors_of_census([census], census, [predicted], tried, truth[tried])
    assert (errors[tried] == 0).all()
    pliable = census.ratios[:, 0] < 0.75
    untried = np.setdiff1d(np.flatnonzero(pliable), tried)
    assert errors[untried] == pytest.approx(0.2, abs=0.03)


def test_blocks_that_do_not_compress_are_off_by_little() -> None:
    blocks = census_of([0, 1, 2], [0.4, 0.99, 1.0])
    predicted = blocks.ratios[:, 0] * BLOCK
    errors = errors_of_census(
        [blocks], blocks, [predicted], np.array([0]), predicted[:1] * 1.3
    )
    assert errors[0] == 0
    assert errors[1] == errors[2] == pytest.approx(0.1 * 0.3, rel=0.01)


def test_no_prediction_is_taken_to_be_perfect() -> None:
    census, truth = make_census(40)
    tried = np.arange(0, 40, 2)
    errors = errors_of_census([census], census, [truth], tried, truth[tried])
    assert errors[1::2].max() == LEAST_ERROR


def test_the_closest_look_at_a_block_counts() -> None:
    census, truth = make_census(40)
    closer = part_of(census, np.arange(0, 40, 2), np.ones(20))
    tried = np.array([0, 4, 8, 12])
    sizes = [truth * 1.5, truth[closer.members] * 1.1]
    errors = errors_of_census([census, closer], census, sizes, tried, truth[tried])
    assert errors[2] < errors[1]


def test_unread_blocks_are_like_the_next_of_their_file_or_less_so() -> None:
    layout = make_layout([("a", 8 * BLOCK), ("b", 4 * BLOCK)])
    blocks = census_of([1, 3, 5, 9, 11], [0.50, 0.52, 0.48, 0.10, 0.12])
    errors = errors_of_layout(layout, blocks, np.zeros(5))
    assert (errors[blocks.members] == 0).all()
    within, across = errors[2], errors[7]  # before the fourth block; at a's end
    assert LEAST_ERROR <= within < 0.1
    assert across > 0.5


def test_runs_of_blocks_that_stand_for_each_other_are_counted() -> None:
    layout = make_layout([("a", 8 * BLOCK), ("b", 4 * BLOCK)])
    blocks = census_of([1, 3, 5, 9, 10], [0.5] * 5)
    runs = runs_of_unread(layout, blocks)
    assert runs.tolist() == [1, 0, 1, 0, 1, 0, 3, 3, 3, 0, 0, 1]
    census, _ = make_census(400)
    assert not len(runs_of_unread(make_layout([("a", 400 * BLOCK)]), census))


def test_where_every_block_was_read_nothing_is_guessed() -> None:
    layout = make_layout([("a", 400 * BLOCK)])
    census, _ = make_census(400)
    every = errors_of_layout(layout, census, np.full(400, 0.07))
    assert (every == 0.07).all()


def test_an_empty_census_has_no_errors() -> None:
    layout = make_layout([])
    assert not len(errors_of_layout(layout, census_of([], []), np.zeros(0)))
