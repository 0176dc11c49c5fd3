"""Mounts and directories of a run, and what is left of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from machine import no_right_to_mount
from snapcraft_compression_advisor.capture.mount import (
    CAP_SYS_ADMIN,
    can_mount,
    has_capability,
    mount_point,
    ubuntu_read_ahead,
)
from snapcraft_compression_advisor.capture.page_cache import (
    drop_caches,
    drop_file_cache,
)
from snapcraft_compression_advisor.core import scratch
from snapcraft_compression_advisor.core.errors import StorageError, ToolError
from snapcraft_compression_advisor.core.scratch import (
    HELD_MODE,
    PREFIX,
    held_directory,
    hold,
    remove_leftovers,
)


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


RUN = """\
import pathlib, signal, sys
from snapcraft_compression_advisor.core.scratch import held_directory
with held_directory(pathlib.Path(sys.argv[1])) as name:
    print(name, flush=True)
    signal.pause()
"""


def killed_run(place: Path) -> Path:
    """Return the directory of a run that was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(place)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().rstrip("\n"))
        process.kill()
    return left


def test_directory_goes_at_the_end_with_all_that_is_in_it(tmp_path: Path) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 # counts only
    with held_directory(tmp_path) as name:
        (Path(name) / "tree").mkdir()
        (Path(name) / "tree/file").write_text("x")
        (Path(name) / "tree").chmod(0)
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208 # as above


def test_next_run_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    left = killed_run(tmp_path)
    (left / "image").write_text("x")
    with held_directory(tmp_path) as name:
        assert list(tmp_path.iterdir()) == [Path(name)]


def test_directory_of_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    with held_directory(tmp_path) as first, held_directory(tmp_path) as second:
        assert set(tmp_path.iterdir()) == {Path(first), Path(second)}


def test_directory_of_a_run_killed_before_it_was_locked_goes_too(
    tmp_path: Path,
) -> None:
    (tmp_path / f"{PREFIX}young").mkdir(mode=0o700)
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_directory_taken_for_a_leftover_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Path] = []

    def hold_late(directory: Path) -> int | None:
        if not taken:
            taken.append(directory)
            remove_leftovers(tmp_path)
        return hold(directory)

    monkeypatch.setattr(scratch, "hold", hold_late)
    with held_directory(tmp_path) as name:
        assert name.is_dir()
        assert name.stat().st_mode & HELD_MODE
        assert not taken[0].exists()


@pytest.mark.parametrize(
    "kind", ["file", "link", "other name", "other user", "never locked"]
)
def test_what_no_run_has_made_is_left_alone(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    kept.chmod(0o700 | HELD_MODE)
    (kept / "file").touch()
    path = tmp_path / f"{PREFIX}1"
    if kind == "file":
        path.touch()
        path.chmod(0o600 | HELD_MODE)
    elif kind == "link":
        path.symlink_to(kept)
    elif kind == "never locked":
        kept = kept.rename(path)
        kept.chmod(0o700)
    elif kind == "other user":
        kept = kept.rename(path)
        user = os.geteuid()
        monkeypatch.setattr("os.geteuid", lambda: user + 1)
    remove_leftovers(tmp_path)
    assert (kept / "file").exists()
    assert kind == "other name" or os.path.lexists(path)


def test_what_is_still_mounted_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed_run(tmp_path)
    (left / "root").mkdir()
    (left / "root/file").touch()
    monkeypatch.setattr(scratch, "_mounts_below", lambda path: [f"{path}/root"])
    monkeypatch.setattr(scratch, "unmount", lambda _root: None)
    remove_leftovers(tmp_path)
    assert (left / "root/file").exists()


def test_directory_without_locks_is_never_taken_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError

    monkeypatch.setattr("fcntl.flock", refused)
    assert hold(tmp_path) is None
    assert not tmp_path.stat().st_mode & HELD_MODE


def test_names_in_the_mount_table_are_read_as_they_are_written() -> None:
    assert scratch.unescaped(rb"/a\040b\134c") == "/a b\\c"
