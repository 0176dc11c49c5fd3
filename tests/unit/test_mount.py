"""Mounts, and what reads ahead of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from machine import no_right_to_mount
from snapcraft_compression_advisor.capture import mount
from snapcraft_compression_advisor.capture.mount import (
    CAP_SYS_ADMIN,
    can_mount,
    has_capability,
    loop_device,
    mount_point,
    ubuntu_read_ahead,
)
from snapcraft_compression_advisor.capture.page_cache import (
    drop_caches,
    drop_file_cache,
)
from snapcraft_compression_advisor.core.errors import StorageError, ToolError


@pytest.mark.parametrize(
    ("mask", "may"),
    [
        ("00000000a80425fb", False),
        ("000001ffffffffff", True),
        ("0" * 10 + "200000", True),
    ],
)
def test_right_to_administer_is_one_capability(
    tmp_path: Path, mask: str, *, may: bool
) -> None:
    status = tmp_path / "status"
    status.write_text(
        f"Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t{mask}\nSeccomp:\t0\n"
    )
    assert has_capability(CAP_SYS_ADMIN, status) is may


def test_without_the_capability_nothing_is_mounted() -> None:
    with no_right_to_mount():
        assert not has_capability(CAP_SYS_ADMIN)
        assert not can_mount()


def test_caches_that_may_not_be_dropped_are_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="Cannot drop") as caught:
        drop_caches(tmp_path / "no/drop_caches")
    assert "root" in str(caught.value.resolution)


def test_file_that_is_gone_cannot_be_dropped(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="gone"):
        drop_file_cache(tmp_path / "gone")


def test_mount_point_goes_also_after_an_error(temporary_directory: Path) -> None:
    with pytest.raises(ZeroDivisionError), mount_point() as root:  # noqa: PT012 # an error within is what is tried
        assert temporary_directory in root.parents
        raise ZeroDivisionError
    assert list(temporary_directory.iterdir()) == []


def test_place_for_a_mount_point_that_is_not_there_is_a_storage_error(
    temporary_directory: Path,
) -> None:
    temporary_directory.rmdir()
    with pytest.raises(StorageError, match="Cannot write to"), mount_point():
        pytest.fail("made")


def test_kernel_that_cannot_set_up_loop_devices_is_said_to_be_too_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def open_null() -> Iterator[tuple[Path, int]]:
        descriptor = os.open("/dev/null", os.O_RDONLY)
        yield Path("/dev/null"), descriptor
        os.close(descriptor)

    monkeypatch.setattr(mount, "free_loop_device", open_null)
    with pytest.raises(ToolError) as caught, loop_device(0):
        pytest.fail("configured")
    assert "5.8" in str(caught.value.resolution)


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
        ubuntu_read_ahead(tmp_path, settings=tmp_path) as in_force,
    ):
        assert in_force == 128
        assert setting.read_text() == "128\n"
        raise ZeroDivisionError
    assert setting.read_text() == "2560\n"


def test_setting_that_is_not_there_is_not_known(tmp_path: Path, setting: Path) -> None:
    setting.unlink()
    with ubuntu_read_ahead(tmp_path, settings=tmp_path) as in_force:
        assert in_force is None
    assert not setting.exists()
