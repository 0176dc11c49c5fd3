"""An image's file, and large files in images."""

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from forged_image import (
    BLOCK_BYTES,
    DATA_START,
    STORED,
    ForgedImage,
    extended_file_inode,
    file_inode,
    tree,
)
from image_probe import NamelessSnap
from snapcraft_compression_advisor.core.errors import (
    AdvisorError,
    BadDataError,
    NoInputError,
    StorageError,
)
from snapcraft_compression_advisor.diff.files import unchanged_paths
from snapcraft_compression_advisor.preflight.resquash import unpacked_bytes
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.squashfs.image_file import ImageFile


def test_bytes_are_read_at_their_position(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"0123456789")
    path = tmp_path / "current.snap"
    path.symlink_to("image")
    with closing(ImageFile(path)) as file:
        assert file.size_bytes == 10
        assert file.read(3, 4) == b"3456"
        assert file.read(10, 0) == b""


@pytest.mark.parametrize(("position", "length"), [(-1, 1), (0, 11), (11, 0), (3, -1)])
def test_a_range_outside_of_the_file_is_refused(
    tmp_path: Path, position: int, length: int
) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with closing(ImageFile(path)) as file, pytest.raises(BadDataError, match="outside"):
        file.read(position, length)


@pytest.mark.parametrize("kind", ["directory", "fifo"])
def test_what_is_no_file_is_refused_without_waiting_and_closed(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "x.snap"
    (Path.mkdir if kind == "directory" else os.mkfifo)(path)
    before = open_descriptors()
    with pytest.raises(BadDataError, match="not a regular file"):
        ImageFile(path)
    assert open_descriptors() == before


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EACCES, NoInputError),
        (errno.EIO, StorageError),
        (errno.EMFILE, StorageError),
        (errno.ELOOP, StorageError),
    ],
)
def test_failures_to_open_are_told_apart(
    mocker: MockerFixture, tmp_path: Path, number: int, kind: type[AdvisorError]
) -> None:
    mocker.patch("os.open", side_effect=OSError(number, os.strerror(number)))
    with pytest.raises(kind, match=r"x\.snap"):
        ImageFile(tmp_path / "x.snap")


