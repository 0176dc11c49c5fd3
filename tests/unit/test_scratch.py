"""Directories for files of a run, and the removal of deep trees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from snapcraft_compression_advisor.core import scratch
from snapcraft_compression_advisor.core.scratch import (
    HELD_MODE,
    PREFIX,
    held_directory,
    hold,
    remove_leftovers,
)

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
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208 # likewise


def test_next_run_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    left = killed_run(tmp_path)
    (left / "image").write_text("x")
    with held_directory(tmp_path) as name:
        assert list(tmp_path.iterdir()) == [Path(name)]


def test_directory_of_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    with held_directory(tmp_path) as first, held_directory(tmp_path) as second:
        assert set(tmp_path.iterdir()) == {Path(first), Path(second)}


def test_directory_that_is_not_locked_yet_is_left_alone(tmp_path: Path) -> None:
    young = tmp_path / f"{PREFIX}young"
    young.mkdir(mode=0o700)
    remove_leftovers(tmp_path)
    assert young.exists()


@pytest.mark.parametrize("kind", ["file", "link", "other name", "other user"])
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
