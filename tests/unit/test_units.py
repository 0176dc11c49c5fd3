"""Intervals, bytes and seconds."""

import pytest

from snapcraft_compression_advisor.core.units import (
    format_bytes,
    format_seconds,
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
