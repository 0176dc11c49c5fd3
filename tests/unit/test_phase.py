"""Phases: fewer blocks at each, looked at more closely."""

from __future__ import annotations

import numpy as np
import pytest

from censuses import make_census, whole
from snapcraft_compression_advisor.trial.phase import (
    MANY_BLOCKS,
    Sample,
    closer_phase,
)


def test_closer_phase_keeps_what_was_known_and_adds_to_it() -> None:
    census, slow = make_census(10)
    members, shares = np.array([2, 5]), np.array([0.25, 0.5])
    sizes = np.column_stack((slow[members], [7.0, 8.0]))
    drawn = Sample(members=members, shares=shares)
    closer = closer_phase(census, drawn, sizes)
    assert closer.weights.tolist() == [4.0, 2.0]
    assert closer.ratios[:, 0].tolist() == census.ratios[members, 0].tolist()
    assert (closer.ratios[:, 1:] * closer.raw_bytes[:, None]).tolist() == [
        pytest.approx(row) for row in sizes.tolist()
    ]
    assert closer.latest == 2


@pytest.mark.parametrize("known", [MANY_BLOCKS - 1, MANY_BLOCKS])
def test_predictors_are_standardised_and_constant_ones_are_harmless(known: int) -> None:
    census, _ = make_census(500)
    rows = census.predictors(known=known)
    assert rows.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert rows.std(axis=0) == pytest.approx(1)
    flat = closer_phase(census, whole(census), census.raw_bytes[:, None])
    assert np.isfinite(flat.predictors(known=known)).all()


def test_the_more_blocks_are_known_the_more_they_are_asked_about() -> None:
    census, slow = make_census(500)
    closer = closer_phase(census, whole(census), slow[:, None])
    columns = [
        closer.predictors(known=known).shape[1]
        for known in (MANY_BLOCKS - 1, MANY_BLOCKS)
    ]
    # The closest ratio; both, the length, and how these bend.
    assert columns == [1, 8]
