"""A guess beside a recording."""

from __future__ import annotations

import pytest

from comparison import Comparison, FileDifference, compare_launches
from payloads import make_inventory
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.profile import LaunchProfile, ProfileFile
from snapcraft_compression_advisor.payload.inventory import block_bytes

BLOCK = 128 * 1024
SIZES = {"a": 3 * BLOCK, "b": BLOCK + 5, "c": 7}


def guess(
    path: str, *ranges: tuple[int, int], shares: tuple[float, ...] = ()
) -> LaunchFile:
    return LaunchFile(path=path, size_bytes=SIZES[path], blocks=ranges, shares=shares)


def compared(
    guessed: list[LaunchFile], recorded: dict[str, tuple[tuple[int, int], ...]]
) -> Comparison:
    profile = LaunchProfile(
        source="residency",
        app="hello",
        app_files=tuple(
            ProfileFile(path=path, size=SIZES.get(path, 9), blocks=blocks)
            for path, blocks in recorded.items()
        ),
    )
    return compare_launches(guessed, profile, make_inventory(SIZES))


def test_recall_and_precision_are_by_bytes_of_blocks() -> None:
    found = compared([guess("a", (0, 1))], {"a": ((1, 2),), "b": ((1, 1),)})
    assert found.hit_bytes == BLOCK
    assert found.recall == pytest.approx(BLOCK / (2 * BLOCK + 5))
    assert found.precision == 0.5


def test_last_block_of_a_file_counts_as_its_tail() -> None:
    assert [block_bytes(BLOCK + 5, number) for number in (0, 1)] == [BLOCK, 5]
    assert block_bytes(BLOCK, 0) == BLOCK


def test_block_that_is_rarely_read_is_not_named_but_expected() -> None:
    found = compared([guess("a", (0, 0), (1, 1), shares=(0.9, 0.1))], {"a": ((0, 0),)})
    assert found.named_bytes == BLOCK
    assert found.expected_bytes == pytest.approx(BLOCK)
    assert found.read_per_expected == pytest.approx(1.0)


def test_differing_files_are_listed_with_the_largest_first() -> None:
    found = compared(
        [guess("a", (0, 2)), guess("c", (0, 0))], {"b": ((0, 1),), "a": ((0, 0),)}
    )
    assert found.missed() == (
        FileDifference(path="b", missed_bytes=BLOCK + 5, vain_bytes=0),
    )
    assert [(file.path, file.vain_bytes) for file in found.in_vain()] == [
        ("a", 2 * BLOCK),
        ("c", 7),
    ]


def test_recorded_file_that_is_gone_does_not_count() -> None:
    found = compared([guess("c", (0, 0))], {"c": ((0, 0),), "gone": ((0, 0),)})
    assert found.gone == ("gone",)
    assert found.recall == 1.0


def test_recorded_blocks_beyond_a_file_that_shrank_do_not_count() -> None:
    assert compared([guess("c", (0, 0))], {"c": ((0, 9),)}).recall == 1.0


def test_nothing_guessed_and_nothing_recorded_agree() -> None:
    found = compared([], {})
    assert (found.recall, found.precision) == (1.0, 1.0)
    assert found.read_per_expected is None
