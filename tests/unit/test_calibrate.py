"""Calibration without mounts: the sample, the storage's fit, bad arguments."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine import no_right_to_mount
from snapcraft_compression_advisor.capture.block_timing import Timings
from snapcraft_compression_advisor.capture.calibrate import (
    CalibrationRequest,
    _sources,
    calibrate,
    choose_sample,
    write_noise,
)
from snapcraft_compression_advisor.capture.cost_fit import fit_costs, fit_storage
from snapcraft_compression_advisor.cli.calibrate import CalibrateCommand, _profile_name
from snapcraft_compression_advisor.cli.command_texts import command_parser
from snapcraft_compression_advisor.core.errors import NoInputError, ToolError
from timed_blocks import FILL_S, make_blocks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_mock import MockerFixture

BLOCK = 128 * 1024


def fill_sample(directory: Path) -> Path:
    """Fill a directory with a program, a text and a file of another kind."""
    for name in ("lib/a/libx.so.1", "share/doc/x/page.html", "share/data/blob"):
        path = directory / name
        path.parent.mkdir(parents=True)
        path.write_bytes(name.encode() * 20_000)
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
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
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


def test_sample_that_is_not_there_is_no_input(tmp_path: Path) -> None:
    with pytest.raises(NoInputError):
        choose_sample(tmp_path / "gone", 30)


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
    timings = Timings(blocks=tuple(make_blocks()), spread=error, error=error)
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
    storage = fit_storage(tuple(SIZES.values()), seconds, fill)
    assert storage.seek_s.mid == pytest.approx(1e-4, rel=1e-3)
    assert storage.read_s_per_byte.mid == pytest.approx(2e-9, rel=1e-3)
    assert storage.seek_s.low == pytest.approx(0.9e-4, rel=1e-3)
    assert storage.read_s_per_byte.high == pytest.approx(2.4e-9, rel=1e-3)


def test_rounds_that_agree_still_leave_an_interval() -> None:
    fill = fit_costs(make_blocks()).fill
    seconds = reads_s(SIZES, seek_s=1e-4, read_s=2e-9, factors=[1, 1])
    seek_s = fit_storage(tuple(SIZES.values()), seconds, fill).seek_s
    assert seek_s.high / seek_s.mid == pytest.approx(1.05, rel=1e-3)


def test_storage_as_fast_as_memory_costs_nothing() -> None:
    fill = fit_costs(make_blocks()).fill
    seconds = reads_s(SIZES, seek_s=-1e-5, read_s=0, factors=[1, 1])
    storage = fit_storage(tuple(SIZES.values()), seconds, fill)
    assert (storage.seek_s.high, storage.read_s_per_byte.high) == (0, 0)


def options(*arguments: str) -> argparse.Namespace:
    return command_parser(CalibrateCommand).parse_args(arguments)


@pytest.mark.parametrize("text", ["0", "31", "5001", "-40", "4e2", "٤٠٠", "many", ""])
def test_number_of_blocks_is_bounded(text: str) -> None:
    with pytest.raises(Exception, match="is not a whole number from 32 to 5000"):
        options(f"--blocks={text}")


def test_numbers_within_bounds_are_taken() -> None:
    assert options("--blocks", "32").blocks == 32
    assert [options("--rounds", each).rounds for each in ("1", "100")] == [1, 100]


@pytest.mark.parametrize("text", ["", "My machine", "a/b", "-x", "a" * 65, "a\n"])
def test_name_that_no_profile_may_have_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="lower-case letters"):
        _profile_name(text)
