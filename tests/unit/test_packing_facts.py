"""How an image was packed: entries, order, first difference."""

from array import array
from pathlib import Path

import pytest

import forged_image as forged
from snapcraft_compression_advisor.core.files import first_difference
from snapcraft_compression_advisor.preflight.differences import (
    find_differences,
    part_at,
)
from snapcraft_compression_advisor.preflight.packing import (
    find_mode_faults,
    find_number_fault,
    find_order_fault,
    find_owner_faults,
)
from snapcraft_compression_advisor.preflight.resquash import unpacked_bytes
from snapcraft_compression_advisor.squashfs.entry import (
    EntryKind,
    FileBlocks,
    FragmentTail,
    ImageEntry,
)
from snapcraft_compression_advisor.squashfs.image import Image

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
        size_bytes=size_bytes,
        link_target=None,
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


START = forged.DATA_START


def fault(
    path: Path, *starts: int, data: bytes = bytes(20), **changes: int
) -> tuple[str, str] | None:
    """Return what is found in an image of files of ten bytes, by their starts."""
    files = [
        (
            f"f{number}".encode(),
            forged.file_inode(
                number + 2, size=10, start=start, words=[10 | forged.STORED]
            ),
        )
        for number, start in enumerate(starts)
    ]
    built = forged.tree(*files, **changes)
    built.data = data
    path.write_bytes(built.build())
    with Image.open(path) as image:
        found = find_order_fault(image, list(image.walk()))
    return None if found is None else (found.path, found.text)


@pytest.mark.parametrize("starts", [(START, START + 10), (START, START + 10, START)])
def test_files_one_behind_the_other_are_in_order(
    tmp_path: Path, starts: tuple[int, ...]
) -> None:
    assert fault(tmp_path / "image", *starts) is None


@pytest.mark.parametrize(
    ("starts", "length", "path", "said"),
    [
        ((10, 0), 20, "f0", "its data is at byte 106, mksquashfs writes it at 96"),
        ((0, 15), 25, "f1", "its data is at byte 111, mksquashfs writes it at 106"),
        ((0, 10), 27, "", "7 bytes between the last file and the inode table"),
    ],
)
def test_first_file_out_of_order_and_gaps_are_found(
    tmp_path: Path, starts: tuple[int, ...], length: int, path: str, said: str
) -> None:
    places = (START + each for each in starts)
    assert fault(tmp_path / "image", *places, data=bytes(length)) == (path, said)


def test_files_stand_behind_compressor_options(tmp_path: Path) -> None:
    options = b"\x04\x80\1\2\3\4"  # a stored metadata block of four bytes
    found = fault(
        tmp_path / "image",
        START + 6,
        START + 16,
        data=options + bytes(20),
        flags=1 << 10,
    )
    assert found is None


def test_images_with_fragments_are_not_looked_at(tmp_path: Path) -> None:
    built = forged.tree((b"f", forged.file_inode(2)))
    built.fragments = [(START, 5 | forged.STORED)]
    built.data = bytes(40)
    (tmp_path / "image").write_bytes(built.build())
    with Image.open(tmp_path / "image") as image:
        assert find_order_fault(image, list(image.walk())) is None


MIB = 1024 * 1024


def written(path: Path, contents: bytes) -> Path:
    path.write_bytes(contents)
    return path


@pytest.mark.parametrize(
    ("left", "right", "position"),
    [
        (b"", b"", None),
        (b"abc", b"abc", None),
        (b"abc", b"abd", 2),
        (b"abc", b"ab", 2),
        (bytes(MIB) + b"a", bytes(MIB) + b"b", MIB),
        (bytes(MIB), bytes(MIB) + b"b", MIB),
        (bytes(2 * MIB), bytes(MIB) + b"\1" + bytes(MIB - 1), MIB),
    ],
)
def test_first_byte_that_differs_is_found(
    tmp_path: Path, left: bytes, right: bytes, position: int | None
) -> None:
    one, other = written(tmp_path / "a", left), written(tmp_path / "b", right)
    assert first_difference(one, other) == position


def image_bytes(data: bytes, *, name: bytes = b"file", **changes: int) -> bytes:
    """Return an image of one file, whose data are stored."""
    record = forged.file_inode(2, size=len(data), words=[len(data) | forged.STORED])
    built = forged.tree((name, record), **changes)
    built.data = data
    return built.build()


def differences(tmp_path: Path, first: bytes, second: bytes) -> list[tuple[str, str]]:
    one, other = written(tmp_path / "a", first), written(tmp_path / "b", second)
    position = first_difference(one, other)
    assert position is not None
    with Image.open(one) as image:
        found = list(find_differences(image, other, position))
    return [(each.part, f"{each.path or ''}|{each.text}") for each in found]


def test_block_that_differs_is_named_with_its_file(tmp_path: Path) -> None:
    found = differences(tmp_path, image_bytes(b"one"), image_bytes(b"two"))
    assert found == [("first difference", "|byte 96, in block 0 of 'file'")]


def test_field_of_the_superblock_is_named(tmp_path: Path) -> None:
    found = differences(
        tmp_path, image_bytes(b"one", mkfs_time=7), image_bytes(b"one", mkfs_time=9)
    )
    assert found == [
        ("first difference", "|byte 8, in the superblock"),
        ("superblock", "|modified_s 7, in the repack 9"),
    ]


def test_file_that_is_in_one_only_is_named(tmp_path: Path) -> None:
    found = differences(
        tmp_path, image_bytes(b"one"), image_bytes(b"one", name=b"filf")
    )
    assert ("file", "file|is missing in the repack") in found
    assert ("file", "filf|is only in the repack") in found
    assert "in the tables of inodes, directories" in found[0][1]


def test_length_of_the_file_is_told(tmp_path: Path) -> None:
    image = image_bytes(b"one")
    found = differences(tmp_path, image + b"\0", image)
    assert found[0][1].endswith("in the padding")
    assert found[1] == (
        "size of the file",
        f"|{len(image) + 1} bytes, in the repack {len(image)}",
    )


def test_every_byte_of_an_image_has_its_part(tmp_path: Path) -> None:
    path = written(tmp_path / "a", image_bytes(b"one") + b"\0")
    with Image.open(path) as image:
        entries = {entry.path: entry for entry in image.walk()}
        parts = [part_at(image, entries, at) for at in range(image.image_bytes)]
    assert list(dict.fromkeys(parts)) == [
        "the superblock",
        "block 0 of 'file'",
        "the tables of inodes, directories and ids",
        "the padding",
    ]
