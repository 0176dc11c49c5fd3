"""Which files a payload has, and in which blocks."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from payloads import make_payload
from snapcraft_compression_advisor.core.errors import (
    BadDataError,
    NoInputError,
    StorageError,
)
from snapcraft_compression_advisor.core.files import (
    NotRegularError,
    open_regular,
    read_regular,
)
from snapcraft_compression_advisor.payload.inventory import CONTENTS_FREE_BYTES
from snapcraft_compression_advisor.payload.layout import (
    HEAD_BYTES,
    lay_out,
    make_layout,
)
from snapcraft_compression_advisor.payload.scan import is_excluded, scan_directory
from snapcraft_compression_advisor.payload.source import (
    DirectoryPayload,
    named_payloads,
)
from snapcraft_compression_advisor.squashfs.entry import EntryKind
from trees import fill


@pytest.mark.parametrize("name", [".git", "CVS", "{arch}", ".snapignore", "DEBIAN"])
def test_version_control_is_left_out_of_the_root_only(name: str) -> None:
    assert is_excluded(name, top_level=True)
    assert not is_excluded(name, top_level=False)


@pytest.mark.parametrize(
    "name", ["old.snap", "notes~", ".#lock", ".~lock", ".x.swp", ",,temp", "a.click"]
)
def test_leftovers_are_left_out_at_any_depth(name: str) -> None:
    assert is_excluded(name, top_level=True)
    assert is_excluded(name, top_level=False)


@pytest.mark.parametrize(
    "name", [".hidden.snap", ".hidden~", "a.snap.txt", "git", "x.swp", ".a.sw"]
)
def test_wildcards_match_neither_leading_dots_nor_more(name: str) -> None:
    assert not is_excluded(name, top_level=True)


def make(directory: Path, *names: str) -> list[Path]:
    paths = [directory / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


def test_directory_stands_for_the_snaps_and_components_in_it(tmp_path: Path) -> None:
    made = make(tmp_path, "a+x.comp", "a.snap", "b.snap", "log.txt", "below/c.snap")
    assert named_payloads([tmp_path]) == made[:3]


def test_prime_directory_stands_for_itself_whatever_it_ships(tmp_path: Path) -> None:
    make(tmp_path, "meta/snap.yaml", "shipped.snap")
    assert named_payloads([tmp_path]) == [tmp_path]


def test_what_holds_no_snap_is_left_to_its_reader(tmp_path: Path) -> None:
    paths = [tmp_path, tmp_path / "nothing.snap", tmp_path / "a\0b"]
    assert named_payloads(paths) == paths


def test_each_payload_counts_once_in_the_order_given(tmp_path: Path) -> None:
    a, b = make(tmp_path, "a.snap", "b.snap")
    assert named_payloads([b, tmp_path, a]) == [b, a]


def test_a_regular_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", 5) == b"12345"
    assert read_regular(tmp_path / "file", 3) == b"1234"
    with open_regular(tmp_path / "file") as file:
        assert not os.get_inheritable(file.fileno())


def test_nothing_else_is_waited_for_or_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("fifo", "zero"):
        with pytest.raises(NotRegularError, match="not a regular file"):
            read_regular(tmp_path / name, 1)
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path, 1)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "absent", 1)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(tmp_path / "socket"))
        with pytest.raises(OSError, match="No such device"):
            read_regular(tmp_path / "socket", 1)


BLOCK = 128 * 1024


def test_every_kind_of_entry_is_listed(tmp_path: Path) -> None:
    fill(tmp_path, {"dir/file": b"12345"})
    (tmp_path / "link").symlink_to("./dir//file")
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
    assert entries["link"].link_target == "./dir//file"  # to the letter


def test_links_out_of_the_root_are_listed_and_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "prime"
    root.mkdir()
    fill(tmp_path, {"secret/file": b"x"})
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "loop").symlink_to("loop")
    assert list(scan_directory(root).entries) == ["loop", "out"]


def test_hard_links_count_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(BLOCK + 1))
    os.link(tmp_path / "a", tmp_path / "b")
    inventory = scan_directory(tmp_path)
    assert len(inventory.entries) == 2
    assert inventory.file_count == 1
    assert inventory.raw_bytes == BLOCK + 1
    assert inventory.data_blocks == 2


def test_holes_that_exceed_the_contents_by_far_are_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(CONTENTS_FREE_BYTES // 2 + 1)
    with pytest.raises(BadDataError, match=r"claim 17\.18 GB and take 0 B"):
        scan_directory(tmp_path)
    (tmp_path / "contents").write_bytes(b"x" * 4096)  # which are granted some more
    inventory = scan_directory(tmp_path)
    assert inventory.raw_bytes > CONTENTS_FREE_BYTES
    assert inventory.entries["one"].sparse


def test_what_snap_pack_leaves_out_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git/objects").mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/.git").write_bytes(b"kept")
    (tmp_path / "lib/old.snap").write_bytes(b"")
    assert list(scan_directory(tmp_path).entries) == ["lib", "lib/.git"]


def test_order_is_that_of_bytes_parents_first(tmp_path: Path) -> None:
    for name in ("b", "a", "B", "é", os.fsdecode(b"\xff")):
        (tmp_path / name).mkdir()
    (tmp_path / "a/z").write_bytes(b"")
    names = list(scan_directory(tmp_path).entries)
    assert names == ["B", "a", "b", "é", "\udcff", "a/z"]


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
    assert "f09\nand 2 more" in str(caught.value.details)
    mocker.patch("os.scandir", side_effect=PermissionError(13, "Permission denied"))
    with pytest.raises(NoInputError, match="Cannot read 1 entry") as caught:
        scan_directory(tmp_path)
    assert "chmod" in str(caught.value.resolution)


def test_directory_that_vanishes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        scan_directory(tmp_path / "gone")


@given(st.lists(st.integers(min_value=1, max_value=5 * BLOCK), max_size=8))
def test_blocks_cover_every_file_once(sizes: list[int]) -> None:
    files = [(f"f{number}", size) for number, size in enumerate(sizes)]
    layout = make_layout(files)
    blocks = [layout.block(number) for number in range(layout.block_count)]
    for path, size in files:
        ranges = [(b.offset, b.offset + b.raw_bytes) for b in blocks if b.path == path]
        assert ranges[0][0] == 0
        assert ranges[-1][1] == size
        assert all(end == start for (_, end), (start, _) in zip(ranges, ranges[1:]))  # noqa: B905, RUF007 # neighbours, the last one has none
    assert [b.raw_bytes for b in blocks] == layout.raw_bytes().tolist()


def test_equal_contents_are_laid_out_once() -> None:
    head = b"h" * HEAD_BYTES
    layout = lay_out(
        make_payload(
            {
                "a": b"same",
                "b": b"same",
                "c": b"else",
                "d": head + b"one",
                "e": head + b"two",
                "f": head + b"one",
                "empty": b"",
                "empty-too": b"",
            }
        )
    )
    assert layout.paths == ("a", "c", "d", "e")
    assert layout.same_as == {"b": "a", "f": "d"}
    assert layout.blocks_of("f") == layout.blocks_of("d")
    assert layout.blocks_of("empty") == range(0)


def test_hard_links_share_their_blocks_and_holes_are_known(tmp_path: Path) -> None:
    fill(tmp_path, {"meta/snap.yaml": "name: x"})
    with (tmp_path / "sparse").open("wb") as file:
        file.seek(5 * BLOCK)
        file.write(b"x" * BLOCK)
        file.truncate(9 * BLOCK)
    (tmp_path / "two").hardlink_to(tmp_path / "sparse")
    layout = lay_out(DirectoryPayload(tmp_path))
    assert layout.same_as == {"two": "sparse"}
    holes = layout.holes[list(layout.blocks_of("two"))]
    assert holes.tolist() == [*[True] * 5, False, *[True] * 3]
