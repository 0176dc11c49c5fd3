"""Statistics of several runs."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.capture.measure import Sample


def test_median_and_spread_of_some_runs() -> None:
    sample = Sample(runs_s=(4.0, 2.0, 6.0, 2.0))
    assert sample.median == 3.0
    assert sample.stdev == pytest.approx((11 / 3) ** 0.5)
    assert sample.n == 4


def test_spread_of_a_single_run_is_not_known() -> None:
    sample = Sample(runs_s=(4.0,))
    assert (sample.median, sample.stdev, sample.n) == (4.0, None, 1)
    assert sample.five_numbers == (4.0, 4.0, 4.0, 4.0, 4.0)


def test_quartiles_are_interpolated_with_the_extremes_included() -> None:
    assert Sample(runs_s=(9.0, 1.0, 3.0, 5.0, 7.0)).five_numbers == (1, 3, 5, 7, 9)
    assert Sample(runs_s=(1.0, 2.0)).five_numbers == (1, 1.25, 1.5, 1.75, 2)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_five_numbers_ascend_and_hold_the_median(runs_s: list[float]) -> None:
    sample = Sample(runs_s=tuple(runs_s))
    numbers = sample.five_numbers
    assert numbers[0] == min(runs_s)
    assert numbers[4] == max(runs_s)
    slack = 1e-9 * numbers[4]
    assert all(low <= high + slack for low, high in pairwise(numbers))
    assert numbers[2] == pytest.approx(sample.median)
