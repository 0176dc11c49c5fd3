"""Which blocks a closer look, or the slow codecs, get."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from censuses import BLOCK, make_census, some_lots
from snapcraft_compression_advisor.payload.layout import make_layout
from snapcraft_compression_advisor.trial.phase import (
    Sample,
    closer_phase,
    draw,
    draw_lots,
)


def take(count: int, *, blocks: int = 1000, seed: int = 0) -> Sample:
    census, _ = make_census(blocks)
    return draw(replace(census, lots=some_lots(blocks, seed=seed)), count)


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


def test_few_blocks_are_all_taken() -> None:
    sample = take(50, blocks=30)
    assert sorted(sample.members.tolist()) == list(range(30))
    assert sample.shares.tolist() == [1.0] * 30


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 5))
def test_any_draw_has_distinct_blocks_with_chances(
    blocks: int, count: int, seed: int
) -> None:
    sample = take(count, blocks=blocks, seed=seed)
    members = sample.members.tolist()
    assert len(set(members)) == len(members) == min(count, blocks)
    assert ((sample.shares > 0) & (sample.shares <= 1)).all()


def test_blocks_of_zeros_are_never_drawn() -> None:
    census, _ = make_census(40)
    zeros = np.arange(40) < 10
    sample = draw(replace(census, zeros=zeros), 50)
    assert sorted(sample.members.tolist()) == list(range(10, 40))


@pytest.mark.parametrize("seed", [0, 1, 7])
@pytest.mark.parametrize("count", [51, 100, 150])
def test_larger_draw_has_the_blocks_of_the_smaller(seed: int, count: int) -> None:
    few, many = (set(take(n, seed=seed).members.tolist()) for n in (50, count))
    assert few < many


def test_blocks_of_a_draw_are_drawn_of_what_was_drawn_before_likewise() -> None:
    census, _ = make_census(4000)
    totals, lots_left = [], []
    for seed in range(40):
        lots = some_lots(4000, seed=seed)
        phase = replace(census, lots=lots)
        for count in (800, 100):
            drawn = draw(phase, count)
            nothing = np.zeros((len(drawn.members), 1))
            phase = closer_phase(phase, drawn, nothing)
        totals.append(phase.weights @ phase.raw_bytes / census.raw_bytes.sum())
        lots_left.append(phase.lots.mean())
    assert np.mean(totals) == pytest.approx(1.0, abs=0.02)
    assert np.mean(lots_left) == pytest.approx(0.5, abs=0.03)


LAYOUT = make_layout(
    [("long", 5_000 * BLOCK), *((f"d/f{n}", 3_000) for n in range(2_000))]
)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
def test_low_lots_are_spread_evenly_over_a_file(share: float) -> None:
    gaps = np.diff(np.flatnonzero(draw_lots(LAYOUT)[:5_000] < share))
    assert len(set(gaps.tolist())) <= 3
    assert gaps.max() <= 3 / share


def test_lots_are_distributed_evenly() -> None:
    lots = draw_lots(
        make_layout([(f"d{n}/f", 3_000 if n % 2 else 20 * BLOCK) for n in range(999)])
    )
    counts, _ = np.histogram(lots, bins=10, range=(0, 1))
    assert counts == pytest.approx([len(lots) / 10] * 10, rel=0.1)


def test_lots_of_a_file_stay_whatever_else_changes() -> None:
    files = [("a/x", 500), ("b", 30 * BLOCK), ("c/y", 700), ("d", 9 * BLOCK)]
    one, other = make_layout(files), make_layout([files[1], ("e", 8 * BLOCK), files[2]])
    for path in ("b", "c/y"):
        lots = [
            draw_lots(layout)[list(layout.blocks_of(path))].tolist()
            for layout in (one, other)
        ]
        assert lots[0] == lots[1]


def test_longer_file_has_the_lots_of_the_shorter() -> None:
    short, long = (draw_lots(make_layout([("a", n * BLOCK)])) for n in (20, 30))
    assert short.tolist() == long[:20].tolist()


def test_another_seed_gives_other_lots() -> None:
    assert draw_lots(LAYOUT)[0] != draw_lots(LAYOUT, 1)[0]
    assert not len(draw_lots(make_layout([])))
