"""Opening by name what has an end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from snapcraft_compression_advisor.core.files import (
    NotRegularError,
    open_regular,
    read_regular,
)


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
