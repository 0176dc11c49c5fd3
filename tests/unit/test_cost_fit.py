"""Block costs fitted to timed blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.capture.cost_fit import fit_costs, least_squares
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    block_seconds,
    scaled,
)
from timed_blocks import COSTS_S, FILL_S, make_blocks


def middles(cost: BlockCost) -> tuple[float, float, float]:
    return cost.block_s.mid, cost.raw_s_per_byte.mid, cost.stored_s_per_byte.mid


def test_known_costs_are_found_again() -> None:
    costs = fit_costs(make_blocks())
    assert middles(costs.fill) == pytest.approx((*FILL_S, 0), rel=1e-6)
    for codec, expected in COSTS_S.items():
        assert middles(costs.decompress[codec]) == pytest.approx(expected, rel=1e-4)


def test_uncompressed_image_adds_nothing() -> None:
    assert fit_costs(make_blocks()).decompress["none"] == NO_COST


def test_stored_blocks_count_as_fill_alone() -> None:
    costs = fit_costs(make_blocks(stored_share=0.5))
    assert middles(costs.fill) == pytest.approx((*FILL_S, 0), rel=1e-6)
    assert middles(costs.decompress["xz"]) == pytest.approx(COSTS_S["xz"], rel=1e-4)


def test_sum_of_fitted_costs_is_the_measured_sum() -> None:
    blocks = make_blocks(noise=0.3, group_error=0.2)
    costs = fit_costs(blocks)
    for codec in COSTS_S:
        mine = [block for block in blocks if block.codec == codec]
        measured = sum(block.median_s for block in mine)
        fitted = sum(
            block_seconds(
                cost, raw_bytes=block.raw_bytes, stored_bytes=block.stored_bytes
            )
            for block in mine
            for cost in (costs.fill, costs.decompress[codec])
        )
        assert fitted == pytest.approx(measured, rel=1e-6)


def test_interval_spans_payloads_that_differ() -> None:
    cost = fit_costs(make_blocks(group_error=0.2, noise=0.05)).decompress["xz"]
    per_byte = cost.stored_s_per_byte
    assert 0.72 < per_byte.low / per_byte.mid < 0.85
    assert 1.15 < per_byte.high / per_byte.mid < 1.35


def test_interval_holds_for_payloads_left_out() -> None:
    blocks = make_blocks(groups=12, count=60, group_error=0.15, noise=0.1)
    inside = 0
    for number in range(12):
        group = f"group-{number}"
        rest = [block for block in blocks if block.group != group]
        costs = fit_costs(rest).decompress["xz"], fit_costs(rest).fill
        mine = [b for b in blocks if b.group == group and b.codec == "xz"]
        measured = sum(block.median_s for block in mine)
        low, high = (
            sum(
                getattr(cost.block_s, end)
                + getattr(cost.raw_s_per_byte, end) * block.raw_bytes
                + getattr(cost.stored_s_per_byte, end) * block.stored_bytes
                for block in mine
                for cost in costs
            )
            for end in ("low", "high")
        )
        inside += low <= measured <= high
    assert inside >= 10


def test_noise_widens_the_interval() -> None:
    blocks = make_blocks()
    calm = fit_costs(blocks).decompress["xz"].raw_s_per_byte
    noisy = fit_costs(blocks, noise={"xz": 0.1}).decompress["xz"].raw_s_per_byte
    assert calm.high / calm.mid == pytest.approx(1.02)
    assert noisy.high / noisy.mid == pytest.approx(1 + np.hypot(0.02, 0.2))
    assert noisy.low / noisy.mid == pytest.approx(1 - np.hypot(0.02, 0.2))
    assert noisy.mid == calm.mid


def test_one_group_is_divided_for_the_interval() -> None:
    cost = fit_costs(make_blocks(groups=1, count=80, noise=0.3)).decompress["xz"]
    assert cost.raw_s_per_byte.low < 0.97 * cost.raw_s_per_byte.mid


def test_ends_stay_in_order_whatever_the_noise() -> None:
    for cost in fit_costs(make_blocks(noise=2.0)).decompress.values():
        for part in (cost.block_s, cost.raw_s_per_byte, cost.stored_s_per_byte):
            assert 0 <= part.low <= part.mid <= part.high


def test_codec_of_few_compressed_blocks_costs_nothing() -> None:
    blocks = [block for block in make_blocks() if block.codec == "none"]
    few = [block for block in make_blocks() if block.codec == "xz"][:7]
    assert fit_costs([*blocks, *few]).decompress["xz"] == NO_COST


def test_too_few_blocks_are_refused() -> None:
    blocks = [block for block in make_blocks() if block.codec == "none"][:7]
    with pytest.raises(BadDataError, match="Only 7 uncompressed"):
        fit_costs(blocks)


@given(
    st.lists(st.tuples(*[st.floats(-100, 100)] * 4), min_size=4, max_size=12),
)
def test_coefficients_are_never_negative_nor_worse_than_none(
    rows: list[tuple[float, float, float, float]],
) -> None:
    table = np.array(rows)
    found = least_squares(table[:, :3], table[:, 3])
    assert (found >= 0).all()
    error = table[:, :3] @ found - table[:, 3]
    assert error @ error <= table[:, 3] @ table[:, 3] * (1 + 1e-9) + 1e-9


def test_a_column_of_next_to_nothing_has_no_coefficient() -> None:
    features = np.array([[1.0, -2e-309], [1.0, 0.0]])
    found = least_squares(features, np.array([1.0, 1.0]))
    assert found == pytest.approx([1.0, 0.0])


def test_weights_say_which_rows_count() -> None:
    features = np.array([[1.0], [1.0]])
    found = least_squares(features, np.array([1.0, 3.0]), np.array([3.0, 1.0]))
    assert found == pytest.approx([1.5])


def test_negative_part_is_left_out_of_the_fit() -> None:
    features = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    assert least_squares(features, np.array([3.0, 2.0, 1.0])) == pytest.approx([2, 0])


def test_scaling_takes_the_middle_alone() -> None:
    cost = fit_costs(make_blocks(group_error=0.2)).decompress["xz"]
    double = scaled(cost, low=1, mid=2, high=4).raw_s_per_byte
    mid = cost.raw_s_per_byte.mid
    assert (double.low, double.mid, double.high) == (mid, 2 * mid, 4 * mid)
