"""The store's resquash: unpack an image, pack it again, compare byte for byte.

As ``check_squashfs_resquash`` in ``reviewtools/sr_security.py`` of Canonical's
review-tools does: ``unsquashfs``, then ``mksquashfs DIR FILE -fstime TIME -noappend
-comp CODEC -all-root -no-xattrs -no-fragments`` with the codec and the time of the
image, under umask 0. Times of files are those that unsquashfs restores.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from ..core.errors import BadDataError, ToolError
from ..core.files import first_difference
from ..core.frozen import frozen
from ..core.scratch import scratch_directory
from ..core.units import MIB, format_bytes
from ..payload.source import Payload, SnapPayload, check_packed_size
from ..squashfs.entry import EntryKind, FileBlocks, ImageEntry
from ..squashfs.image import Image
from ..squashfs.mksquashfs import (
    MINIMUM_IMAGE_BYTES,
    SYSTEM_SNAP_TYPES,
    mksquashfs_version,
    owner_options,
    run_watched,
)
from ..trial.result import Progress
from .differences import Difference, list_differences

_NOT_EVERYTHING = 2
"""Status of unsquashfs where an owner, device or attribute couldn't be restored."""
_MARGIN_BYTES = 16 * MIB
"""Tables, and what a file system keeps of its own."""
_CLUSTER_BYTES = 4096
"""What file systems allocate at once: ext4's, XFS's and btrfs's default."""
_STEP_PERCENT = 10
_ONE_AT_A_TIME = threading.Lock()
"""Room on the disk is looked at for one repack, which keeps all cores busy."""
_RESOLUTION = "Free some space, or set TMPDIR to a directory on a larger disk."


@frozen
class Resquash:
    """What became of an image that was unpacked and packed again.

    :param tool: mksquashfs with its version.
    :param options: it was packed with.
    :param equal: whether the two are identical, byte for byte.
    :param padded: whether the second had to be padded as ``snap pack`` does.
    :param differences: what differs, the first byte before all.
    """

    tool: str
    options: tuple[str, ...]
    equal: bool
    padded: bool = False
    differences: tuple[Difference, ...] = ()


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


def needed_bytes(image: Image) -> int:
    """Return what room a repack takes: the files, and the image once more."""
    return unpacked_bytes(image.walk()) + image.image_bytes + _MARGIN_BYTES


def repack_options(codec: str, snap_type: str) -> tuple[str, ...]:
    """Return mksquashfs's options for an image of a codec and a snap's type.

    The store doesn't enforce the check for bases; those keep their owners and
    attributes, as ``snap pack`` packs them.
    """
    owners = owner_options(snap_type)
    return ("-noappend", "-comp", codec, *owners, "-no-fragments", "-no-progress")


def pack_again(payload: Payload, *, progress: Progress) -> Resquash | None:
    """Return what a repack of a built snap comes to; ``None`` for a prime directory.

    :raises AdvisorError: see :func:`resquash`.
    """
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
    wrapper = _owner_keeper(snap_type)
    needed = needed_bytes(image)
    with (
        _ONE_AT_A_TIME,
        scratch_directory(
            resolution=_RESOLUTION,
            needed_bytes=needed,
            needs="unpacking and packing again needs",
        ) as scratch,
    ):
        progress(f"Unpacking {path.name} (needs {format_bytes(needed)} in {scratch})")
        _unpack(
            (*wrapper("-s", scratch), "unsquashfs", *_unpack_options(snap_type)),
            path,
            scratch / "tree",
            _share(progress, "Unpacked", needed - image.image_bytes - _MARGIN_BYTES),
        )
        options = repack_options(superblock.codec, snap_type)
        progress(f"Packing {path.name} again")
        repacked = scratch / "again.squashfs"
        run_watched(
            (
                *(*wrapper("-i", scratch), "mksquashfs", str(scratch / "tree")),
                *(str(repacked), "-fstime", str(superblock.modified_s), *options),
            ),
            watch=_share(progress, "Packed", superblock.used_bytes),
        )
        progress("Comparing the two images")
        padded = _pad(repacked, image.image_bytes)
        equal = first_difference(path, repacked) is None
        return Resquash(
            tool=f"mksquashfs {mksquashfs_version()}",
            options=options,
            equal=equal,
            padded=padded,
            differences=() if equal else _differences(path, image, repacked),
        )


def _differences(path: Path, image: Image, repacked: Path) -> tuple[Difference, ...]:
    with Image.open(repacked) as other:
        return list_differences(path, image, repacked, other)


def _unpack_options(snap_type: str) -> tuple[str, ...]:
    attributes = () if snap_type in SYSTEM_SNAP_TYPES else ("-no-xattrs",)
    return ("-no-progress", "-quiet", *attributes)


def _unpack(
    command: tuple[str, ...], image: Path, tree: Path, watch: Callable[[int], None]
) -> None:
    try:
        run_watched(
            (*command, "-d", str(tree), str(image.absolute())),
            watch=watch,
            accepted=(0, _NOT_EVERYTHING),
        )
    except ToolError as error:
        if shutil.which("unsquashfs") is None:
            raise
        message = f"unsquashfs cannot unpack {str(image)!r}"
        raise BadDataError(
            message,
            details=error.details or str(error),
            resolution="Check that the file is complete.",
        ) from error


def _owner_keeper(snap_type: str) -> Callable[[str, Path], tuple[str, ...]]:
    """Return what runs a tool so that owners and devices survive, where they count.

    An app is packed with ``-all-root``, so they don't. Else it needs root, or
    fakeroot, as the store's review has it.

    :raises ToolError: if there is neither.
    """
    if snap_type not in SYSTEM_SNAP_TYPES or os.geteuid() == 0:
        return lambda _option, _scratch: ()
    if shutil.which("fakeroot") is None:
        message = f"Packing a snap of type {snap_type!r} again needs root or fakeroot"
        raise ToolError(
            message,
            details="Its files' owners would be lost",
            resolution="Install fakeroot, or run the command as root.",
        )
    return lambda option, scratch: (
        "fakeroot",
        "--unknown-is-real",
        option,
        str(scratch / "fakeroot.env"),
        "--",
    )


def _share(progress: Progress, done: str, whole_bytes: int) -> Callable[[int], None]:
    """Return what tells the progress, each time that a tenth more is done."""
    told = 0

    def watch(written_bytes: int) -> None:
        nonlocal told
        percent = min(99, written_bytes * 100 // max(1, whole_bytes))
        if percent >= told + _STEP_PERCENT:
            told = percent // _STEP_PERCENT * _STEP_PERCENT
            progress(f"{done} {told} % of {format_bytes(whole_bytes)}")

    return watch


def _pad(repacked: Path, image_bytes: int) -> bool:
    """Pad a small image as ``snap pack`` does, where the first one is padded so."""
    small = repacked.stat().st_size < MINIMUM_IMAGE_BYTES == image_bytes
    if small:
        os.truncate(repacked, MINIMUM_IMAGE_BYTES)
    return small


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