def test_a_disk_that_fails_in_the_middle_is_told_from_the_end(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with closing(ImageFile(path)) as file:
        failure = OSError(errno.EIO, os.strerror(errno.EIO))
        mocker.patch("os.pread", side_effect=failure)
        with pytest.raises(StorageError, match="reading 4 bytes at 2 failed"):
            file.read(2, 4)
        mocker.patch("os.pread", side_effect=[b"2", failure])
        with pytest.raises(StorageError, match="reading 3 bytes at 3 failed"):
            file.read(2, 4)
        mocker.patch("os.pread", side_effect=[b"2", b"345"])
        assert file.read(2, 4) == b"2345"


def test_a_file_that_shrinks_meanwhile_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with closing(ImageFile(path)) as file:
        os.truncate(path, 5)
        with pytest.raises(BadDataError, match="the file ends at 5"):
            file.read(0, 10)


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def test_a_path_that_is_not_utf8_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.snap")
    with pytest.raises(NoInputError) as caught:
        ImageFile(path)
    assert str(caught.value).encode().endswith(b"caf\\xe9.snap: no such file")


FULL = STORED | BLOCK_BYTES
WORDS = [FULL, 0, FULL, FULL, 0, 0, STORED | 100]
SIZE = 6 * BLOCK_BYTES + 100
CONTENTS = (
    b"".join(bytes([number]) * BLOCK_BYTES for number in range(1, 4)) + b"x" * 100
)


def image_of(*records: bytes) -> ForgedImage:
    """Return an image of these files, named a, b, c."""
    built = tree(*((b"%c" % (97 + n), record) for n, record in enumerate(records)))
    built.data = CONTENTS
    return built


def write(path: Path, built: ForgedImage) -> Path:
    path.write_bytes(built.build())
    return path


@pytest.fixture
def snap(tmp_path: Path) -> Iterator[NamelessSnap]:
    """Return a snap with one file, some of whose blocks are holes."""
    record = extended_file_inode(2, size=SIZE, words=WORDS)
    with Image.open(write(tmp_path / "x.snap", image_of(record))) as image:
        yield NamelessSnap(tmp_path / "x.snap", image, list(image.walk()))


@pytest.mark.parametrize("step", [1000, BLOCK_BYTES, 10_000])
@pytest.mark.parametrize("backwards", [False, True])
def test_pieces_in_any_order_make_up_the_file(
    snap: NamelessSnap,
    step: int,
    backwards: bool,  # noqa: FBT001 - a parameter of the test, given by name
) -> None:
    whole = snap.read("a", offset=0, length=SIZE)
    first, second, third = (CONTENTS[n : n + BLOCK_BYTES] for n in (0, 4096, 8192))
    hole = bytes(BLOCK_BYTES)
    assert whole == first + hole + second + third + hole * 2 + b"x" * 100
    offsets = list(range(0, SIZE, step))
    pieces = {
        offset: snap.read("a", offset=offset, length=step)
        for offset in (reversed(offsets) if backwards else offsets)
    }
    assert b"".join(pieces[offset] for offset in offsets) == whole


def test_ranges_of_a_file_leave_out_its_holes(snap: NamelessSnap) -> None:
    assert snap.data_ranges("a") == [
        (0, BLOCK_BYTES),
        (2 * BLOCK_BYTES, 4 * BLOCK_BYTES),
        (6 * BLOCK_BYTES, SIZE),
    ]


def test_a_tail_in_a_fragment_is_no_hole(tmp_path: Path) -> None:
    built = image_of(file_inode(2, size=5000, words=[0], fragment=0))
    built.fragments = [(DATA_START, STORED | 1000)]
    path = write(tmp_path / "x.snap", built)
    with Image.open(path) as image:
        payload = NamelessSnap(path, image, list(image.walk()))
        assert payload.data_ranges("a") == [(BLOCK_BYTES, 5000)]


@pytest.mark.parametrize(
    ("words", "size", "allocated"),
    [
        (WORDS, SIZE, 4),
        ([0, 0], BLOCK_BYTES + 100, 0),
        ([FULL, 0], BLOCK_BYTES + 100, 1),
        ([0, STORED | 100], BLOCK_BYTES + 100, 1),
        ([FULL, FULL], 2 * BLOCK_BYTES, 2),
    ],
)
def test_holes_take_nothing_unpacked(
    tmp_path: Path, words: list[int], size: int, allocated: int
) -> None:
    record = extended_file_inode(2, size=size, words=words)
    with Image.open(write(tmp_path / "x.snap", image_of(record))) as image:
        _, file = image.walk()
        assert unpacked_bytes([file]) == (1 + allocated) * 4096


class _OfAnotherCodec(NamelessSnap):
    """A snap whose stored blocks say nothing of those of the same snap."""

    @property
    def packed_with(self) -> str:
        return "another"


def test_copies_are_compared_once_and_holes_not_at_all(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    copies = [
        extended_file_inode(number, size=SIZE, words=WORDS) for number in range(2, 5)
    ]
    built = image_of(*copies)
    other = write(tmp_path / "y.snap", built)
    with Image.open(other) as image:
        new = NamelessSnap(other, image, list(image.walk()))
        old = _OfAnotherCodec(other, image, list(image.walk()))
        read = mocker.spy(NamelessSnap, "read")
        assert unchanged_paths(old, new) == {"a", "b", "c"}
        offsets = [call.kwargs["offset"] for call in read.call_args_list]
        assert sorted(set(offsets)) == [0, 2 * BLOCK_BYTES, 6 * BLOCK_BYTES]
        assert len(offsets) == 2 * 3


def test_a_change_between_holes_is_found(snap: NamelessSnap, tmp_path: Path) -> None:
    built = image_of(extended_file_inode(2, size=SIZE, words=WORDS))
    built.data = CONTENTS[:-1] + b"y"
    other = write(tmp_path / "y.snap", built)
    with Image.open(other) as image:
        new = NamelessSnap(other, image, list(image.walk()))
        assert unchanged_paths(snap, new) == frozenset()
        assert unchanged_paths(snap, snap) == {"a"}


def test_a_hole_that_was_filled_is_found(snap: NamelessSnap, tmp_path: Path) -> None:
    words = [FULL, FULL, 0, FULL, 0, 0, STORED | 100]
    built = image_of(extended_file_inode(2, size=SIZE, words=words))
    other = write(tmp_path / "y.snap", built)
    with Image.open(other) as image:
        new = NamelessSnap(other, image, list(image.walk()))
        assert unchanged_paths(snap, new) == frozenset()
