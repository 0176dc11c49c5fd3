"""Which blocks a closer look, or the slow codecs, get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from censuses import make_census
from snapcraft_compression_advisor.trial.census import spread
from snapcraft_compression_advisor.trial.phase import (
    Sample,
    draw,
    every_other,
    first_step,
)


def take(count: int, *, blocks: int = 1000, seed: int = 0, certain: int = 0) -> Sample:
    census, _ = make_census(blocks)
    sure = np.arange(blocks) < certain
    return draw(
        census, np.arange(blocks), count=count, certain=sure, start=first_step(seed)
    )


def test_same_seed_draws_the_same_blocks() -> None:
    assert take(50).members.tolist() == take(50).members.tolist()


def test_another_seed_draws_others() -> None:
    assert set(take(50).members.tolist()) != set(take(50, seed=1).members.tolist())


def test_three_times_the_blocks_include_the_first_ones() -> None:
    assert set(take(50).members.tolist()) <= set(take(150).members.tolist())


def test_chance_grows_with_the_length_of_a_block() -> None:
    census, _ = make_census(1000)
    sample = take(50)
    assert sample.shares == pytest.approx(
        50 * census.raw_bytes[sample.members] / census.raw_bytes.sum()
    )


def test_certain_blocks_come_on_top() -> None:
    sample = take(50, certain=7)
    assert set(range(7)) <= set(sample.members.tolist())
    assert len(sample.members) == 57
    assert sample.shares[sample.members < 7].tolist() == [1.0] * 7


def test_few_blocks_are_all_taken() -> None:
    sample = take(50, blocks=30)
    assert sorted(sample.members.tolist()) == list(range(30))
    assert sample.shares.tolist() == [1.0] * 30


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 30), st.integers(0, 5))
def test_any_draw_has_distinct_blocks_with_chances(
    blocks: int, count: int, certain: int, seed: int
) -> None:
    sample = take(count, blocks=blocks, seed=seed, certain=certain)
    members = sample.members.tolist()
    assert len(set(members)) == len(members) <= count + certain
    assert ((sample.shares > 0) & (sample.shares <= 1)).all()
    assert set(range(min(certain, blocks))) <= set(members)


def test_blocks_of_zeros_are_never_drawn() -> None:
    census, _ = make_census(40)
    zeros = np.arange(40) < 10
    sample = draw(replace(census, zeros=zeros), np.arange(40), count=50, certain=zeros)
    assert sorted(sample.members.tolist()) == list(range(10, 40))


def test_blocks_come_in_the_order_of_their_places() -> None:
    census, _ = make_census(30)
    places = np.arange(30)[::-1]
    sample = draw(census, places, count=30, certain=np.zeros(30, dtype=np.bool_))
    assert sample.members.tolist() == list(range(29, -1, -1))


def test_every_other_block_has_half_the_chance() -> None:
    sample = take(50, certain=7)
    half = every_other(sample)
    uncertain = sample.members[sample.shares < 1]
    assert half.members[half.shares < 1].tolist() == uncertain[::2].tolist()
    assert set(range(7)) <= set(half.members.tolist())
    assert (1 / half.shares[half.shares < 1]).sum() == pytest.approx(
        (1 / sample.shares[sample.shares < 1]).sum(), rel=0.1
    )


def test_census_of_a_large_payload_is_spread_over_it() -> None:
    sizes = np.full(1000, 10)
    chosen, weights = spread(sizes, np.ones(1000, dtype=np.bool_), 100)
    assert chosen.tolist() == list(range(5, 1000, 10)) or len(chosen) == 100
    assert weights.sum() == pytest.approx(1000)


def test_census_passes_over_holes() -> None:
    eligible = np.array([True, False, True])
    chosen, weights = spread(np.array([5, 5, 5]), eligible, 10)
    assert chosen.tolist() == [0, 2]
    assert weights.tolist() == [1.0, 1.0]


def test_another_start_takes_other_blocks_into_the_census() -> None:
    sizes, every = np.full(1000, 10), np.ones(1000, dtype=np.bool_)
    one, other = (spread(sizes, every, 100, start=s)[0] for s in (0.5, 0.05))
    assert set(one.tolist()).isdisjoint(other.tolist())


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("scale", [2, 3])
def test_larger_draw_hits_the_blocks_of_the_smaller_again(
    seed: int, scale: int
) -> None:
    census, _ = make_census(5000)
    census = replace(census, raw_bytes=np.full(5000, 4096.0))
    nothing = np.zeros(5000, dtype=np.bool_)
    few, many = (
        draw(
            census,
            np.arange(5000),
            count=50 * times,
            certain=nothing,
            start=first_step(seed, scale=times),
        )
        for times in (1, scale)
    )
    assert set(few.members.tolist()) <= set(many.members.tolist())
