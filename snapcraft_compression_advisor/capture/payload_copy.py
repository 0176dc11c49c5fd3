"""Copies of a payload, to be changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.scratch import scratch_directory
from ..payload.source import Payload
from ..squashfs.entry import EntryKind
from ..squashfs.mksquashfs import unpack


@contextmanager
def payload_copy(payload: Payload, scratch: Path | None) -> Iterator[Path]:
    """Give a directory with a payload's files; removed at the end.

    Its files are hard links if that is possible: one that is to be changed is
    unlinked first.

    :param scratch: where it goes; the system's temporary directory by default.
    :raises AdvisorError: if there is no room.
    """
    advice = "Set TMPDIR to a directory on a larger disk."
    with scratch_directory(scratch, resolution=advice) as folder:
        tree = folder / "prime"
        if payload.kind == "snap":
            unpack(payload.path, tree)
        else:
            _link_files(payload, tree)
        yield tree


def _link_files(payload: Payload, tree: Path) -> None:
    """Make the payload's directories and links again, and hard links of its files."""
    folders = [("", payload.path.stat().st_mode)]
    tree.mkdir()
    for entry in payload.inventory.entries.values():
        if entry.kind is EntryKind.DIRECTORY:
            (tree / entry.path).mkdir()
            folders.append((entry.path, entry.mode))
        elif entry.kind is EntryKind.SYMLINK:
            (tree / entry.path).symlink_to(entry.link_target or "")
        elif entry.kind is EntryKind.FILE:
            _link_or_copy(payload.path / entry.path, tree / entry.path)
    for path, mode in reversed(folders):
        (tree / path).chmod(mode)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or a file of somebody else
        shutil.copy2(source, target, follow_symlinks=False)
