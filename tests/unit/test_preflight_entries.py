"""Owners, modes and room of an image's entries."""

from __future__ import annotations

from array import array

import pytest

from snapcraft_compression_advisor.preflight.packing import (
    find_mode_faults,
    find_number_fault,
    find_owner_faults,
)
from snapcraft_compression_advisor.preflight.resquash import unpacked_bytes
from snapcraft_compression_advisor.squashfs.entry import (
    EntryKind,
    FileBlocks,
    FragmentTail,
    ImageEntry,
)

CLUSTER = 4096
BLOCK = 131_072


def entry(  # noqa: PLR0913 # keywords, each with a default
    path: str = "a",
    *,
    kind: EntryKind = EntryKind.FILE,
    mode: int = 0o644,
    uid: int = 0,
    gid: int = 0,
    inode: int = 1,
    size_bytes: int = 0,
    blocks: FileBlocks | None = None,
) -> ImageEntry:
    return ImageEntry(
        path=path,
        kind=kind,
        mode=mode,
        uid=uid,
        gid=gid,
        modified_s=0,
        inode=inode,
        links=1,
        size_bytes=size_bytes,
        link_target=None,
        device=None,
        blocks=blocks,
    )


def blocks(*words: int, size_bytes: int, tail_bytes: int = 0) -> FileBlocks:
    tail = FragmentTail(index=0, offset=0, size_bytes=tail_bytes)
    return FileBlocks(
        start=96,
        size_words=array("I", words),
        size_bytes=size_bytes,
        block_bytes=BLOCK,
        fragment=tail if tail_bytes else None,
    )


@pytest.mark.parametrize(("uid", "gid"), [(1000, 0), (0, 5)])
def test_owner_other_than_root_is_told(uid: int, gid: int) -> None:
    (fault,) = find_owner_faults([entry(), entry("b", uid=uid, gid=gid)])
    assert (fault.path, fault.text) == ("b", f"owned by {uid}/{gid}")


@pytest.mark.parametrize(
    ("path", "kind", "mode"),
    [
        ("a", EntryKind.FILE, 0o666),
        ("a", EntryKind.FILE, 0o000),
        ("a", EntryKind.DIRECTORY, 0o700),
        ("a", EntryKind.DIRECTORY, 0o1777),
        ("", EntryKind.DIRECTORY, 0o555),
        ("meta", EntryKind.DIRECTORY, 0o777),
        ("a", EntryKind.SYMLINK, 0o777),
    ],
)
def test_ordinary_modes_are_no_fault(path: str, kind: EntryKind, mode: int) -> None:
    assert not find_mode_faults([entry(path, kind=kind, mode=mode)])


@pytest.mark.parametrize(
    ("path", "kind", "mode", "text"),
    [
        ("a", EntryKind.FILE, 0o4755, "mode -rwsr-xr-x"),
        ("a", EntryKind.FILE, 0o2644, "mode -rw-r-Sr--"),
        ("a", EntryKind.FILE, 0o1755, "mode -rwxr-xr-t"),
        ("a", EntryKind.DIRECTORY, 0o2775, "mode drwxrwsr-x"),
        ("a", EntryKind.DIRECTORY, 0o1770, "mode drwxrwx--T"),
        ("", EntryKind.DIRECTORY, 0o750, "mode drwxr-x---, which must have"),
        ("meta", EntryKind.DIRECTORY, 0o711, "r.xr.xr.x"),
        ("meta", EntryKind.DIRECTORY, 0o1755, "mode drwxr-xr-t, which"),
        ("a", EntryKind.SYMLINK, 0o755, "link of mode lrwxr-xr-x"),
        ("a", EntryKind.CHARACTER_DEVICE, 0o666, "a character device"),
        ("a", EntryKind.BLOCK_DEVICE, 0o666, "a block device"),
        ("a", EntryKind.FIFO, 0o644, "a FIFO"),
        ("a", EntryKind.SOCKET, 0o644, "a socket"),
    ],
)
def test_modes_and_kinds_that_apps_do_not_ship_are_told(
    path: str, kind: EntryKind, mode: int, text: str
) -> None:
    (fault,) = find_mode_faults([entry(path, kind=kind, mode=mode)])
    assert text in fault.text


def test_room_counts_hard_links_once_and_zeros_not_at_all() -> None:
    file = blocks(500, 0, 9, size_bytes=2 * BLOCK + 5)  # the second is a hole
    first = entry(inode=3, blocks=file)
    second = entry("b", inode=3, blocks=file)
    allocated = BLOCK + CLUSTER
    assert unpacked_bytes([first]) == CLUSTER + allocated
    assert unpacked_bytes([first, second]) == 2 * CLUSTER + allocated


def test_room_counts_tails_directories_and_links() -> None:
    tail = entry(blocks=blocks(size_bytes=10, tail_bytes=10))
    directory = entry("d", kind=EntryKind.DIRECTORY, inode=2, size_bytes=5000)
    link = entry("l", kind=EntryKind.SYMLINK, inode=4)
    assert unpacked_bytes([tail, directory, link]) == (2 + 3 + 1) * CLUSTER


def test_inodes_are_numbered_in_the_order_of_the_walk_and_the_root_last() -> None:
    root = entry("", kind=EntryKind.DIRECTORY, inode=3)
    one, two = entry("a", inode=1), entry("b", inode=2)
    link = entry("c", inode=1)
    assert find_number_fault([root, one, two, link]) is None
    fault = find_number_fault([root, entry("a", inode=2), entry("b", inode=1)])
    assert fault is not None
    assert (fault.path, fault.text) == (
        "a",
        "its inode has number 2, mksquashfs would give it 1",
    )
