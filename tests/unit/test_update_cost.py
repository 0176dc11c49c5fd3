"""Download seconds, and the launches that pay for them."""

from __future__ import annotations

import math

import pytest

from snapcraft_compression_advisor.advice.evidence import (
    break_even_launches,
    download_seconds,
)
from snapcraft_compression_advisor.core.errors import UsageError


def test_a_hundred_decimal_megabytes_take_sixteen_seconds_at_50_mbit() -> None:
    assert download_seconds(100_000_000, 50) == 16


def test_a_smaller_image_takes_negative_seconds_more() -> None:
    assert download_seconds(-1_000_000, 8) == -1


def test_the_download_pays_after_its_seconds_over_the_seconds_saved() -> None:
    assert break_even_launches(100_000_000, 3.2, 50) == pytest.approx(5)


@pytest.mark.parametrize("bytes_added", [0, -1])
def test_no_bytes_added_are_paid_for_before_the_first_launch(bytes_added: int) -> None:
    assert break_even_launches(bytes_added, 1.5, 50) == 0


@pytest.mark.parametrize("seconds_saved", [0, -0.5])
@pytest.mark.parametrize("bytes_added", [-1, 0, 1_000_000])
def test_no_number_of_launches_pays_where_a_launch_saves_nothing(
    bytes_added: int, seconds_saved: float
) -> None:
    assert break_even_launches(bytes_added, seconds_saved, 50) is None


@pytest.mark.parametrize("link", [0, -1, math.inf, math.nan])
def test_an_impossible_link_is_a_usage_error_even_where_nothing_is_saved(
    link: float,
) -> None:
    with pytest.raises(UsageError, match="Mbit/s"):
        download_seconds(1, link)
    with pytest.raises(UsageError, match="Mbit/s"):
        break_even_launches(1, 0, link)


@pytest.mark.parametrize(
    ("bytes_added", "seconds_saved"), [(math.nan, 1), (1, math.nan), (1, math.inf)]
)
def test_figures_that_are_no_finite_numbers_are_a_usage_error(
    bytes_added: float, seconds_saved: float
) -> None:
    with pytest.raises(UsageError, match="finite"):
        break_even_launches(bytes_added, seconds_saved, 50)
