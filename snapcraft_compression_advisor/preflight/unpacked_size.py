"""What an image's contents take on a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcraft_compression_advisor.squashfs.entry import FileBlocks, ImageEntry

_CLUSTER_BYTES = 4096
"""What file systems allocate at once: ext4's, XFS's and btrfs's default."""


def unpacked_bytes(entries: Iterable[ImageEntry]) -> int:
    """Return what entries take unpacked, at most: sparse blocks take nothing.

    Every name counts for a cluster of directory, link or inode; hard links share
    their contents.
    """
    inodes: set[int] = set()
    total = 0
    for entry in entries:
        total += _CLUSTER_BYTES
        if entry.kind is EntryKind.DIRECTORY:
            total += _clusters(entry.size_bytes)
        if entry.blocks is None or entry.inode in inodes:
            continue
        inodes.add(entry.inode)
        total += _clusters(_allocated_bytes(entry.blocks))
    return total


def _allocated_bytes(blocks: FileBlocks) -> int:
    """Return a file's length without its blocks of zeros."""
    words = blocks.size_words
    holes = words.count(0)
    if not holes:
        return blocks.size_bytes
    last_bytes = blocks.raw_bytes(len(words) - 1)
    short_bytes = 0 if words[-1] else blocks.block_bytes - last_bytes
    return blocks.size_bytes - holes * blocks.block_bytes + short_bytes


def _clusters(size_bytes: int) -> int:
    return -(-size_bytes // _CLUSTER_BYTES) * _CLUSTER_BYTES
