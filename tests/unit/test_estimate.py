"""From some blocks' sizes to that of all."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from censuses import make_census
from snapcraft_compression_advisor.trial.census import Census, spread
from snapcraft_compression_advisor.trial.estimate import (
    Estimate,
    difference_half_width,
    estimate_total,
    predictors,
    quantile,
)
from snapcraft_compression_advisor.trial.sample import draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCKS = 3000


def estimate(
    census: Census, slow: NDArray[np.float64], *, count: int, seed: int = 0
) -> Estimate:
    blocks = len(census.numbers)
    sample = draw(
        census,
        np.arange(blocks),
        count=count,
        certain=np.zeros(blocks, dtype=np.bool_),
        seed=seed,
    )
    return estimate_total(census, predictors(census), sample, slow[sample.members])


def test_a_census_of_all_blocks_is_exact() -> None:
    census, slow = make_census(60)
    found = estimate(census, slow, count=1000)
    assert found.total_bytes == pytest.approx(slow.sum(), rel=1e-12)
    assert found.half_width_bytes == 0


def test_draws_are_right_on_average_and_within_a_percent_or_two() -> None:
    census, slow = make_census(BLOCKS)
    errors = [
        estimate(census, slow, count=54, seed=seed).total_bytes / slow.sum() - 1
        for seed in range(60)
    ]
    assert abs(float(np.mean(errors))) < 0.005
    assert float(np.std(errors)) < 0.03


@pytest.mark.parametrize("count", [30, 54, 162])
def test_interval_holds_in_95_percent_of_draws(count: int) -> None:
    held = []
    for population in range(4):
        census, slow = make_census(BLOCKS, seed=population)
        for seed in range(50):
            found = estimate(census, slow, count=count, seed=seed)
            held.append(abs(found.total_bytes - slow.sum()) <= found.half_width_bytes)
    # 200 draws tell the share to 1.5 % (one standard deviation). These blocks lie in
    # no order that equal steps could profit from, as a payload's files do.
    assert np.mean(held) >= 0.94


def test_interval_of_part_of_a_large_payload_holds_too() -> None:
    census, slow = make_census(BLOCKS)
    everything = np.ones(BLOCKS, dtype=np.bool_)
    sizes = census.raw_bytes.astype(np.int64)
    chosen, weights = spread(sizes, everything, 600)
    part = Census(
        numbers=chosen,
        raw_bytes=census.raw_bytes[chosen],
        fast_bytes=census.fast_bytes[chosen],
        parts=census.parts[chosen],
        weights=weights,
    )
    assert not part.complete
    whole = estimate(census, slow, count=54).half_width_bytes
    for seed in range(20):
        found = estimate(part, slow[chosen], count=54, seed=seed)
        assert abs(found.total_bytes - slow.sum()) <= found.half_width_bytes
        assert found.half_width_bytes > whole / 2


def test_three_times_the_blocks_narrow_the_interval() -> None:
    census, slow = make_census(BLOCKS)
    few, many = (estimate(census, slow, count=n).half_width_bytes for n in (54, 162))
    assert many < 0.75 * few


def test_useless_predictor_widens_the_interval_without_bias() -> None:
    census, slow = make_census(BLOCKS)
    blind = replace(census, fast_bytes=census.raw_bytes)
    found = estimate(blind, slow, count=162)
    assert found.half_width_bytes > estimate(census, slow, count=162).half_width_bytes
    assert abs(found.total_bytes - slow.sum()) <= found.half_width_bytes


def test_difference_of_two_codecs_is_known_better_than_each() -> None:
    census, slow = make_census(BLOCKS)
    alike = slow * 1.2
    sample = draw(
        census,
        np.arange(BLOCKS),
        count=54,
        certain=np.zeros(BLOCKS, dtype=np.bool_),
    )
    rows = predictors(census)
    one = estimate_total(census, rows, sample, slow[sample.members])
    other = estimate_total(census, rows, sample, alike[sample.members])
    together = difference_half_width(one.deviations, other.deviations, sample.shares)
    assert together < one.half_width_bytes / 2


def test_payload_without_blocks_comes_to_nothing() -> None:
    census, slow = make_census(0)
    found = estimate(census, slow, count=54)
    assert (found.total_bytes, found.half_width_bytes) == (0.0, 0.0)


def test_single_block_is_its_own_total() -> None:
    census, slow = make_census(1)
    assert estimate(census, slow, count=54).total_bytes == pytest.approx(slow[0])


@pytest.mark.parametrize("degrees", [5, 10, 30, 120])
def test_quantile_is_students(degrees: int) -> None:
    # The share of the distribution below it, by the trapezoidal rule.
    t = np.linspace(-400, quantile(degrees + 6), 2_000_001)
    density = (1 + t**2 / degrees) ** (-(degrees + 1) / 2)
    scale = math.gamma((degrees + 1) / 2) / math.gamma(degrees / 2)
    density *= scale / math.sqrt(degrees * math.pi)
    below = float(((density[1:] + density[:-1]) / 2 * np.diff(t)).sum())
    assert below == pytest.approx(0.985, abs=0.0005)
