"""Deltas made as snapd makes them, and applied as snapd applies them.

The commands and their options are those of ``snap/squashfs/delta.go`` of snapd (commit
bee548f): ``generatePlainXdelta3Delta``, ``generateXdelta3Delta``, ``applySnapDelta``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import ToolError
from ..core.files import first_difference
from ..core.frozen import frozen
from ..payload.source import Payload
from ..squashfs.image import Image
from ..squashfs.mksquashfs import (
    MINIMUM_IMAGE_BYTES,
    applies_deltas,
    mksquashfs_version,
)
from ..squashfs.superblock import SUPERBLOCK_BYTES
from ..trial.exact import pack_with
from ..trial.result import Progress
from .pipeline import Stage, run_stages

HEADER_BYTES = 32
"""What snapd writes before a snap-aware delta (``deltaHeaderSize``)."""
_GENERATE = ("-da", "128", "-fr", "128")
_OPTIONS = (
    (4, True, "-no-fragments"),
    (6, False, "-no-duplicates"),
    (7, True, "-exports"),
    (9, True, "-no-xattrs"),
)
"""The superblock's flags by bit, and which option of mksquashfs snapd makes of each
(``superBlockFlagsToMksquashfsArgs``)."""


@frozen
class Rebuild:
    """Whether a snap-aware delta gives the new image again.

    :param equal: byte for byte; ``None`` where it couldn't be tried.
    :param reason: why it isn't equal, or couldn't be tried.
    """

    equal: bool | None
    reason: str | None = None


def check_xdelta3() -> None:
    """Refuse to go on without xdelta3.

    :raises ToolError: where it isn't installed.
    """
    if shutil.which("xdelta3") is None:
        message = "xdelta3 is not installed"
        raise ToolError(
            message,
            resolution="Install it, for instance with 'sudo apt install xdelta3', or "
            "omit --exact.",
        )


def image_of(payload: Payload, codec: str, scratch: Path, progress: Progress) -> Path:
    """Return a payload's image with a codec: its own, or one that is packed.

    :param scratch: an empty directory, where it is packed.
    :raises ToolError: where mksquashfs is missing, fails or lacks the codec.
    """
    if payload.packed_with == codec:
        return payload.path
    for _, image in pack_with((codec,), payload, scratch, progress):
        if image is not None:
            return image
    message = f"mksquashfs can't pack with {codec}"
    raise ToolError(message, resolution="Choose another codec with --codec.")


def make_plain_delta(old: Path, new: Path, delta: Path) -> int:
    """Make a plain delta between two images and return its size in bytes."""
    arguments = ("-3", "-f", "-e", "-s", str(old), str(new), str(delta))
    run_stages([Stage(command=("xdelta3", *arguments))])
    return delta.stat().st_size


def make_snap_aware_delta(old: Path, new: Path, delta: Path) -> int:
    """Make a snap-aware delta, without its header; return its size with it."""
    pipes = [delta.with_suffix(suffix) for suffix in (".old", ".new")]
    _make_pipes(pipes)
    unpack = ("unsquashfs", *_GENERATE, "-no-progress", "-pf")
    stages = [
        Stage(command=(*unpack, str(pipe), str(image)))
        for pipe, image in zip(pipes, (old, new), strict=True)
    ]
    encode = ("xdelta3", "-7", "-e", "-f", "-A", "-s", str(pipes[0]), str(pipes[1]))
    stages.append(Stage(command=(*encode, str(delta))))
    run_stages(stages)
    return delta.stat().st_size + HEADER_BYTES


def _make_pipes(pipes: Sequence[Path]) -> None:
    """Make named pipes in the place of what is there."""
    for pipe in pipes:
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe, 0o600)


def rebuild(old: Path, new: Path, delta: Path, target: Path) -> Rebuild:
    """Apply a snap-aware delta and compare the result with the new image.

    :param delta: as :func:`make_snap_aware_delta` made it.
    :param target: where to write the image.
    """
    version = mksquashfs_version()
    if not applies_deltas(version):
        reason = f"mksquashfs {version} can't read from a pipe; 4.6 and later can"
        return Rebuild(equal=None, reason=reason)
    source = delta.with_suffix(".source")
    _make_pipes([source])
    decode = ("xdelta3", "-d", "-f", "-c", "-s", str(source), str(delta))
    with Image.open(new) as image:
        options = _pack_options(image)
    pack = ("mksquashfs", "-", str(target), "-pf", "-", "-noappend", "-quiet")
    try:
        run_stages(
            [
                Stage(
                    command=("unsquashfs", "-no-progress", "-pf", str(source), str(old))
                ),
                Stage(command=decode, feeds_next=True),
                Stage(command=(*pack, *options)),
            ]
        )
    except ToolError as error:
        return Rebuild(equal=False, reason=f"it could not be applied: {error}")
    if target.stat().st_size < MINIMUM_IMAGE_BYTES:
        os.truncate(target, MINIMUM_IMAGE_BYTES)
    return _compared(new, target, version)


def _pack_options(image: Image) -> tuple[str, ...]:
    """Return what snapd reads from the delta's header: codec, flags, time."""
    block = image.superblock
    flags = [
        option
        for bit, wanted, option in _OPTIONS
        if bool(block.flags >> bit & 1) is wanted
    ]
    return ("-comp", block.codec, *flags, "-mkfs-time", str(block.modified_s))


def _compared(new: Path, rebuilt: Path, version: str) -> Rebuild:
    place = first_difference(new, rebuilt)
    if place is None:
        return Rebuild(equal=True)
    with Image.open(new) as image:
        block = image.superblock
    part = "files' contents"
    if place >= block.inode_table_start:
        part = "the tables behind the files' contents"
    elif place < SUPERBLOCK_BYTES:
        part = "the superblock"
    reason = (
        f"mksquashfs {version} packs them differently from byte {place:,} on, in {part}"
    )
    return Rebuild(equal=False, reason=reason)
