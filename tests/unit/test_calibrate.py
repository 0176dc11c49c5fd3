"""A device profile made of measured blocks."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from machine import no_right_to_mount
from made_blocks import COSTS_S, FILL_S, make_blocks
from snapcraft_compression_advisor.capture.block_timing import (
    BlockPlace,
    Timings,
    standard_error,
    write_blocks,
)
from snapcraft_compression_advisor.capture.calibrate import (
    CalibrationRequest,
    _sources,
    calibrate,
    choose_sample,
    write_noise,
)
from snapcraft_compression_advisor.capture.cost_fit import (
    fit_costs,
    fit_storage,
    least_squares,
)
from snapcraft_compression_advisor.cli.command_texts import command_parser
from snapcraft_compression_advisor.cli.measure import CalibrateCommand, _profile_name
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    ToolError,
)
from snapcraft_compression_advisor.devices.device import (
    NO_COST,
    BlockCost,
    block_seconds,
)
from trees import fill

BLOCK = 128 * 1024


def fill_sample(directory: Path) -> Path:
    """Fill a directory with a program, a text and a file of another kind."""
    for name in ("lib/a/libx.so.1", "share/doc/x/page.html", "share/data/blob"):
        fill(directory, {name: name * 20_000})
    (directory / "share/data/empty").touch()
    (directory / "share/data/link").symlink_to("blob")
    return directory


def test_sample_is_the_same_each_time_and_of_all_kinds(tmp_path: Path) -> None:
    sample = fill_sample(tmp_path)
    places = choose_sample(sample, 30)
    assert places == choose_sample(sample, 30)
    names = [place.path.name for place in places]
    assert {name: names.count(name) for name in names} == {
        "libx.so.1": 10, "page.html": 10, "blob": 10,
    }  # fmt: skip
    assert {place.group for place in places} == {"lib/a", "share/doc", "share/data"}


def test_order_of_the_disk_does_not_change_the_sample(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    for name in "abcdefgh":
        fill(tmp_path, {f"{name}/file": name})
    places = choose_sample(tmp_path, 30)
    entries = list(os.walk(tmp_path))
    top, directories, names = entries[0]
    walked = [(top, directories[::-1], names), *entries[1:]]

    def reversed_walk(_: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        yield walked[0]
        by_name = {Path(entry[0]).name: entry for entry in entries[1:]}
        yield from (by_name[name] for name in walked[0][1])

    mocker.patch("os.walk", reversed_walk)
    assert choose_sample(tmp_path, 30) == places


def test_directory_without_files_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(NoInputError, match="contains no files to sample"):
        choose_sample(tmp_path, 30)


def test_user_who_may_not_mount_gets_an_error(tmp_path: Path) -> None:
    request = CalibrationRequest(
        name="x", storage=tmp_path, sample=tmp_path, blocks=32, rounds=1
    )
    with (
        no_right_to_mount(),
        pytest.raises(ToolError, match="requires permission to mount") as caught,
    ):
        calibrate(request, print)
    assert "root" in (caught.value.resolution or "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (1, "1 round, so the standard error isn't known; Linux"),
        (5, "5 rounds; standard error of the sums up to 2.0%; Linux"),
    ],
)
def test_one_round_tells_no_standard_error(
    rounds: int, expected: str, tmp_path: Path
) -> None:
    error = {"none": 0.01, "xz": 0.02}
    timings = Timings(blocks=tuple(make_blocks()), error=error)
    request = CalibrationRequest(
        name="x", storage=tmp_path, sample=tmp_path, blocks=32, rounds=rounds
    )
    assert expected in _sources(request, timings, storage_in_memory=False)[0]


def test_noise_is_of_every_size_and_cannot_be_compressed(tmp_path: Path) -> None:
    sizes = write_noise(tmp_path, 50)
    assert {file.name: file.stat().st_size for file in tmp_path.iterdir()} == sizes
    ones = [size for name, size in sizes.items() if name.startswith("one-")]
    assert len(ones) == 50
    assert 4096 <= min(ones) < 20_000
    assert 110_000 < max(ones) <= BLOCK
    runs = [size for name, size in sizes.items() if name.startswith("run-")]
    assert runs == [16 * BLOCK] * 4


def reads_s(
    sizes: dict[str, int], *, seek_s: float, read_s: float, factors: list[float]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    size_bytes = np.array(list(sizes.values()))
    blocks = -(-size_bytes // BLOCK)
    processor_s = FILL_S[0] * blocks + FILL_S[1] * size_bytes
    storage_s = seek_s + read_s * size_bytes
    return np.array([processor_s + storage_s * factor for factor in factors])


SIZES = {f"one-{n}": 5000 + 2000 * n for n in range(60)} | {"run-1": 16 * BLOCK}


def test_storage_is_what_the_processor_does_not_explain() -> None:
    fill = fit_costs(make_blocks()).fill
    seconds = reads_s(SIZES, seek_s=1e-4, read_s=2e-9, factors=[0.9, 1, 1.2])
    seek_s, byte_s = fit_storage(tuple(SIZES.values()), seconds, fill)
    assert seek_s.mid == pytest.approx(1e-4, rel=1e-3)
    assert byte_s.mid == pytest.approx(2e-9, rel=1e-3)
    assert seek_s.low == pytest.approx(0.9e-4, rel=1e-3)
    assert byte_s.high == pytest.approx(2.4e-9, rel=1e-3)


def test_rounds_that_agree_still_leave_an_interval() -> None:
    fill = fit_costs(make_blocks()).fill
    seconds = reads_s(SIZES, seek_s=1e-4, read_s=2e-9, factors=[1, 1])
    seek_s = fit_storage(tuple(SIZES.values()), seconds, fill)[0]
    assert seek_s.high / seek_s.mid == pytest.approx(1.05, rel=1e-3)


def test_storage_as_fast_as_memory_costs_nothing() -> None:
    fill = fit_costs(make_blocks()).fill
    seconds = reads_s(SIZES, seek_s=-1e-5, read_s=0, factors=[1, 1])
    seek_s, byte_s = fit_storage(tuple(SIZES.values()), seconds, fill)
    assert (seek_s.high, byte_s.high) == (0, 0)


def options(*arguments: str) -> argparse.Namespace:
    return command_parser(CalibrateCommand).parse_args(arguments)


@pytest.mark.parametrize("text", ["0", "31", "5001", "-40", "4e2", "٤٠٠", "many", ""])
def test_number_of_blocks_is_bounded(text: str) -> None:
    with pytest.raises(Exception, match="is not a whole number from 32 to 5000"):
        options(f"--blocks={text}")


@pytest.mark.parametrize("text", ["", "My machine", "a/b", "-x", "a" * 65, "a\n"])
def test_name_that_no_profile_may_have_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="lower-case letters"):
        _profile_name(text)


def test_zeros_and_repeated_blocks_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"a" * BLOCK + b"\0" * BLOCK + b"a" * BLOCK + b"tail")
    tree = tmp_path / "tree"
    tree.mkdir()
    places = [BlockPlace(group=f"g{n}", path=source, index=n) for n in range(4)]
    missing = BlockPlace(group="gone", path=tmp_path / "gone", index=0)
    groups = write_blocks([missing, *places], tree)
    assert groups == {"block-00000": "g0", "block-00001": "g3"}
    written = [file.read_bytes() for file in sorted(tree.iterdir())]
    assert written == [b"a" * BLOCK, b"tail"]


def test_nothing_readable_is_an_error(tmp_path: Path) -> None:
    place = BlockPlace(group="g", path=tmp_path / "gone", index=0)
    with pytest.raises(NoInputError, match="None of the sample files"):
        write_blocks([place], tmp_path)


def test_standard_error_is_that_of_medians() -> None:
    steady = np.ones((25, 40))
    assert standard_error(steady) == 0
    disturbed = steady.copy()
    disturbed[3] = 50.0  # one round of so many never moves the median
    assert standard_error(disturbed) == 0
    assert standard_error(np.array([[1.0], [3.0]])) > 0.1


def middles(cost: BlockCost) -> tuple[float, float, float]:
    return cost.block_s.mid, cost.raw_s_per_byte.mid, cost.stored_s_per_byte.mid


def test_known_costs_are_found_again() -> None:
    costs = fit_costs(make_blocks())
    assert middles(costs.fill) == pytest.approx((*FILL_S, 0), rel=1e-6)
    for codec, expected in COSTS_S.items():
        assert middles(costs.decompress[codec]) == pytest.approx(expected, rel=1e-4)


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


@given(st.lists(st.tuples(*[st.floats(-100, 100)] * 4), min_size=4, max_size=12))
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
