"""The superblock's flags, in words of mksquashfs.

Bits as in the kernel's ``fs/squashfs/squashfs_fs.h`` and ``squashfs_fs.h`` of
squashfs-tools.
"""

from __future__ import annotations

from collections.abc import Mapping

CHECK = 1 << 2
NO_FRAGMENTS = 1 << 4
DUPLICATES = 1 << 6
EXPORTABLE = 1 << 7
NO_XATTRS = 1 << 9
COMPRESSOR_OPTIONS = 1 << 10

SNAP_FLAGS = NO_FRAGMENTS | DUPLICATES | EXPORTABLE | NO_XATTRS
"""What ``snap pack`` leaves in an app's superblock, and the store's repack too."""

DELTA_FLAGS = NO_FRAGMENTS | DUPLICATES | EXPORTABLE | NO_XATTRS
"""Flags that snapd's delta hands to mksquashfs (``superBlockFlagsToMksquashfsArgs``
in snapd's ``snap/squashfs/delta.go``)."""

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


def odd_flags(flags: int, *, expected: int = SNAP_FLAGS) -> tuple[str, ...]:
    """Return in words what flags differ in from those expected, by bit.

    >>> odd_flags(SNAP_FLAGS ^ EXPORTABLE | 1)
    ('inodes uncompressed (-noI)', 'not exportable (-no-exports)')
    """
    differing = flags ^ expected
    return tuple(
        _word(1 << bit, flags)
        for bit in range(differing.bit_length())
        if differing >> bit & 1
    )


def _word(flag: int, flags: int) -> str:
    words = _SET if flags & flag else _UNSET
    return words.get(flag, f"flag {flag:#x} {'set' if flags & flag else 'unset'}")
