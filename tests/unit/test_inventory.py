"""Listing a prime directory."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from payloads import make_inventory
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    StorageError,
)
from snapcraft_compression_advisor.payload.inventory import (
    CONTENTS_FREE_BYTES,
    block_count,
    scan_directory,
)
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_mock import MockerFixture

BLOCK = 128 * 1024


def test_every_kind_of_entry_is_listed(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir/file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("dir/file")
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "sock"))
    entries = scan_directory(tmp_path).entries
    assert {path: entry.kind for path, entry in entries.items()} == {
        "dir": EntryKind.DIRECTORY,
        "fifo": EntryKind.FIFO,
        "link": EntryKind.SYMLINK,
        "sock": EntryKind.SOCKET,
        "dir/file": EntryKind.FILE,
    }
    assert entries["dir/file"].size_bytes == 5
    assert entries["link"].link_target == "dir/file"


def test_links_out_of_the_root_are_listed_and_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "prime"
    root.mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/file").write_bytes(b"x")
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to("loop")
    assert list(scan_directory(root).entries) == ["loop", "out"]


def test_link_targets_are_kept_to_the_letter(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("./a//b/")
    assert scan_directory(tmp_path).entries["link"].link_target == "./a//b/"


def test_hard_links_count_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(BLOCK + 1))
    os.link(tmp_path / "a", tmp_path / "b")
    inventory = scan_directory(tmp_path)
    assert len(inventory.entries) == 2
    assert inventory.file_count == 1
    assert inventory.raw_bytes == BLOCK + 1
    assert inventory.data_blocks == 2


def test_a_sparse_file_is_known_as_such(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(CONTENTS_FREE_BYTES)
    entry = scan_directory(tmp_path).entries["sparse"]
    assert entry.sparse
    assert entry.size_bytes == CONTENTS_FREE_BYTES


def test_holes_that_exceed_the_contents_by_far_are_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(CONTENTS_FREE_BYTES // 2 + 1)
    with pytest.raises(BadDataError, match=r"claim 17\.18 GB and take 0 B"):
        scan_directory(tmp_path)
    (tmp_path / "contents").write_bytes(b"x" * 4096)  # which are granted some more
    assert scan_directory(tmp_path).raw_bytes > CONTENTS_FREE_BYTES


def test_what_snap_pack_leaves_out_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git/objects").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/.git").write_bytes(b"kept")
    (tmp_path / "lib/old.snap").write_bytes(b"")
    assert list(scan_directory(tmp_path).entries) == ["lib", "lib/.git"]


def test_order_is_that_of_bytes_parents_first(tmp_path: Path) -> None:
    for name in ("b", "a", "B", "é"):
        (tmp_path / name).mkdir()
    (tmp_path / "a/z").write_bytes(b"")
    assert list(scan_directory(tmp_path).entries) == ["B", "a", "b", "é", "a/z"]


def test_names_that_are_not_utf8_are_kept(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).write_bytes(b"")
    assert list(scan_directory(tmp_path).entries) == ["\udcff"]


def test_unreadable_files_are_named_and_counted(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    for number in range(12):
        (tmp_path / f"f{number:02}").write_bytes(b"x")
        (tmp_path / f"f{number:02}").chmod(0)
    (tmp_path / "empty").write_bytes(b"")
    mocker.patch("os.access", return_value=False)  # which root always may
    with pytest.raises(NoInputError, match="Cannot read 12 entries of") as caught:
        scan_directory(tmp_path)
    assert caught.value.details is not None
    assert "f09\nand 2 more" in caught.value.details


def test_unreadable_directory_is_an_error_with_a_resolution(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch("os.scandir", side_effect=PermissionError(13, "Permission denied"))
    with pytest.raises(NoInputError, match="Cannot read 1") as caught:
        scan_directory(tmp_path)
    assert "chmod" in str(caught.value.resolution)


def test_directory_that_vanishes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        scan_directory(tmp_path / "gone")


@pytest.mark.parametrize(
    ("size", "blocks"), [(0, 0), (1, 1), (BLOCK, 1), (BLOCK + 1, 2)]
)
def test_tail_counts_as_a_block(size: int, blocks: int) -> None:
    assert block_count(size) == blocks


def test_empty_payload_has_nothing() -> None:
    inventory = make_inventory({})
    assert (inventory.file_count, inventory.raw_bytes, inventory.data_blocks) == (
        0,
        0,
        0,
    )
