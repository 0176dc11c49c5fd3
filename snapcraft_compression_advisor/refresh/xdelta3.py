"""Deltas made as snapd makes them, and applied as snapd applies them.

The commands and their options are those of ``snap/squashfs/delta.go`` of snapd (commit
bee548f): ``generatePlainXdelta3Delta``, ``generateXdelta3Delta``, ``applySnapDelta``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.child import ending_with_us
from ..core.errors import ToolError
from ..core.files import first_difference
from ..squashfs.entry import MINIMUM_IMAGE_BYTES, SUPERBLOCK_BYTES
from ..squashfs.image import Image
from ..squashfs.mksquashfs import applies_deltas, mksquashfs_version
from .pipeline import Stage, run_stages, without_options
from .stream import Stream

_ENCODE = ("xdelta3", "-7", "-e", "-f", "-A", "-s")
HEADER_BYTES = 32
"""What snapd writes before a snap-aware delta (``deltaHeaderSize``)."""
COPY_BYTES = 3
"""What a copy takes beside a byte that isn't copied: its code and its address, after
xdelta3 has compressed them. It only shares a delta among files."""
_OPTIONS = (
    (4, True, "-no-fragments"),
    (6, False, "-no-duplicates"),
    (7, True, "-exports"),
    (9, True, "-no-xattrs"),
)
"""The superblock's flags by bit, and which option of mksquashfs snapd makes of each
(``superBlockFlagsToMksquashfsArgs``)."""

Place = tuple[int, str]
"""If a file begins in what a delta makes, and its path; empty for no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """Whether a snap-aware delta gives the new image again.

    :param equal: byte for byte; None if it couldn't be tried.
    :param reason: why it isn't equal, or couldn't be tried.
    """

    equal: bool | None
    reason: str | None = None


def check_xdelta3() -> None:
    """Refuse to go on without xdelta3.

    :raises ToolError: if it isn't installed.
    """
    if shutil.which("xdelta3") is None:
        message = "xdelta3 isn't installed, so the sizes of deltas aren't known"
        raise ToolError(
            message,
            resolution="Install the package xdelta3, for instance with 'sudo apt "
            "install xdelta3'.",
        )


def make_plain_delta(old: Path, new: Path, delta: Path) -> int:
    """Make a plain delta between two images and return its size in bytes."""
    check_xdelta3()
    arguments = ("-3", "-f", "-e", "-s", str(old), str(new), str(delta))
    run_stages([Stage(("xdelta3", *arguments))])
    return delta.stat().st_size


def make_snap_aware_delta(old: Stream, new: Stream, delta: Path) -> int:
    """Make a snap-aware delta of two builds' contents; return its size in bytes.

    The contents are read here, so neither build has to be an image.

    :raises AdvisorError: if a build is broken or changes meanwhile.
    """
    check_xdelta3()
    with old.piped() as source, new.piped() as target:
        files = (f"/dev/fd/{source}", f"/dev/fd/{target}", str(delta))
        run_stages([Stage((*_ENCODE, *files), inherited=(source, target))])
    return delta.stat().st_size + HEADER_BYTES


def make_delta_of_images(old: Path, new: Path, delta: Path) -> int:
    """Make a snap-aware delta that can be applied; return its size with its header."""
    check_xdelta3()
    pipes = [_new_pipe(delta.with_suffix(suffix)) for suffix in (".old", ".new")]
    unpack = ("unsquashfs", "-da", "128", "-fr", "128", "-no-progress", "-pf")
    stages = [
        Stage((*unpack, str(pipe), str(image)))
        for pipe, image in zip(pipes, (old, new), strict=True)
    ]
    stages.append(Stage((*_ENCODE, *map(str, pipes), str(delta))))
    run_stages(stages)
    return delta.stat().st_size + HEADER_BYTES


def _new_pipe(path: Path) -> Path:
    path.unlink(missing_ok=True)
    os.mkfifo(path, 0o600)
    return path


def shares_of_files(
    delta: Path, size_bytes: float, places: Sequence[Place]
) -> dict[str, float]:
    """Return what each file adds to a delta, by its instructions.

    :param places: in ascending order, the first at 0.
    :raises ToolError: if xdelta3 can't read the delta.
    """
    weights: dict[str, float] = defaultdict(float)
    following = iter(places)
    (_, path), after = next(following), next(following, None)
    for offset, weight in _instructions(delta):
        while after is not None and after[0] <= offset:
            path, after = after[1], next(following, None)
        weights[path] += weight
    total = sum(weights.values()) or 1.0
    weights.pop("", None)
    return {path: weight / total * size_bytes for path, weight in weights.items()}


def _instructions(delta: Path) -> Iterator[tuple[int, float]]:
    """Yield where each instruction writes, and about what it takes in the delta.

    A window's first copy is a whole run that didn't change, and its address counts for
    nothing.
    """
    with subprocess.Popen(
        ending_with_us(("xdelta3", "printdelta", str(delta))),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=without_options(),
    ) as process:
        for line in process.stdout or ():
            # as "  000014 019  CPY_0     19 S@14"
            fields = line.split()
            if len(fields) < 4 or not fields[0].isdigit():  # noqa: PLR2004 # as above
                continue
            kind, length = fields[2], int(fields[3])
            yield int(fields[0]), length if kind == b"ADD" else COPY_BYTES
    if process.returncode != 0:
        message = f"xdelta3 printdelta failed with status {process.returncode}"
        raise ToolError(message, resolution="Check the installation of xdelta3.")


def rebuild(old: Path, new: Path, delta: Path, target: Path) -> Rebuild:
    """Apply a snap-aware delta and compare the result with the new image.

    :param delta: as :func:`make_delta_of_images` made it.
    :param target: path of the image to write.
    """
    version = mksquashfs_version()
    if not applies_deltas(version):
        reason = f"mksquashfs {version} can't read from a pipe; 4.6 and later can"
        return Rebuild(equal=None, reason=reason)
    source = _new_pipe(delta.with_suffix(".source"))
    unpack = ("unsquashfs", "-no-progress", "-pf", str(source), str(old))
    decode = ("xdelta3", "-d", "-f", "-c", "-s", str(source), str(delta))
    with Image.open(new) as image:
        options = _pack_options(image)
    pack = ("mksquashfs", "-", str(target), "-pf", "-", "-noappend", "-quiet")
    try:
        run_stages(
            [
                Stage(unpack),
                Stage(decode, feeds_next=True),
                Stage((*pack, *options)),
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
