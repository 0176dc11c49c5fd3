"""Directories that a stranger has made: deep, unreadable, protected."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from snapcraft_compression_advisor.capture.images import payload_copy
from snapcraft_compression_advisor.core.files import entries_below, remove_tree
from snapcraft_compression_advisor.core.scratch import (
    PREFIX,
    held_directory,
    hold,
)
from snapcraft_compression_advisor.payload.inventory import Entry
from snapcraft_compression_advisor.payload.source import Payload, open_payload
from trees import fill, make_deep

BEYOND_PATH_MAX = 5000
WITHIN_PATH_MAX = 1500  # more than Python recurses


@pytest.fixture
def memory() -> Iterator[Path]:
    """Return a directory in which thousands of others take no time."""
    place = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield place
    remove_tree(place)


def without_times(payload: Payload) -> list[Entry]:
    return [
        entry._replace(modified_s=0) for entry in payload.inventory.entries.values()
    ]


def test_removing_a_tree_doesnt_recurse(memory: Path) -> None:
    remove_tree(make_deep(memory / "tree", BEYOND_PATH_MAX))
    assert list(memory.iterdir()) == []


def test_unreadable_directories_are_removed(tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"closed/inner/file": ""})
    (tree / "closed/inner").chmod(0)
    (tree / "closed").chmod(0)
    remove_tree(tree)
    assert not tree.exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "kept").touch()
    tree.mkdir()
    (tree / "door").symlink_to(outside)
    os.mkfifo(tree / "fifo")
    (tree / "odd\n\udcff").mkdir()
    remove_tree(tree)
    assert not tree.exists()
    assert list(outside.iterdir()) == [outside / "kept"]
    assert outside.stat().st_mode & 0o777 == 0o750


def test_immutable_files_are_removed(tmp_path: Path) -> None:
    tree = fill(tmp_path / "tree", {"folder/file": ""})
    protect = ("chattr", "+i", tree / "folder/file", tree / "folder")
    if subprocess.run(protect, capture_output=True, check=False).returncode:
        pytest.skip("this user or file system doesn't have immutable files")
    remove_tree(tree)
    assert not tree.exists()


def test_what_cannot_be_removed_is_said_and_all_else_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    (tree / "busy").mkdir(parents=True)
    (tree / "file").touch()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(16, "Device or resource busy")  # as of a mount point

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(OSError, match="busy"):
        remove_tree(tree)
    assert list(tree.iterdir()) == [tree / "busy"]


def test_deep_leftovers_do_not_fail_a_later_run(memory: Path) -> None:
    left = make_deep(memory / f"{PREFIX}left", WITHIN_PATH_MAX)
    lock = hold(left)
    assert lock is not None
    os.close(lock)
    with held_directory(memory) as name:
        assert list(memory.iterdir()) == [Path(name)]


def test_listing_a_deep_tree_doesnt_recurse(memory: Path) -> None:
    make_deep(memory / "tree", WITHIN_PATH_MAX)
    assert [entry.name for entry in entries_below(memory / "tree")] == [
        *["a"] * WITHIN_PATH_MAX,
        "file",
    ]


def test_a_deep_payload_is_copied_with_its_modes_and_links(memory: Path) -> None:
    prime = make_deep(memory / "prime", WITHIN_PATH_MAX)
    (prime / "meta").mkdir(mode=0o711)
    (prime / "meta/snap.yaml").write_text("name: deep\n")
    (prime / "link").symlink_to("nowhere")
    (prime / "a").chmod(0o555)
    with (
        open_payload(prime) as payload,
        payload_copy(payload, memory) as copy,
        open_payload(copy) as copied,
    ):
        assert without_times(copied) == without_times(payload)
        assert (copy / "meta/snap.yaml").samefile(prime / "meta/snap.yaml")
    assert [each.name for each in memory.iterdir()] == ["prime"]
