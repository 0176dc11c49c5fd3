"""What is refused before the files without squashfs are copied, and their size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from machine import no_right_to_mount, write_script
from snapcraft_compression_advisor.capture import plain_copies
from snapcraft_compression_advisor.capture.plain_copies import (
    bytes_on_disk,
    check_plain_copies,
)
from snapcraft_compression_advisor.core.errors import ToolError


def allow_root_things(monkeypatch: pytest.MonkeyPatch, *, drops: bool = True) -> None:
    monkeypatch.setattr(plain_copies, "can_mount", lambda: True)
    monkeypatch.setattr(plain_copies, "can_drop_caches", lambda: drops)


def test_nothing_to_compare_with_needs_nothing() -> None:
    with no_right_to_mount():
        check_plain_copies(())


def test_user_who_cannot_mount_is_told_before_packing() -> None:
    with (
        no_right_to_mount(),
        pytest.raises(ToolError, match="Only root can compare with directory and ext4"),
    ):
        check_plain_copies(("directory", "ext4"))


def test_caches_that_cannot_be_dropped_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow_root_things(monkeypatch, drops=False)
    with pytest.raises(ToolError, match="Only root can compare with directory"):
        check_plain_copies(("directory",))


def test_ext4_needs_mkfs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    allow_root_things(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(plain_copies, "_SYSTEM_PROGRAMS", str(tmp_path))
    check_plain_copies(("directory",))
    with pytest.raises(ToolError, match=r"mkfs\.ext4 is not installed") as caught:
        check_plain_copies(("ext4",))
    assert "e2fsprogs" in str(caught.value.resolution)
    write_script(tmp_path / "mkfs.ext4", "exit 0")
    check_plain_copies(("ext4",))


def test_size_on_disk_counts_each_file_once_and_no_holes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(range(256)) * 400)
    alone = bytes_on_disk(tmp_path)
    os.link(tmp_path / "file", tmp_path / "other-name")
    assert bytes_on_disk(tmp_path) == alone
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(10_000_000)
    assert alone <= bytes_on_disk(tmp_path) < alone + 1_000_000
    assert bytes_on_disk(tmp_path / "file") >= 256 * 400
