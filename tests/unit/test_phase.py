"""Phases: fewer blocks at each, looked at more closely."""

from __future__ import annotations

import numpy as np
import pytest

from censuses import make_census
from snapcraft_compression_advisor.payload.file_kinds import kind_of_file
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.trial.phase import (
    FEW_BLOCKS,
    LENGTH_RIDGE,
    MANY_BLOCKS,
    MOST_KINDS,
    RIDGE,
    closer_phase,
    draw_lots,
    first_phase,
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("usr/lib/libx.so.1.2", "so"),
        ("usr/lib/x.so", "so"),
        ("a.b/program", ""),
        ("icon.png", "png"),
        ("x.a-very-long-suffix", "a-very-l"),
    ],
)
def test_kind_is_told_by_the_name(path: str, kind: str) -> None:
    assert kind_of_file(path) == kind


def test_names_tell_the_kinds_with_the_most_bytes() -> None:
    files = [(f"f{n}.k{n}", 100 + n) for n in range(MOST_KINDS + 5)]
    count = len(files)
    layout, nothing = make_layout(files), np.zeros((count, 0))
    lots = draw_lots(layout)
    phase = first_phase(layout, np.arange(count), np.ones(count), nothing, lots)
    assert phase.lots.tolist() == lots.tolist()
    assert phase.kinds.shape == (len(files), MOST_KINDS)
    # The largest kind has the first column, the smallest ones none.
    assert phase.kinds[-1].tolist() == [1] + [0] * (MOST_KINDS - 1)
    assert not phase.kinds[:5].any()
    assert phase.complete


def test_closer_phase_keeps_what_was_known_and_adds_to_it() -> None:
    census, slow = make_census(10)
    members, shares = np.array([2, 5]), np.array([0.25, 0.5])
    sizes = np.column_stack((slow[members], [7.0, 8.0]))
    closer = closer_phase(census, members, shares, sizes)
    assert closer.weights.tolist() == [4.0, 2.0]
    assert closer.ratios[:, 0].tolist() == census.ratios[members, 0].tolist()
    assert (closer.ratios[:, 1:] * closer.raw_bytes[:, None]).tolist() == [
        pytest.approx(row) for row in sizes.tolist()
    ]
    assert closer.latest == 2


@pytest.mark.parametrize("known", [FEW_BLOCKS - 1, FEW_BLOCKS, MANY_BLOCKS])
def test_predictors_are_standardised_and_constant_ones_are_harmless(known: int) -> None:
    census, _ = make_census(500)
    rows, _ = census.predictors(known=known)
    assert rows.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert rows.std(axis=0) == pytest.approx(1)
    flat = closer_phase(
        census, census.members, census.shares, census.raw_bytes[:, None]
    )
    assert np.isfinite(flat.predictors(known=known)[0]).all()


def test_the_more_blocks_are_known_the_more_they_are_asked_about() -> None:
    census, slow = make_census(500)
    closer = closer_phase(census, census.members, census.shares, slow[:, None])
    columns = [
        closer.predictors(known=known)[0].shape[1]
        for known in (FEW_BLOCKS - 1, FEW_BLOCKS, MANY_BLOCKS)
    ]
    # The closest ratio; both, its square and the length; all of both, and the length's.
    assert columns == [1, 4, 8]


def test_what_some_blocks_tell_about_length_is_taken_with_caution() -> None:
    census, _ = make_census(500)
    _, some = census.predictors(known=FEW_BLOCKS)
    _, many = census.predictors(known=MANY_BLOCKS)
    assert some.tolist() == [RIDGE, RIDGE, LENGTH_RIDGE]
    assert set(many.tolist()) == {RIDGE}
