"""Which versions of squashfs-tools can do what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.core.errors import BadDataError, StorageError
from snapcraft_compression_advisor.preflight import resquash
from snapcraft_compression_advisor.squashfs.mksquashfs import applies_deltas, unpack

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("4.5.1", False),
        ("4.6", True),
        ("4.6.1", True),
        ("4.7.4-a8bb1d4d", True),
        ("4.10", True),
        ("5", True),
        ("unknown version", False),
    ],
)
def test_deltas_are_applied_from_4_6_on(version: str, *, expected: bool) -> None:
    assert applies_deltas(version) is expected


@pytest.mark.parametrize(
    ("says", "error"),
    [
        ("FATAL ERROR: Data queue size is too large", StorageError),
        ("FATAL ERROR: File system corruption detected", BadDataError),
    ],
)
def test_a_machine_that_unsquashfs_refuses_is_no_damaged_image(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: str,
    error: type[Exception],
) -> None:
    (tmp_path / "unsquashfs").write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    (tmp_path / "unsquashfs").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(error, match="cannot unpack"):
        unpack(tmp_path / "app.snap", tmp_path / "unpacked")
    (tmp_path / "app.snap").touch()
    with pytest.raises(error, match="cannot unpack"):
        resquash._unpack(  # what the store's review does first
            ("unsquashfs",), tmp_path / "app.snap", tmp_path / "tree", lambda _: None
        )
