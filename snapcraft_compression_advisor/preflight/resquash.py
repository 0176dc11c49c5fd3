"""The store's resquash: unpack an image, pack it again, compare byte for byte.

As ``check_squashfs_resquash`` in ``reviewtools/sr_security.py`` of Canonical's
review-tools does: ``unsquashfs``, then ``mksquashfs DIR FILE -fstime TIME -noappend
-comp CODEC -all-root -no-xattrs -no-fragments`` with the codec and the time of the
image, under umask 0. Times of files are those that unsquashfs restores.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolError
from ..core.files import first_difference
from ..core.scratch import scratch_directory
from ..core.units import MIB, format_bytes
from ..payload.source import Payload, SnapPayload, check_packed_size
from ..squashfs.entry import MINIMUM_IMAGE_BYTES, EntryKind, ImageEntry
from ..squashfs.image import Image
from ..squashfs.mksquashfs import (
    SYSTEM_SNAP_TYPES,
    mksquashfs_version,
    owner_options,
    run_tool,
    unpack,
)
from ..trial.result import Progress
from .differences import Difference, find_differences

_MARGIN_BYTES = 16 * MIB
"""Tables, and the file system's own."""
_CLUSTER_BYTES = 4096
"""What file systems allocate at once: ext4's, XFS's and btrfs's default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resquash:
    """Result of unpacking an image and packing it again.

    :param tool: mksquashfs with its version.
    :param equal: whether the two are identical, byte for byte.
    """

    tool: str
    options: tuple[str, ...]
    equal: bool
    differences: tuple[Difference, ...] = ()


def unpacked_bytes(entries: Iterable[ImageEntry]) -> int:
    """Return the largest size of entries unpacked: sparse blocks take nothing.

    Every name counts for a cluster of directory, link or inode; hard links share
    their contents.
    """
    inodes: set[int] = set()
    clusters = 0
    for entry in entries:
        clusters += 1
        size_bytes = entry.size_bytes if entry.kind is EntryKind.DIRECTORY else 0
        if entry.blocks is not None and entry.inode not in inodes:
            inodes.add(entry.inode)
            holes = (block.raw_bytes for block in entry.blocks if block.is_sparse)
            size_bytes = entry.blocks.size_bytes - sum(holes)
        clusters += -(-size_bytes // _CLUSTER_BYTES)
    return clusters * _CLUSTER_BYTES


def needed_bytes(image: Image) -> int:
    """Return the room that a repack takes: the files, and the image once more."""
    return unpacked_bytes(image.walk()) + image.image_bytes + _MARGIN_BYTES


def pack_again(payload: Payload, *, progress: Progress) -> Resquash | None:
    """Return the repack of a built snap; ``None`` for a prime directory."""
    if not isinstance(payload, SnapPayload):
        progress(f"{payload.path.name} isn't packed, so it can't be repacked")
        return None
    check_packed_size(payload)
    again = resquash(
        payload.path, payload.image, snap_type=payload.snap.type, progress=progress
    )
    same = "identical, byte for byte" if again.equal else "not the same"
    progress(f"Packed again with {again.tool}, {payload.path.name} is {same}")
    return again


def resquash(
    path: Path, image: Image, *, snap_type: str, progress: Progress
) -> Resquash:
    """Unpack an image, pack it again and compare; nothing stays behind.

    :param path: of the image, which is open.
    :raises StorageError: if the disk is too small, checked beforehand.
    :raises ToolError: if a tool is missing or fails.
    :raises BadDataError: if unsquashfs can't read the image.
    """
    superblock = image.superblock
    if snap_type in SYSTEM_SNAP_TYPES and os.geteuid() != 0:
        message = f"Packing a snap of type {snap_type!r} again needs root"
        raise ToolError(
            message,
            details="Its files' owners would be lost",
            resolution="Run the command as root.",
        )
    needed = needed_bytes(image)
    with scratch_directory(needed_bytes=needed) as scratch:
        progress(f"Unpacking {path.name} (needs {format_bytes(needed)} in {scratch})")
        unpack(path, scratch / "tree")
        # The store doesn't enforce the check for bases; those keep their owners and
        # attributes, as snap pack packs them.
        owners = owner_options(snap_type)
        options = ("-noappend", "-comp", superblock.codec, *owners)
        options += ("-no-fragments", "-no-progress")
        progress(f"Packing {path.name} again")
        repacked = scratch / "again.squashfs"
        run_tool(
            (
                *("mksquashfs", str(scratch / "tree"), str(repacked)),
                *("-fstime", str(superblock.modified_s), *options),
            )
        )
        progress("Comparing the two images")
        # A small image is padded as snap pack does if the first one is.
        if repacked.stat().st_size < MINIMUM_IMAGE_BYTES == image.image_bytes:
            os.truncate(repacked, MINIMUM_IMAGE_BYTES)
        place = first_difference(path, repacked)
        return Resquash(
            tool=f"mksquashfs {mksquashfs_version()}",
            options=options,
            equal=place is None,
            differences=()
            if place is None
            else tuple(find_differences(image, repacked, place)),
        )
