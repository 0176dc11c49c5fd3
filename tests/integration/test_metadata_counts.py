"""Metadata blocks on real mounts: the kernel's trace counts what look-ups read."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.capture.kernel_trace import metadata_reads
from snapcraft_compression_advisor.capture.mount import mounted
from snapcraft_compression_advisor.squashfs import mksquashfs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.mounts, pytest.mark.bubblewrap]

LOOK_UPS = 30
BLOCKS_PER_LOOK_UP = 2
"""Of a name that isn't there: one of the listing, and one of the directory's inode,
which has the index of a listing that is longer than a block."""


def write_directories(tree: Path) -> None:
    """Write directories whose listings are longer than a metadata block of 8 KiB."""
    for number in range(2 * LOOK_UPS):
        directory = tree / f"directory-{number:03}"
        directory.mkdir(parents=True)
        for file in range(1000):
            path = directory / f"{file}-{number:03}"
            path.touch()
            os.utime(path, (0, file * 7919 * number % 2**32))  # inodes that differ


def test_look_up_reads_two_blocks(tmp_path: Path) -> None:
    tree, image = tmp_path / "tree", tmp_path / "image"
    excludes = tmp_path / "excludes"
    excludes.touch()
    write_directories(tree)
    mksquashfs.pack(tree, image, codec="none", snap_type="app", exclude_file=excludes)
    directories = sorted(tree.iterdir())
    with ExitStack() as stack:
        root = stack.enter_context(mounted(image)).root
        for directory in directories:
            (root / directory.name).stat()
        # Open, they stay known where other tests drop the machine's caches meanwhile.
        opened = [
            os.open(root / directory.name, os.O_PATH | os.O_DIRECTORY)
            for directory in directories[: 2 * LOOK_UPS : 2]  # neighbours share
        ]
        for descriptor in opened:
            stack.callback(os.close, descriptor)
        with metadata_reads([root]) as reads:
            for descriptor in opened:
                os.access("!", os.F_OK, dir_fd=descriptor)
            count = reads.count(root, image)
    if count is None:
        pytest.skip("the kernel doesn't trace for this process")
    # A listing may begin at the very end of a block.
    assert count == pytest.approx(BLOCKS_PER_LOOK_UP * LOOK_UPS, rel=0.05)
