"""The inode table: the fields of each inode, in any of its 14 forms.

Facts from the kernel's ``fs/squashfs/{squashfs_fs.h,inode.c,symlink.c,file.c}``.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from .entry import (
    SIZE_MASK,
    STORED_FLAG,
    EntryKind,
    FileBlocks,
    FragmentTail,
    ImageEntry,
)
from .image_file import damaged
from .metadata import MetadataTable
from .superblock import Superblock

_HEADER = struct.Struct("<4H2I")  # type, mode, uid, gid, mtime, inode number
_SYMLINK = struct.Struct("<2I")
_LINKS_BYTES = 4
_WORD_BYTES = 4
_MODE_MASK = 0o7777
_SYMLINK_LIMIT_BYTES = 4096  # PAGE_SIZE in symlink.c; Linux's PATH_MAX as well
_NO_FRAGMENT = 0xFFFF_FFFF  # SQUASHFS_INVALID_FRAG
_LISTING_EXTRA_BYTES = 3  # a directory's size counts "." and "..", which it omits

INODE_BYTES_MIN = _HEADER.size + _LINKS_BYTES
"""The smallest inode: a FIFO or socket with its number of links."""

_FORMS = {
    1: (EntryKind.DIRECTORY, struct.Struct("<2I2HI")),
    2: (EntryKind.FILE, struct.Struct("<4I")),
    3: (EntryKind.SYMLINK, _SYMLINK),
    4: (EntryKind.BLOCK_DEVICE, struct.Struct("<2I")),
    5: (EntryKind.CHARACTER_DEVICE, struct.Struct("<2I")),
    6: (EntryKind.FIFO, struct.Struct("<I")),
    7: (EntryKind.SOCKET, struct.Struct("<I")),
    8: (EntryKind.DIRECTORY, struct.Struct("<4I2HI")),
    9: (EntryKind.FILE, struct.Struct("<3Q4I")),
    10: (EntryKind.SYMLINK, _SYMLINK),
    11: (EntryKind.BLOCK_DEVICE, struct.Struct("<3I")),
    12: (EntryKind.CHARACTER_DEVICE, struct.Struct("<3I")),
    13: (EntryKind.FIFO, struct.Struct("<2I")),
    14: (EntryKind.SOCKET, struct.Struct("<2I")),
}
"""Inode types to their kind and to the fields behind the common header."""
_BIG_ENDIAN = sys.byteorder == "big"
_BASIC_DIRECTORY_FIELDS = 5
_BASIC_FILE_FIELDS = 4
_Header: TypeAlias = tuple[str, EntryKind, int, int, int, int, int]
"""The first seven fields of an :class:`ImageEntry`, which are of every form."""


class Listing(NamedTuple):
    """The place of a directory's entries in the directory table.

    :param block: position of a metadata block, from the table's start.
    :param offset: bytes from the start of that block's contents.
    """

    block: int
    offset: int
    size_bytes: int


class Inode(NamedTuple):
    """An inode under one of its names.

    :param record_bytes: least length of the inode in the inode table.
    """

    entry: ImageEntry
    record_bytes: int
    listing: Listing | None = None


class InodeTable:
    """The inodes of an image, by reference.

    :param ids: user and group ids, which inodes name by index.
    :raises BadDataError: if the superblock's number of inodes doesn't fit in it.
    """

    def __init__(
        self,
        table: MetadataTable,
        *,
        superblock: Superblock,
        ids: Sequence[int],
        where: str,
    ) -> None:
        self._table = table
        self.contents = table.contents
        self.size_bytes = len(table.contents)
        self._superblock = superblock
        self._ids = ids
        self._where = where
        if superblock.inode_count * INODE_BYTES_MIN > self.size_bytes:
            reason = f"{superblock.inode_count} inodes don't fit in its inode table"
            raise damaged(where, reason)

    def read(self, reference: int, path: str) -> Inode:
        """Return the inode that a reference points to, as the entry of a path.

        :param reference: position of a metadata block (from the table's start)
            times 65,536, plus the offset in its contents.
        """
        start = self._table.locate(reference >> 16, reference & 0xFFFF)
        if start is None or start + _HEADER.size > self.size_bytes:
            raise damaged(self._where, f"no inode at reference {reference:#x}")
        header = _HEADER.unpack_from(self.contents, start)
        form, mode, uid, gid, modified_s, number = header
        if form not in _FORMS:
            raise damaged(self._where, f"inode {number} has unknown type {form}")
        if not 0 < number <= self._superblock.inode_count:
            raise damaged(self._where, f"inode number {number} is out of range")
        kind, layout = _FORMS[form]
        try:
            ids = self._ids[uid], self._ids[gid]
        except IndexError as error:
            reason = f"inode {number} refers to a missing id {max(uid, gid)}"
            raise damaged(self._where, reason) from error
        common = (path, kind, mode & _MODE_MASK, *ids, modified_s, number)
        body = start + _HEADER.size
        after = body + layout.size
        fields = layout.unpack(self._slice(body, layout.size, number))
        if kind is EntryKind.FILE:
            return self._file(common, start, after, fields)
        if kind is EntryKind.DIRECTORY:
            return _directory(common, after - start, fields)
        if kind is EntryKind.SYMLINK:
            return self._symlink(common, start, after, fields)
        return Inode(ImageEntry(*common, 0, None, None), after - start)

    def _slice(self, position: int, length: int, number: int) -> bytes:
        """Return bytes of the table that belong to an inode."""
        if position + length > self.size_bytes:
            reason = f"inode {number} extends past the inode table"
            raise damaged(self._where, reason)
        return self.contents[position : position + length]

    def _symlink(
        self, header: _Header, start: int, position: int, fields: tuple[int, ...]
    ) -> Inode:
        """Return a symbolic link; its target starts at the position."""
        number = header[-1]
        _, size_bytes = fields
        if not 0 < size_bytes <= _SYMLINK_LIMIT_BYTES:
            reason = f"inode {number} is a symbolic link of {size_bytes} bytes"
            raise damaged(self._where, reason)
        target = self._slice(position, size_bytes, number)
        if b"\0" in target:
            reason = f"inode {number} is a symbolic link with a NUL in its target"
            raise damaged(self._where, reason)
        text = target.decode("utf-8", "surrogateescape")
        entry = ImageEntry(*header, size_bytes, text, None)
        return Inode(entry, position + size_bytes - start)

    def _file(
        self, header: _Header, begin: int, position: int, fields: tuple[int, ...]
    ) -> Inode:
        """Return a regular file; its size words start at the position."""
        number = header[-1]
        if len(fields) == _BASIC_FILE_FIELDS:
            start, fragment, offset, size_bytes = fields
        else:
            start, size_bytes, _, _, fragment, offset, _ = fields
        limit = self._superblock.block_bytes
        count, tail_bytes = divmod(size_bytes, limit)
        tail = None
        if fragment == _NO_FRAGMENT:
            count += bool(tail_bytes)
        else:
            if fragment >= self._superblock.fragment_count:
                raise damaged(self._where, f"inode {number} has no fragment {fragment}")
            if offset + tail_bytes > limit:
                reason = f"inode {number}'s tail exceeds its fragment"
                raise damaged(self._where, reason)
            if tail_bytes:
                tail = FragmentTail(
                    index=fragment, offset=offset, size_bytes=tail_bytes
                )
        words = array("I", self._slice(position, count * _WORD_BYTES, number))
        if _BIG_ENDIAN:
            words.byteswap()
        blocks = FileBlocks(
            start=start,
            size_words=words,
            size_bytes=size_bytes,
            block_bytes=limit,
            fragment=tail,
        )
        if words:
            self._check_blocks(number, blocks)
        entry = ImageEntry(*header, size_bytes, None, blocks)
        return Inode(entry, position + count * _WORD_BYTES - begin)

    def _check_blocks(self, number: int, blocks: FileBlocks) -> None:
        """Refuse blocks longer than the block size or outside of the image."""
        limit = self._superblock.block_bytes
        # If no word is larger, all blocks are compressed.
        for word in blocks.size_words if max(blocks.size_words) > limit else ():
            if word > STORED_FLAG | limit or word & SIZE_MASK > limit:
                raise damaged(self._where, f"inode {number} has size word {word:#x}")
            if word == STORED_FLAG:
                raise damaged(self._where, f"inode {number} has an empty stored block")
        end = blocks.start + blocks.stored_bytes
        if end > self._superblock.used_bytes and blocks.stored_bytes:
            reason = f"inode {number}'s data extend past the end of the image"
            raise damaged(self._where, reason)


def _directory(header: _Header, record_bytes: int, fields: tuple[int, ...]) -> Inode:
    if len(fields) == _BASIC_DIRECTORY_FIELDS:
        block, _, size_bytes, offset, _ = fields
    else:
        _, size_bytes, block, _, _, offset, _ = fields
    listing = Listing(block, offset, max(0, size_bytes - _LISTING_EXTRA_BYTES))
    return Inode(ImageEntry(*header, size_bytes, None, None), record_bytes, listing)
