"""Which blocks go to the slow codecs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from censuses import make_census
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.trial.census import Census, spread
from snapcraft_compression_advisor.trial.sample import (
    Sample,
    draw,
    kind_of_file,
    similar_side_by_side,
)


def take(count: int, *, blocks: int = 1000, seed: int = 0, certain: int = 0) -> Sample:
    census, _ = make_census(blocks)
    sure = np.arange(blocks) < certain
    return draw(census, np.arange(blocks), count=count, certain=sure, seed=seed)


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


def test_similar_files_lie_side_by_side_in_their_order() -> None:
    layout = make_layout([("b.so", 1), ("a.png", 1), ("c.so", 1), ("d.png", 1)])
    census = Census(
        numbers=np.array([0, 1, 2, 3]),
        raw_bytes=np.ones(4),
        fast_bytes=np.ones(4),
        parts=np.zeros((4, 0)),
        weights=np.ones(4),
    )
    assert similar_side_by_side(census, layout).tolist() == [1, 3, 0, 2]


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
