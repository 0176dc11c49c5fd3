"""Pages that a launch touches or has in the cache, and what a mount reads for them."""

import mmap
import os
import re
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_payload
from snapcraft_compression_advisor.capture.call_notices import CallName, HeldCall
from snapcraft_compression_advisor.capture.page_cache import (
    BLOCK_PAGES,
    block_runs,
    fit_for_replay,
    without_blocks,
)
from snapcraft_compression_advisor.capture.page_tables import (
    AROUND_PAGES,
    PageTables,
    Touch,
    mount_blocks,
)
from snapcraft_compression_advisor.cli.measure import replay_warnings
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.launch.launch_set import LaunchFile
from snapcraft_compression_advisor.launch.profile import LaunchProfile, ProfileFile
from snapcraft_compression_advisor.payload.scan import scan_directory
from trees import fill

PAGES = 200
WRITABLE = mmap.PROT_READ | mmap.PROT_WRITE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    data = b"x" * (PAGES * mmap.PAGESIZE - 1)
    return fill(tmp_path / "prime", {"data": data, "other": b"x"})


@pytest.fixture
def mapping(root: Path) -> Iterator[mmap.mmap]:
    with (
        (root / "data").open("rb") as file,
        mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapping,
    ):
        yield mapping


def looked_at(root: Path) -> PageTables:
    return PageTables(root, scan_directory(root))


def test_touched_page_is_seen_with_what_is_mapped_around_it(
    root: Path, mapping: mmap.mmap
) -> None:
    tables = looked_at(root)
    assert mapping[100 * mmap.PAGESIZE]
    tables.look([os.getpid()])
    touches = tables.touches["data"]
    assert sum(touch.first <= 100 <= touch.last for touch in touches) == 1
    assert all(touch.last < touch.first + AROUND_PAGES for touch in touches)
    assert all(touch.code_end is None for touch in touches)
    assert "other" not in tables.touches


def test_mapping_that_nobody_touched_is_seen_without_pages(
    root: Path, mapping: mmap.mmap
) -> None:
    assert len(mapping)
    tables = looked_at(root)
    tables.look([os.getpid()])
    assert tables.touches == {"data": []}


def test_looks_add_what_is_new_in_their_order(root: Path, mapping: mmap.mmap) -> None:
    tables = looked_at(root)
    assert mapping[150 * mmap.PAGESIZE]
    tables.look([os.getpid()])
    before = [*tables.touches["data"]]
    tables.look([os.getpid()])
    assert tables.touches["data"] == before
    for page in range(PAGES):
        assert mapping[page * mmap.PAGESIZE]
    tables.look([os.getpid()])
    after = tables.touches["data"]
    assert after[: len(before)] == before
    pages = [page for each in after for page in range(each.first, each.last + 1)]
    assert sorted(pages) == [*range(PAGES)]


def test_code_knows_where_its_mapping_ends(root: Path) -> None:
    with (root / "data").open("rb") as file:
        access = mmap.PROT_READ | mmap.PROT_EXEC
        code = mmap.mmap(
            file.fileno(), 50 * mmap.PAGESIZE, prot=access, offset=64 * mmap.PAGESIZE
        )
        with code:
            assert code[0]
            tables = looked_at(root)
            tables.look([os.getpid()])
    assert {touch.code_end for touch in tables.touches["data"]} == {114}
    assert tables.touches["data"][0].first == 64


def test_end_of_a_writable_mapping_comes_first(root: Path) -> None:
    with (root / "data").open("rb") as file:
        mapping = mmap.mmap(
            file.fileno(), 50 * mmap.PAGESIZE, mmap.MAP_PRIVATE, prot=WRITABLE
        )
        with mapping:
            mapping[20 * mmap.PAGESIZE] = 1
            mapping[49 * mmap.PAGESIZE] = 1
            tables = looked_at(root)
            tables.look([os.getpid()])
    first, *others = tables.touches["data"]
    assert first == Touch(first=49, last=49, is_tail=True)
    assert any(touch.first <= 20 <= touch.last for touch in others)
    assert not any(touch.is_tail for touch in others)


def test_moved_payload_is_found_by_the_inodes_of_its_files(
    root: Path, mapping: mmap.mmap
) -> None:
    tables = looked_at(root)
    root.rename(root.with_name("moved"))
    assert mapping[0]
    tables.look([os.getpid()])
    assert tables.touches["data"]


def test_process_that_is_gone_is_left_out(root: Path, mapping: mmap.mmap) -> None:
    assert mapping[0]
    tables = looked_at(root)
    tables.look([2**22 + 1, os.getpid()])
    assert tables.touches["data"]


def held(name: CallName, *arguments: int) -> HeldCall:
    given = (*arguments, *[0] * (6 - len(arguments)))
    return HeldCall(name, threading.get_native_id(), given)


def test_reads_are_seen_where_they_begin_and_end(root: Path) -> None:
    tables = looked_at(root)
    with (root / "data").open("rb", buffering=0) as file:
        file.seek(3 * mmap.PAGESIZE)
        tables.notice(held("read", file.fileno(), 0, mmap.PAGESIZE + 1))
        tables.notice(held("read", file.fileno(), 0, 7))
        tables.notice(held("read", file.fileno(), 0, 7))
        last = (PAGES - 1) * mmap.PAGESIZE
        tables.notice(held("pread64", file.fileno(), 0, 2 * mmap.PAGESIZE, last))
        tables.notice(held("pread64", file.fileno(), 0, 1, PAGES * mmap.PAGESIZE))
    assert tables.touches == {
        "data": [
            Touch(3, 4, is_read=True),
            Touch(3, 3, is_read=True),
            Touch(PAGES - 1, PAGES - 1, is_read=True),
        ]
    }


