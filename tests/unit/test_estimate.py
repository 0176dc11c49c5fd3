"""From some blocks' sizes to that of all."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from made_blocks import make_census, names_alone, some_lots, whole
from snapcraft_compression_advisor.trial.census import Phase, Sample, closer_phase, draw
from snapcraft_compression_advisor.trial.estimate import (
    BlockModel,
    Estimate,
    difference_half_width,
    estimate_total,
)

BLOCKS = 3000


def drawn(phase: Phase, count: int, *, seed: int = 0) -> Sample:
    lots = some_lots(BLOCKS, seed=seed)
    phase = replace(phase, lots=np.minimum(1, lots[phase.members] * phase.weights))
    return draw(phase, count)


def estimate(
    *phases: Phase,
    slow: NDArray[np.float64],
    count: int,
    seed: int = 0,
    model: BlockModel | None = None,
) -> Estimate:
    sample = drawn(phases[-1], count, seed=seed)
    return estimate_total(phases, sample, slow[sample.members], model)


def model_of_hint(*, bias: float = 0.004, factor: float = 1.0) -> BlockModel:
    """Return a model that takes the closer look for the size, times a factor."""
    coefficients = np.zeros(10)
    coefficients[2] = factor  # after the constant and the census's ratio
    return BlockModel(coefficients=coefficients, looks=2, scatter=0.01, bias=bias)


def looked_at_closer(
    census: Phase, slow: NDArray[np.float64], *, count: int, seed: int = 0
) -> Phase:
    """Return a phase whose look nearly tells the slow codec's sizes."""
    sample = drawn(census, count, seed=seed)
    noise = np.random.default_rng(9).normal(1, 0.01, BLOCKS)
    hint = (slow * noise)[sample.members]
    return closer_phase(census, sample, hint[:, None])


def held(found: Sequence[Estimate], total: float) -> float:
    """Return in what share of estimates the interval holds the total."""
    return float(
        np.mean([abs(e.total_bytes - total) <= e.half_width_bytes for e in found])
    )


def test_a_census_of_all_blocks_is_exact() -> None:
    census, slow = make_census(60)
    found = estimate(census, slow=slow, count=1000)
    assert found.total_bytes == pytest.approx(slow.sum(), rel=1e-12)
    assert found.half_width_bytes == 0


def test_draws_are_right_on_average_and_within_a_percent_or_two() -> None:
    census, slow = make_census(BLOCKS)
    errors = [
        estimate(census, slow=slow, count=54, seed=seed).total_bytes / slow.sum() - 1
        for seed in range(60)
    ]
    assert abs(float(np.mean(errors))) < 0.005
    assert float(np.std(errors)) < 0.03


@pytest.mark.parametrize("count", [30, 54, 162])
def test_interval_holds_in_95_percent_of_draws(count: int) -> None:
    shares = []
    for population in range(4):
        census, slow = make_census(BLOCKS, seed=population)
        found = [
            estimate(census, slow=slow, count=count, seed=seed) for seed in range(50)
        ]
        shares.append(held(found, slow.sum()))
    # 200 draws tell the share to 1.5 % (one standard deviation). These blocks lie in
    # no order that equal steps could profit from, as a payload's files do.
    assert np.mean(shares) >= 0.94


def test_interval_of_part_of_a_large_payload_holds_too() -> None:
    census, slow = make_census(BLOCKS)
    alone = estimate(census, slow=slow, count=54).half_width_bytes
    found = []
    for seed in range(60):
        names = replace(names_alone(census), lots=some_lots(BLOCKS, seed=seed))
        read = draw(names, 600)
        part = closer_phase(names, read, slow[read.members][:, None] * 1.2)
        assert not part.complete
        found.append(estimate(names, part, slow=slow, count=54, seed=seed))
    assert held(found, slow.sum()) >= 0.9
    assert min(each.half_width_bytes for each in found) > alone / 3


def test_closer_look_at_some_blocks_narrows_the_interval_which_holds() -> None:
    census, slow = make_census(BLOCKS)
    alone = estimate(census, slow=slow, count=54).half_width_bytes
    found = [
        estimate(
            census,
            looked_at_closer(census, slow, count=600, seed=seed),
            slow=slow,
            count=54,
            seed=seed,
        )
        for seed in range(60)
    ]
    assert held(found, slow.sum()) >= 0.95
    assert np.median([each.half_width_bytes for each in found]) < alone / 2


