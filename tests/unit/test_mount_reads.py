"""Which blocks of a file a mount reads for pages that were touched."""

from __future__ import annotations

import pytest

from snapcraft_compression_advisor.capture.mount_reads import (
    BLOCK_PAGES,
    mount_blocks,
    reads_code_forward,
)
from snapcraft_compression_advisor.capture.page_tables import Touch
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES

SIZE_BYTES = 20 * DATA_BLOCK_BYTES
HALF = BLOCK_PAGES // 2


def at(block: int, page: int, *, code_end: int | None = None) -> Touch:
    number = block * BLOCK_PAGES + page
    return Touch(first=number, last=number, code_end=code_end)


def read(
    *touches: Touch, code_forward: bool = True, read_ahead_kb: int = 128
) -> set[int]:
    return mount_blocks(
        touches,
        size_bytes=SIZE_BYTES,
        read_ahead_kb=read_ahead_kb,
        code_forward=code_forward,
    )


@pytest.mark.parametrize(
    ("touch", "found"),
    [
        (at(5, HALF // 2), {4, 5}),
        (at(5, HALF + 2), {5, 6}),
        # Squashfs reads one block more where the last one is read whole.
        (at(5, HALF), {5, 6}),
        (at(19, BLOCK_PAGES - 1), {19}),
    ],
)
def test_fault_in_data_reads_to_both_sides(touch: Touch, found: set[int]) -> None:
    assert read(touch) == {0} | found


def test_fault_in_code_reads_on_up_to_the_end_of_the_mapping() -> None:
    end = 6 * BLOCK_PAGES
    assert read(at(5, 1, code_end=9 * BLOCK_PAGES)) == {0, 5, 6}
    assert read(at(5, 1, code_end=end - 1)) == {0, 5}
    assert read(at(5, 1, code_end=end), code_forward=False) == {0, 4, 5}


def test_block_that_is_there_reads_no_neighbours() -> None:
    assert read(at(5, HALF + 2), at(6, HALF + 2)) == {0, 5, 6}
    assert read(at(6, HALF + 2), at(5, HALF + 2)) == {0, 5, 6, 7}


def test_second_page_makes_the_kernel_read_ahead_and_so_does_what_it_read() -> None:
    assert read(at(0, 2)) == {0}
    assert read(at(0, 1)) == {0, 1, 2}
    assert read(at(0, 1), at(1, 0)) == {0, 1, 2, 3, 4}


def test_mark_among_pages_that_came_together_was_hardly_used() -> None:
    around = Touch(first=2 * BLOCK_PAGES - 2, last=2 * BLOCK_PAGES + 5)
    ahead = at(0, 1), at(1, 0)
    assert read(at(0, 1), Touch(first=BLOCK_PAGES, last=BLOCK_PAGES + 5)) == {0, 1, 2}
    assert read(*ahead, around) == {0, 1, 2, 3, 4}
    assert read(Touch(first=0, last=5)) == {0, 1, 2}


def called(block: int, page: int, count: int = 1) -> Touch:
    first = block * BLOCK_PAGES + page
    return Touch(first=first, last=first + count - 1, is_read=True)


def test_small_read_brings_its_block_alone() -> None:
    assert read(called(5, 3)) == {5}
    assert read(called(5, 3), called(5, 9), called(9, 2)) == {5, 9}
    assert read(called(5, BLOCK_PAGES - 1, 2)) == {5, 6}


def test_read_that_goes_on_reads_ahead() -> None:
    assert read(called(0, 0)) == {0}
    assert read(called(0, 0), called(0, 1)) == {0, 1, 2}
    # Behind a block that is there the kernel takes a reader for one that goes on.
    assert read(called(5, 3), called(6, 0)) == {5, 6, 7}


def test_read_file_that_is_mapped_too_has_both() -> None:
    code = at(9, 1, code_end=10 * BLOCK_PAGES - 1)
    assert read(called(5, 3), code) == {0, 5, 9}


def test_mount_without_read_ahead_reads_what_is_touched() -> None:
    assert read(at(0, 1), at(5, 3), read_ahead_kb=0) == {0, 5}


def test_page_behind_the_end_of_the_file_is_none() -> None:
    assert read(at(20, 0)) == {0}


@pytest.mark.parametrize(
    ("release", "forward"),
    [
        ("6.17.0-1-generic", True),
        ("6.8.0-31-generic", False),
        ("7.0", True),
        ("", False),
    ],
)
def test_kernels_from_6_17_on_read_code_forward(release: str, *, forward: bool) -> None:
    assert reads_code_forward(release or "unknown") == forward
