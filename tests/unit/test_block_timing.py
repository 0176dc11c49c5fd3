"""Blocks chosen and written for timing; the timing itself needs root."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from snapcraft_compression_advisor.capture.block_timing import (
    BlockPlace,
    choose_blocks,
    standard_error,
    write_blocks,
)
from snapcraft_compression_advisor.core.errors import NoInputError

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 128 * 1024


def test_same_blocks_are_chosen_each_time(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * (3 * BLOCK + 5))
    (tmp_path / "small").write_bytes(b"y")
    files = sorted(tmp_path.iterdir())
    chosen = [
        list(choose_blocks(files, group="g", count=60, chance=random.Random(3)))
        for _ in range(2)
    ]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 60
    assert {place.index for place in chosen[0]} == {0, 1, 2, 3}
    small = sum(place.path.name == "small" for place in chosen[0])
    assert 5 <= small <= 15  # half of the third that goes by number


def test_no_files_have_no_blocks() -> None:
    assert not list(choose_blocks([], group="g", count=5, chance=random.Random(3)))


def test_zeros_and_repeated_blocks_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"a" * BLOCK + b"\0" * BLOCK + b"a" * BLOCK + b"tail")
    tree = tmp_path / "tree"
    tree.mkdir()
    places = [BlockPlace(group=f"g{n}", path=source, index=n) for n in range(4)]
    missing = BlockPlace(group="gone", path=tmp_path / "gone", index=0)
    assert write_blocks([missing, *places], tree) == ("g0", "g3")
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
