"""Statistics of several runs."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.capture.samples import RunTime, Sample


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


def test_run_far_beyond_the_quartiles_is_an_outlier() -> None:
    calm = (1.0, 1.1, 1.2, 1.1, 1.0)
    assert Sample(runs_s=calm).outliers == ()
    # Quartiles 1.025 and 1.175, so the fences are at 0.575 and 1.625.
    assert Sample(runs_s=(*calm, 1.62)).outliers == ()
    assert Sample(runs_s=(*calm, 1.63)).outliers == (6,)
    assert Sample(runs_s=(0.5, *calm)).outliers == (1,)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=3))
def test_three_runs_have_no_outliers(runs_s: list[float]) -> None:
    assert Sample(runs_s=tuple(runs_s)).outliers == ()


def test_runs_are_noisy_from_a_tenth_of_their_mean() -> None:
    assert not Sample(runs_s=(1.0, 1.0, 1.15)).is_noisy
    assert Sample(runs_s=(1.0, 1.0, 1.25)).is_noisy
    assert not Sample(runs_s=(1.0,)).is_noisy
    assert not Sample(runs_s=(0.0, 0.0)).is_noisy


def test_processor_time_is_known_only_if_it_is_of_every_run() -> None:
    known = RunTime(wall_s=1.0, user_s=0.5, system_s=0.25)
    assert Sample.of_runs([known, known]).system_s == (0.25, 0.25)
    sample = Sample.of_runs([known, RunTime(wall_s=2.0)])
    assert (sample.runs_s, sample.user_s, sample.system_s) == ((1.0, 2.0), None, None)
