"""The file behind an image: read, missing, failing."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core.errors import (
    AdvisorError,
    BadDataError,
    NoInputError,
    StorageError,
)
from snapcraft_compression_advisor.squashfs.image_file import ImageFile

if TYPE_CHECKING:
    from pytest_mock import MockerFixture


def test_bytes_are_read_at_their_position(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with ImageFile(path) as file:
        assert file.size_bytes == 10
        assert file.read(3, 4) == b"3456"
        assert file.read(10, 0) == b""


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"contents")
    link = tmp_path / "current.snap"
    link.symlink_to("image")
    with ImageFile(link) as file:
        assert file.read(0, 8) == b"contents"


@pytest.mark.parametrize(("position", "length"), [(-1, 1), (0, 11), (11, 0), (3, -1)])
def test_a_range_outside_of_the_file_is_refused(
    tmp_path: Path, position: int, length: int
) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with ImageFile(path) as file, pytest.raises(BadDataError, match="outside"):
        file.read(position, length)


def test_a_missing_file_is_no_input(tmp_path: Path) -> None:
    with pytest.raises(NoInputError, match=r"absent\.snap: no such file"):
        ImageFile(tmp_path / "absent.snap")


def test_a_path_below_a_file_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoInputError):
        ImageFile(tmp_path / "file" / "absent.snap")


def test_a_directory_is_no_image(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match="not a regular file"):
        ImageFile(tmp_path)


def test_a_fifo_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(BadDataError, match="not a regular file"):
        ImageFile(path)


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


def test_a_failing_disk_is_a_storage_error(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with ImageFile(path) as file:
        failure = OSError(errno.EIO, os.strerror(errno.EIO))
        mocker.patch("os.pread", side_effect=failure)
        with pytest.raises(StorageError, match="reading 4 bytes at 2 failed"):
            file.read(2, 4)


def test_a_disk_that_fails_in_the_middle_is_told_from_the_end(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with ImageFile(path) as file:
        failure = OSError(errno.EIO, os.strerror(errno.EIO))
        mocker.patch("os.pread", side_effect=[b"2", failure])
        with pytest.raises(StorageError, match="reading 3 bytes at 3 failed"):
            file.read(2, 4)
        mocker.patch("os.pread", side_effect=[b"2", b"345"])
        assert file.read(2, 4) == b"2345"


def test_a_file_that_shrinks_meanwhile_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"0123456789")
    with ImageFile(path) as file:
        os.truncate(path, 5)
        with pytest.raises(BadDataError, match="the file ends at 5"):
            file.read(0, 10)


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def test_a_refused_file_leaves_no_descriptor_open(tmp_path: Path) -> None:
    before = open_descriptors()
    with pytest.raises(BadDataError):
        ImageFile(tmp_path)
    assert open_descriptors() == before


def test_closing_twice_closes_once(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.touch()
    file = ImageFile(path)
    file.close()
    with path.open() as other:  # has the same descriptor now
        file.close()
        assert other.read() == ""


def test_a_path_that_is_not_utf8_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.snap")
    with pytest.raises(NoInputError) as caught:
        ImageFile(path)
    assert str(caught.value).encode().endswith(b"caf\\xe9.snap: no such file")
