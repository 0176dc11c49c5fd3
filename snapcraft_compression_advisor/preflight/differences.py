"""Differences between an image and its repack, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path

from ..squashfs.entry import SUPERBLOCK_BYTES, ImageEntry
from ..squashfs.image import Image
from ..squashfs.superblock import Superblock

# Bits of the superblock's flags, as in the kernel's fs/squashfs/squashfs_fs.h and
# squashfs_fs.h of squashfs-tools.
CHECK = 1 << 2
NO_FRAGMENTS = 1 << 4
DUPLICATES = 1 << 6
EXPORTABLE = 1 << 7
NO_XATTRS = 1 << 9
COMPRESSOR_OPTIONS = 1 << 10

SNAP_FLAGS = NO_FRAGMENTS | DUPLICATES | EXPORTABLE | NO_XATTRS
"""What ``snap pack`` leaves in an app's superblock, and the store's repack too.

Of others, snapd tells mksquashfs nothing (``superBlockFlagsToMksquashfsArgs`` in
snapd's ``snap/squashfs/delta.go``)."""

_SET: Mapping[int, str] = {
    1 << 0: "inodes uncompressed (-noI)",
    1 << 1: "data uncompressed (-noD)",
    CHECK: "the check bit, which no squashfs 4.0 tool sets",
    1 << 3: "fragments uncompressed (-noF)",
    1 << 5: "tails in fragments (-tailends)",
    1 << 8: "extended attributes uncompressed (-noX)",
    COMPRESSOR_OPTIONS: "compressor options (-X...)",
    1 << 11: "ids uncompressed (-noId)",
}
_UNSET: Mapping[int, str] = {
    NO_FRAGMENTS: "made without -no-fragments",
    DUPLICATES: "duplicates kept (-no-duplicates)",
    EXPORTABLE: "not exportable (-no-exports)",
    NO_XATTRS: "made without -no-xattrs",
}


_LISTED = 5
"""Differences of files that are named: the first ones say enough."""
_CONSEQUENCES = re.compile(r".*_table_start|root_inode_reference")
"""Positions, which follow from the other fields."""
_ATTRIBUTES = ("kind", "mode", "uid", "gid", "modified_s", "size_bytes", "link_target")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that differs.

    :param part: of the image, such as ``superblock`` or ``file``.
    :param text: how, as a phrase; the image first, then its repack.
    :param path: of the file concerned.
    """

    part: str
    text: str
    path: str | None = None


def odd_flags(flags: int, *, expected: int = SNAP_FLAGS) -> tuple[str, ...]:
    """Return the flags that differ from those expected, in words, by bit.

    >>> odd_flags(SNAP_FLAGS ^ EXPORTABLE | 1)
    ('inodes uncompressed (-noI)', 'not exportable (-no-exports)')
    """
    odd = [1 << bit for bit in range(32) if (flags ^ expected) >> bit & 1]
    return tuple(
        _SET.get(flag, f"flag {flag:#x} set")
        if flags & flag
        else _UNSET.get(flag, f"flag {flag:#x} unset")
        for flag in odd
    )


def find_differences(image: Image, repack: Path, position: int) -> Iterator[Difference]:
    """Yield the differences of an image and its repack.

    :param position: of the first byte that differs.
    """
    with Image.open(repack) as again:
        ours = {entry.path: entry for entry in image.walk()}
        theirs = {entry.path: entry for entry in again.walk()}
        text = f"byte {position:,}, in {part_at(image, ours, position)}"
        yield Difference(part="first difference", text=text)
        yield from _superblock_differences(image.superblock, again.superblock)
        yield from islice(_entry_differences(ours, theirs), _LISTED)
        if image.image_bytes != again.image_bytes:
            text = f"{image.image_bytes:,} bytes, in the repack {again.image_bytes:,}"
            yield Difference(part="size of the file", text=text)


def part_at(image: Image, entries: Mapping[str, ImageEntry], position: int) -> str:
    """Return the part of an image at a byte, in words."""
    block = image.superblock
    if position < SUPERBLOCK_BYTES:
        return "the superblock"
    if position >= block.used_bytes:
        return "the padding"
    if position >= block.inode_table_start:
        return "the tables of inodes, directories and ids"
    for entry in entries.values():
        for number, data in enumerate(entry.blocks or ()):
            if data.position <= position < data.position + data.stored_bytes:
                return f"block {number} of {entry.path!r}"
    return "the fragments, or the data before the files"


def _superblock_differences(
    ours: Superblock, theirs: Superblock
) -> Iterator[Difference]:
    for field in fields(Superblock):
        left, right = getattr(ours, field.name), getattr(theirs, field.name)
        if left == right or _CONSEQUENCES.fullmatch(field.name):
            continue
        text = f"{field.name} {left}, in the repack {right}"
        if field.name == "flags":
            words = ", ".join(odd_flags(left, expected=right))
            text = f"flags {left:#x}, in the repack {right:#x}: {words}"
        yield Difference(part="superblock", text=text)


def _entry_differences(
    ours: Mapping[str, ImageEntry], theirs: Mapping[str, ImageEntry]
) -> Iterator[Difference]:
    for path, entry in ours.items():
        other = theirs.get(path)
        if other is None:
            yield Difference(part="file", path=path, text="is missing in the repack")
            continue
        for name in _ATTRIBUTES:
            left, right = getattr(entry, name), getattr(other, name)
            if left != right:
                shown = (oct(left), oct(right)) if name == "mode" else (left, right)
                text = f"{name} {shown[0]}, in the repack {shown[1]}"
                yield Difference(part="file", path=path, text=text)
    for path in sorted(theirs.keys() - ours.keys()):
        yield Difference(part="file", path=path, text="is only in the repack")
