"""The superblock: an image's first 96 bytes.

Facts from the kernel's ``fs/squashfs/{squashfs_fs.h,super.c}`` and
``Documentation/filesystems/squashfs.rst``; everything is little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise

from ..codecs import DECOMPRESSORS
from .entry import SUPERBLOCK_BYTES
from .image_file import damaged, not_an_image

_LAYOUT = struct.Struct("<5I6H8Q")

_MAGIC = 0x73717368  # "hsqs" in the file
_MAGIC_SWAPPED = 0x68737173  # "sqsh": big-endian, written before version 4
_VERSION = (4, 0)
_BLOCK_LOG_MIN = 12
_BLOCK_LOG_MAX = 20  # SQUASHFS_FILE_MAX_LOG
ABSENT_TABLE = 0xFFFF_FFFF_FFFF_FFFF
"""SQUASHFS_INVALID_BLK: offset of a table that the image doesn't have."""


@dataclass(frozen=True, slots=True)
class Superblock:
    """The superblock's fields in their order; offsets are bytes from the image's start.

    ``fragment_table_start``, ``id_table_start`` and ``export_table_start`` point to
    the table's index; an absent export table has the offset :data:`ABSENT_TABLE`.
    """

    inode_count: int
    modified_s: int
    block_bytes: int
    fragment_count: int
    codec: str
    flags: int
    id_count: int
    root_inode_reference: int
    used_bytes: int
    id_table_start: int
    xattr_table_start: int
    inode_table_start: int
    directory_table_start: int
    fragment_table_start: int
    export_table_start: int

    @property
    def uncompressed_data(self) -> bool:
        """Whether mksquashfs ran with ``-noD``."""
        return bool(self.flags & 1 << 1)

    @property
    def has_compressor_options(self) -> bool:
        """Whether a block of compressor options follows the superblock."""
        return bool(self.flags & 1 << 10)


def _check_kind(raw: bytes, where: str) -> None:
    """Refuse what isn't a squashfs image of version 4.0."""
    if len(raw) < SUPERBLOCK_BYTES:
        raise not_an_image(where, f"too short for a squashfs image ({len(raw)} bytes)")
    (magic,) = struct.unpack_from("<I", raw)
    order = ">" if magic == _MAGIC_SWAPPED else "<"
    if magic not in {_MAGIC, _MAGIC_SWAPPED}:
        raise not_an_image(where, "not a squashfs image")
    major, minor = struct.unpack_from(f"{order}2H", raw, 28)
    if order == ">" or (major, minor) != _VERSION:
        endian = "big-endian " if order == ">" else ""
        version = f"{endian}squashfs version {major}.{minor}"
        raise not_an_image(where, f"{version} isn't supported, only 4.0 is")


def _check_tables(superblock: Superblock, *, image_bytes: int, where: str) -> None:
    """Refuse tables outside of the image or out of the order that writers keep."""
    used = superblock.used_bytes
    if used > image_bytes:
        raise damaged(where, f"truncated to {image_bytes} of {used} bytes")
    starts = [
        ("superblock", SUPERBLOCK_BYTES),
        ("inode table", superblock.inode_table_start),
        ("directory table", superblock.directory_table_start),
        ("id table", superblock.id_table_start),
        ("end", used),
    ]
    if superblock.fragment_count:
        starts.insert(3, ("fragment table", superblock.fragment_table_start))
    if superblock.export_table_start != ABSENT_TABLE:
        starts.insert(-2, ("export table", superblock.export_table_start))
    for (before, low), (after, high) in pairwise(starts):
        if low > high:
            raise damaged(where, f"its {after} ({high}) is before its {before} ({low})")
    if superblock.inode_count == 0 or superblock.id_count == 0:
        raise damaged(where, "no inodes or no ids")


def parse_superblock(raw: bytes, *, image_bytes: int, where: str) -> Superblock:
    """Return the superblock in an image's first 96 bytes.

    :param image_bytes: size of the image's file, in which the tables must lie.
    :raises BadDataError: if it is no squashfs 4.0 image, or contradicts itself.
    """
    _check_kind(raw, where)
    fields = _LAYOUT.unpack_from(raw)
    block_bytes, (codec_id, block_log) = fields[3], fields[5:7]
    if not _BLOCK_LOG_MIN <= block_log <= _BLOCK_LOG_MAX:
        raise damaged(where, f"block log {block_log} isn't between 12 and 20")
    if block_bytes != 1 << block_log:
        raise damaged(where, f"block size {block_bytes} isn't 2^{block_log}")
    if codec_id not in DECOMPRESSORS:
        raise damaged(where, f"unknown compression id {codec_id}")
    # Left out: the magic number, the block size's logarithm and the version.
    codec = DECOMPRESSORS[codec_id].name
    superblock = Superblock(*(*fields[1:5], codec, *fields[7:9], *fields[11:]))
    _check_tables(superblock, image_bytes=image_bytes, where=where)
    return superblock
