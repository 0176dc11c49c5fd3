"""The read-ahead setting of a file system."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.loop_device import (
    device_read_ahead,
    open_with_read_ahead,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def setting(tmp_path: Path) -> Path:
    device = tmp_path.stat().st_dev
    folder = tmp_path / f"{os.major(device)}:{os.minor(device)}"
    folder.mkdir()
    (folder / "read_ahead_kb").write_text("2560\n")
    return folder / "read_ahead_kb"


def test_setting_is_put_back_after_an_error(tmp_path: Path, setting: Path) -> None:
    with (  # noqa: PT012 # an error within is what is tried
        pytest.raises(ZeroDivisionError),
        device_read_ahead(tmp_path, 128, settings=tmp_path) as in_force,
    ):
        assert in_force == 128
        assert setting.read_text() == "128\n"
        raise ZeroDivisionError
    assert setting.read_text() == "2560\n"


def test_setting_is_only_told_where_none_is_wanted(
    tmp_path: Path, setting: Path
) -> None:
    with device_read_ahead(tmp_path, None, settings=tmp_path) as in_force:
        assert in_force == 2560
        assert setting.read_text() == "2560\n"


def test_setting_that_is_not_there_is_not_known(tmp_path: Path, setting: Path) -> None:
    setting.unlink()
    with device_read_ahead(tmp_path, 128, settings=tmp_path) as in_force:
        assert in_force is None
    assert not setting.exists()


def test_disk_has_its_own_setting_again_once_the_file_is_open(
    tmp_path: Path, setting: Path
) -> None:
    (tmp_path / "image").write_text("contents")
    with open_with_read_ahead(tmp_path / "image", 128, settings=tmp_path) as descriptor:
        assert setting.read_text() == "2560\n"
        assert os.read(descriptor, 8) == b"contents"
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)
