"""Which changed chunks are matched, and the sum over all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.refresh.drawing import draw

LENGTHS = st.lists(st.integers(1, 131_072), min_size=1, max_size=300)


@given(LENGTHS)
def test_drawn_chunks_stand_for_all_bytes(lengths: list[int]) -> None:
    drawn = draw(lengths, 8)
    covered = drawn.weights * drawn.sizes[drawn.chosen]
    assert covered.sum() == pytest.approx(sum(lengths))


@given(LENGTHS)
def test_larger_draw_has_the_chunks_of_the_smaller_one(lengths: list[int]) -> None:
    few, many = (set(draw(lengths, most).chosen.tolist()) for most in (8, 24))
    assert few <= many


@given(LENGTHS)
def test_equal_rates_leave_no_doubt(lengths: list[int]) -> None:
    drawn = draw(lengths, 8)
    sizes = drawn.sizes[drawn.chosen]
    total = drawn.total(0.25 * sizes, np.ones(len(sizes)))
    assert total.mid == pytest.approx(0.25 * sum(lengths))
    assert total.high == pytest.approx(total.mid)


def test_what_was_not_looked_at_widens_the_interval() -> None:
    drawn = draw([100, 100], 8)
    costs, whole = np.array([10.0, 90.0]), np.ones(2)
    assert drawn.total(costs, whole).high == 100.0
    assert drawn.total(costs, whole / 4).high > 130.0


def test_rare_costly_chunks_widen_the_interval() -> None:
    drawn = draw([100] * 1_000, 8)
    costs = np.zeros(8)
    costs[3] = 100.0
    total = drawn.total(costs, np.ones(8))
    assert total.low == 0.0
    assert total.high > 2 * total.mid