def test_read_of_a_file_that_is_not_the_payloads_is_none(root: Path) -> None:
    tables = looked_at(root)
    with Path(__file__).open("rb") as file:
        tables.notice(held("read", file.fileno(), 0, 1))
    assert tables.touches == {}


def test_process_is_looked_at_as_it_ends(root: Path, mapping: mmap.mmap) -> None:
    assert mapping[0]
    tables = looked_at(root)
    tables.notice(held("exit_group"))
    assert tables.touches["data"]


def test_nothing_is_noticed_behind_the_end(root: Path, mapping: mmap.mmap) -> None:
    assert mapping[0]
    tables = looked_at(root)
    tables.end()
    tables.notice(held("exit_group"))
    assert tables.touches == {}


Source = Literal["residency", "directory", "static"]
BlockRanges = tuple[tuple[int, int], ...]


@given(st.sets(st.integers(0, 40 * BLOCK_PAGES - 1)))
def test_ranges_are_those_of_the_blocks_one_by_one(resident: set[int]) -> None:
    ranges = block_runs(np.array([*resident], dtype=np.intp) // BLOCK_PAGES)
    named = [block for first, last in ranges for block in range(first, last + 1)]
    assert named == sorted({page // BLOCK_PAGES for page in resident})
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(ranges))


def profile(*files: ProfileFile, source: Source = "residency") -> LaunchProfile:
    return LaunchProfile(source=source, app="hello", app_files=files)


def test_profile_is_cut_to_what_the_payload_holds() -> None:
    payload = make_payload({"bin/hello": bytes(200_000)}, links={"link": "bin/hello"})
    recorded = profile(
        ProfileFile(path="bin/gone", size=5, blocks=((0, 0),)),
        ProfileFile(path="bin/hello", size=900_000, blocks=((1, 3), (5, 6))),
        ProfileFile(path="link", size=5, blocks=((0, 0),)),
    )
    fitting = fit_for_replay(recorded, payload.inventory)
    assert fitting.launch_set.files == (
        LaunchFile(path="bin/hello", size_bytes=200_000, blocks=((1, 1),)),
    )


def test_profile_of_another_payload_is_refused() -> None:
    recorded = profile(ProfileFile(path="bin/gone", size=5, blocks=((0, 0),)))
    with pytest.raises(BadDataError, match="none of the files"):
        fit_for_replay(recorded, make_payload({"bin/hello": b"x"}).inventory)


HELLO = make_payload({"bin/hello": bytes(4 * 128 * 1024)}).inventory


def test_replay_of_a_guess_says_that_it_reads_more_than_a_launch() -> None:
    file = ProfileFile(
        path="bin/hello", size=4 * 128 * 1024, blocks=((0, 3),), shares=(0.5,)
    )
    (warning,) = replay_warnings(fit_for_replay(profile(file, source="static"), HELLO))
    assert re.fullmatch(
        r"the launch profile was guessed: a launch reads about 5\d% of the blocks "
        "that it names, and all of them are replayed",
        warning,
    )


@pytest.mark.parametrize("source", ["residency", "directory"])
def test_replay_of_what_a_launch_was_seen_to_read_says_nothing(source: Source) -> None:
    file = ProfileFile(path="bin/hello", size=4 * 128 * 1024, blocks=((0, 3),))
    assert not list(
        replay_warnings(fit_for_replay(profile(file, source=source), HELLO))
    )


def test_replay_says_how_much_of_the_profile_the_payload_has() -> None:
    gone = ProfileFile(path="bin/gone", size=5, blocks=((0, 0),))
    hello = ProfileFile(path="bin/hello", size=4 * 128 * 1024, blocks=((0, 2),))
    (warning,) = replay_warnings(fit_for_replay(profile(gone, hello), HELLO))
    assert warning == (
        "the payload has 75% of the launch profile's blocks; the others are not "
        "replayed"
    )


@pytest.mark.parametrize(
    ("blocks", "left_out", "expected"),
    [
        (((0, 3),), ((1, 1),), ((0, 0), (2, 3))),
        (((0, 0), (4, 5)), ((3, 9),), ((0, 0),)),
        (((0, 3),), ((0, 3),), None),
        (((2, 2),), ((0, 1),), ((2, 2),)),
    ],
)
def test_blocks_that_were_there_before_are_left_out(
    blocks: BlockRanges, left_out: BlockRanges, expected: BlockRanges | None
) -> None:
    file, before = (
        ProfileFile(path="a", size=9, blocks=each) for each in (blocks, left_out)
    )
    found = [each.blocks for each in without_blocks([file], [before])]
    assert found == ([expected] if expected else [])
    other = ProfileFile(path="b", size=9, blocks=left_out)
    assert list(without_blocks([file], [other])) == [file]


SIZE_BYTES = 20 * DATA_BLOCK_BYTES
HALF = BLOCK_PAGES // 2


def at(block: int, page: int, *, code_end: int | None = None) -> Touch:
    number = block * BLOCK_PAGES + page
    return Touch(first=number, last=number, code_end=code_end)


def read(*touches: Touch, code_forward: bool = True) -> set[int]:
    return mount_blocks(touches, size_bytes=SIZE_BYTES, code_forward=code_forward)


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


def test_page_behind_the_end_of_the_file_is_none() -> None:
    assert read(at(20, 0)) == {0}
