"""Intervals, bytes and seconds."""

import pytest

from snapcraft_compression_advisor.core.units import (
    Interval,
    format_bytes,
    format_seconds,
)


def test_interval_around_sorts_its_values() -> None:
    assert Interval.around(3, 1, 2) == Interval(low=1, mid=2, high=3)


def test_known_interval_has_no_width() -> None:
    assert Interval.exactly(5).known
    assert not Interval(low=1, mid=2, high=3).known


def test_sum_is_taken_end_by_end() -> None:
    total = Interval(low=1, mid=2, high=3) + Interval(low=10, mid=20, high=40)
    assert total == Interval(low=11, mid=22, high=43)


def test_decreasing_function_swaps_the_ends() -> None:
    assert Interval(low=1, mid=2, high=4).map(lambda x: -x) == Interval(
        low=-4, mid=-2, high=-1
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (134_852_608, "134.9 MB"),
        (-1500, "-1.5 kB"),
        (2_340_000_000, "2.34 GB"),
    ],
)
def test_bytes_print_in_decimal_units(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.00 s"), (0.254, "0.25 s"), (9.994, "9.99 s"), (12.34, "12.3 s")],
)
def test_seconds_print_to_a_hundredth_below_ten(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text