def test_few_blocks_beside_a_model_do_as_well_as_many_alone() -> None:
    census, slow = make_census(BLOCKS)
    biases = np.random.default_rng(4).normal(1, 0.004, 60)
    found, alone = [], []
    for seed, factor in enumerate(biases.tolist()):
        closer = looked_at_closer(census, slow, count=600, seed=seed)
        few = estimate(
            *(census, closer),
            slow=slow,
            count=16,
            seed=seed,
            model=model_of_hint(bias=0.004, factor=factor),
        )
        found.append(few)
        alone.append(estimate(census, closer, slow=slow, count=54, seed=seed))
    assert held(found, slow.sum()) >= 0.93
    assert np.median([each.half_width_bytes for each in found]) < 1.05 * np.median(
        [each.half_width_bytes for each in alone]
    )


@pytest.mark.parametrize("factor", [0.7, 1.2])
def test_payload_unlike_all_others_has_a_wider_interval_that_holds(
    factor: float,
) -> None:
    census, slow = make_census(BLOCKS)
    like, unlike = (
        [
            estimate(
                census,
                looked_at_closer(census, slow, count=600, seed=seed),
                slow=slow,
                count=16,
                seed=seed,
                model=model_of_hint(factor=each),
            )
            for seed in range(60)
        ]
        for each in (1.0, factor)
    )
    assert held(unlike, slow.sum()) >= 0.9
    assert np.median([each.half_width_bytes for each in unlike]) > np.median(
        [each.half_width_bytes for each in like]
    )


def test_blocks_alike_show_a_small_bias_that_others_would_hide() -> None:
    census, slow = make_census(BLOCKS)
    closer = closer_phase(census, whole(census), slow[:, None])
    model = replace(model_of_hint(factor=0.98), scatter=0.04)
    scattered = slow * np.random.default_rng(2).normal(1, 0.04, BLOCKS)
    alike, unlike = (
        estimate(census, closer, slow=sizes, count=16, model=model).total_bytes
        / sizes.sum()
        for sizes in (slow, scattered)
    )
    assert alike > 0.99
    assert unlike < alike


def test_few_blocks_that_a_model_happens_to_hit_leave_an_error() -> None:
    census, slow = make_census(BLOCKS)
    closer = closer_phase(census, whole(census), slow[:, None])
    found = estimate(census, closer, slow=slow, count=12, model=model_of_hint())
    assert found.half_width_bytes > 0.001 * slow.sum()


def test_blocks_tried_in_any_case_are_known_beside_a_model() -> None:
    census, slow = make_census(40)
    closer = closer_phase(census, whole(census), slow[:, None])
    found = estimate(
        census, closer, slow=slow, count=1000, model=model_of_hint(factor=0.5)
    )
    assert found.total_bytes == pytest.approx(slow.sum())
    assert found.half_width_bytes == 0


def test_estimate_predicts_the_blocks_of_every_phase() -> None:
    census, slow = make_census(BLOCKS)
    closer = looked_at_closer(census, slow, count=600)
    found = estimate(census, closer, slow=slow, count=54)
    rough, fine = found.predicted_bytes
    assert (len(rough), len(fine)) == (BLOCKS, len(closer.members))
    errors = [
        float(np.abs(sizes / slow[members] - 1).mean())
        for sizes, members in ((rough, census.members), (fine, closer.members))
    ]
    assert errors[1] < errors[0] / 2


def test_blocks_of_zeros_take_no_bytes() -> None:
    census, slow = make_census(BLOCKS)
    zeros = np.arange(BLOCKS) % 3 == 0
    census = replace(census, zeros=zeros)
    slow = np.where(zeros, 0.0, slow)
    found = estimate(census, slow=slow, count=162)
    assert (found.predicted_bytes[0][zeros] == 0).all()
    assert abs(found.total_bytes - slow.sum()) <= found.half_width_bytes


def test_useless_predictor_widens_the_interval_without_bias() -> None:
    census, slow = make_census(BLOCKS)
    blind = replace(census, ratios=np.ones((BLOCKS, 1)))
    found = estimate(blind, slow=slow, count=162)
    assert (
        found.half_width_bytes > estimate(census, slow=slow, count=162).half_width_bytes
    )
    assert abs(found.total_bytes - slow.sum()) <= found.half_width_bytes


def test_difference_of_two_codecs_is_known_better_than_each() -> None:
    census, slow = make_census(BLOCKS)
    one = estimate(census, slow=slow, count=54)
    other = estimate(census, slow=slow * 1.2, count=54)
    assert difference_half_width(one, other) < one.half_width_bytes / 2


def test_payload_without_blocks_comes_to_nothing() -> None:
    census, slow = make_census(0)
    found = estimate(census, slow=slow, count=54)
    assert (found.total_bytes, found.half_width_bytes) == (0.0, 0.0)
