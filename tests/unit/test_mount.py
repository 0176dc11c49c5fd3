"""Mounting, as far as it can be told without root."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture import loop_device, mount, page_cache
from snapcraft_compression_advisor.capture.mount import can_mount, mount_point
from snapcraft_compression_advisor.capture.page_cache import (
    drop_caches,
    drop_file_cache,
)
from snapcraft_compression_advisor.core.errors import StorageError, ToolError

if TYPE_CHECKING:
    from pytest_mock import MockerFixture


def capabilities(mocker: MockerFixture, mask: str) -> None:
    mocker.patch.object(
        Path, "read_text", return_value=f"Name:\tx\nCapEff:\t{mask}\nSeccomp:\t0\n"
    )


def test_without_the_capability_nothing_is_mounted(mocker: MockerFixture) -> None:
    capabilities(mocker, "00000000a80425fb")
    device = mocker.patch.object(mount, "free_loop_device")
    assert not can_mount()
    device.assert_not_called()


def test_without_a_loop_device_nothing_is_mounted(mocker: MockerFixture) -> None:
    capabilities(mocker, "000001ffffffffff")
    mocker.patch.object(loop_device, "LOOP_CONTROL", Path("/nowhere/loop-control"))
    assert not can_mount()


def test_with_both_images_can_be_mounted(mocker: MockerFixture) -> None:
    capabilities(mocker, "0000000000200000")
    mocker.patch.object(mount, "free_loop_device")
    assert can_mount()


def test_caches_that_may_not_be_dropped_are_a_clear_error(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch.object(page_cache, "_DROP_CACHES", tmp_path / "no/drop_caches")
    with pytest.raises(ToolError, match="Cannot drop") as caught:
        drop_caches()
    assert "root" in str(caught.value.resolution)


def test_dropping_caches_drops_pages_entries_and_inodes(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch.object(page_cache, "_DROP_CACHES", tmp_path / "drop_caches")
    sync = mocker.patch("os.sync")
    drop_caches()
    sync.assert_called_once_with()
    assert (tmp_path / "drop_caches").read_text() == "3\n"


def test_file_that_is_gone_cannot_be_dropped(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        drop_file_cache(tmp_path / "gone")


def test_mount_point_goes_also_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError), mount_point() as root:  # noqa: PT012 # an error within is what is tried
        assert tmp_path in root.parents
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_place_for_a_mount_point_that_is_not_there_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "no"))
    with pytest.raises(StorageError, match="Cannot write to"), mount_point():
        pytest.fail("made")


@pytest.fixture
def control(mocker: MockerFixture, tmp_path: Path) -> Path:
    """Return what stands in for the loop devices' control file."""
    path = tmp_path / "control"
    path.touch()
    mocker.patch.object(loop_device, "LOOP_CONTROL", path)
    mocker.patch.object(
        loop_device, "Path", lambda name: tmp_path / name.removeprefix("/dev/")
    )
    for number in range(20):
        (tmp_path / f"loop{number}").touch()
    return path


def test_device_that_somebody_else_took_is_left_to_them(
    control: Path, mocker: MockerFixture
) -> None:
    busy = OSError(errno.EBUSY, "busy")
    ioctl = mocker.patch("fcntl.ioctl", side_effect=[3, busy, 4, 0])
    with loop_device.loop_device(0) as path:
        assert path == control.parent / "loop4"
    configured = ioctl.call_args_list[-1].args[2]
    assert len(configured) == 304  # sizeof(struct loop_config)
    assert configured[60:64] == (1 | 4).to_bytes(4, "little")  # its lo_flags


def test_devices_that_are_always_taken_end_in_an_error(
    control: Path, mocker: MockerFixture
) -> None:
    assert control.exists()
    busy = OSError(errno.EBUSY, "busy")
    mocker.patch("fcntl.ioctl", side_effect=[3, busy] * 100)
    open_before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 # counts only
    with pytest.raises(OSError, match="busy"), loop_device.loop_device(0):
        pytest.fail("configured")
    assert len(os.listdir("/proc/self/fd")) == open_before  # noqa: PTH208 # likewise


def test_kernel_that_is_too_old_is_said_to_be(
    control: Path, mocker: MockerFixture
) -> None:
    assert control.exists()
    unknown = OSError(errno.EINVAL, "Invalid argument")
    mocker.patch("fcntl.ioctl", side_effect=[3, unknown])
    with pytest.raises(ToolError) as caught, loop_device.loop_device(0):
        pytest.fail("configured")
    assert "5.8" in str(caught.value.resolution)


def test_user_without_fusermount_is_told_what_to_install(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    mocker.patch("os.geteuid", return_value=1000)
    mocker.patch("shutil.which", lambda name: name if name == "squashfuse" else None)
    with (
        pytest.raises(ToolError, match="fusermount3") as caught,
        mount.fuse_mount(tmp_path / "image", tmp_path),
    ):
        pytest.fail("mounted")
    assert "fuse3" in str(caught.value.resolution)
