"""What page tables show of files that this process has mapped."""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.call_notices import CallName, HeldCall
from snapcraft_compression_advisor.capture.page_tables import (
    AROUND_PAGES,
    PageTables,
    Touch,
)
from snapcraft_compression_advisor.payload.scan import scan_directory

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = 200
WRITABLE = mmap.PROT_READ | mmap.PROT_WRITE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "prime"
    directory.mkdir()
    (directory / "data").write_bytes(b"x" * (PAGES * mmap.PAGESIZE - 1))
    (directory / "other").write_bytes(b"x")
    return directory


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
