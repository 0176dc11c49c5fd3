"""When a measurement has enough rounds; all timings are fed by hand."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.capture.paired import difference
from snapcraft_compression_advisor.capture.precision import LEAST_ROUNDS, Precision
from snapcraft_compression_advisor.capture.samples import Sample
from snapcraft_compression_advisor.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TRUE_SAVED_S = 1.0


def precision(
    reach: float, *, is_share: bool = False, least: int = 5, most: int = 100
) -> Precision:
    return Precision(
        reach=reach, is_share=is_share, least_rounds=least, most_rounds=most
    )


def rounds_taken(
    wanted: Precision, rounds: Iterator[tuple[float, float]]
) -> tuple[Sample, Sample]:
    """Go on until the precision says that it is enough."""
    slow: list[float] = []
    fast: list[float] = []
    for slow_s, fast_s in rounds:
        slow.append(slow_s)
        fast.append(fast_s)
        samples = Sample(runs_s=tuple(slow)), Sample(runs_s=tuple(fast))
        if wanted.ends(*samples):
            return samples
    pytest.fail("no more rounds")


def noisy_rounds(seed: int, spread_s: float) -> Iterator[tuple[float, float]]:
    noise = random.Random(seed)
    while True:
        machine_s = noise.uniform(0, 3)
        yield (
            2 + TRUE_SAVED_S + machine_s + noise.gauss(0, spread_s),
            2 + machine_s + noise.gauss(0, spread_s),
        )


def test_checks_are_few_and_the_last_one_is_at_the_limit() -> None:
    assert precision(0.1, least=10).check_rounds == (10, 15, 22, 33, 49, 73, 100)
    assert precision(0.1, least=100).check_rounds == (100,)
    assert precision(0.1, least=1, most=6).check_rounds == (LEAST_ROUNDS, 6)


@given(st.integers(1, 1000), st.integers(5, 5000))
def test_checks_ascend_to_the_limit(least: int, most: int) -> None:
    checks = precision(0.1, least=least, most=most).check_rounds
    assert all(before < after for before, after in pairwise(checks))
    assert checks[-1] == most


def test_steady_rounds_end_at_the_first_check() -> None:
    slow, _ = rounds_taken(precision(0.05), noisy_rounds(1, 0.01))
    assert slow.n == 5


def test_noisy_rounds_take_more_until_the_interval_is_narrow() -> None:
    wanted = precision(0.1)
    samples = rounds_taken(wanted, noisy_rounds(2, 0.1))
    found = difference(*samples, checks=len(wanted.check_rounds))
    assert found is not None
    assert 5 < found.rounds < 100
    assert found.reach_s <= 0.1
    fewer = [Sample(runs_s=each.runs_s[:5]) for each in samples]
    assert not wanted.is_reached(fewer[0], fewer[1])


def test_limit_ends_what_stays_noisy() -> None:
    wanted = precision(0.01, most=20)
    samples = rounds_taken(wanted, noisy_rounds(3, 1.0))
    assert samples[0].n == 20
    assert not wanted.is_reached(*samples)


def test_share_is_of_the_slower_mean() -> None:
    slow, fast = Sample(runs_s=(4.0, 6.0)), Sample(runs_s=(1.0, 2.0))
    wanted = precision(0.1, is_share=True)
    assert wanted.wanted_s(slow, fast) == wanted.wanted_s(fast, slow) == 0.5
    assert precision(0.1).wanted_s(slow, fast) == 0.1


def test_stopping_when_it_suits_keeps_the_confidence() -> None:
    """Intervals that know of one check only would miss more than one in twenty."""
    wanted = precision(0.25, least=5, most=40)
    held = {1: 0, len(wanted.check_rounds): 0}
    for seed in range(600):
        samples = rounds_taken(wanted, noisy_rounds(seed, 0.3))
        for checks in held:
            found = difference(*samples, checks=checks)
            assert found is not None
            held[checks] += found.saved_s.low <= TRUE_SAVED_S <= found.saved_s.high
    naive, widened = held.values()
    assert naive < 0.95 * 600 <= widened


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--max-runs", "20"), "--max-runs needs --until-precise"),
        (
            ("--until-precise", "5%", "--codec", "xz"),
            "--until-precise compares xz with lzo: lzo is missing",
        ),
        (
            ("--until-precise", "50ms", "--runs", "30", "--max-runs", "20"),
            "--runs 30 exceeds 20 at most",
        ),
        (("--until-precise", "prime"), "prime"),
        (("--until-precise", "0"), "zero"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: Sequence[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "nowhere", *options]) == 64
    assert said in capsys.readouterr().err


def test_only_planned_checks_end_a_measurement() -> None:
    wanted = precision(0.5)
    assert wanted.check_rounds[:3] == (5, 7, 10)
    ended = [
        rounds
        for rounds in range(2, 11)
        if wanted.ends(Sample(runs_s=(2.0,) * rounds), Sample(runs_s=(1.0,) * rounds))
    ]
    assert ended == [5, 7, 10]
