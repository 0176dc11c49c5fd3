"""What the inode of a regular file says of its contents.

Facts from the kernel's ``fs/squashfs/{squashfs_fs.h,inode.c,file.c}``.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.squashfs.damage import damaged
from snapcraft_compression_advisor.squashfs.entry import (
    SIZE_MASK,
    STORED_FLAG,
    FileBlocks,
    FragmentTail,
)

if TYPE_CHECKING:
    from snapcraft_compression_advisor.squashfs.superblock import Superblock

_WORD_BYTES = 4
_NO_FRAGMENT = 0xFFFF_FFFF  # SQUASHFS_INVALID_FRAG


class FileForms:
    """Interprets the inodes of an image's regular files.

    :param where: the image's path, for messages.
    """

    def __init__(self, superblock: Superblock, *, where: str) -> None:
        self._superblock = superblock
        self._where = where

    def words_bytes(self, size_bytes: int, fragment: int) -> int:
        """Return what the size words behind the inode take: four bytes a block.

        :param size_bytes: the file's size.
        :param fragment: index of the fragment block with its tail, as the inode has it.
        """
        count, tail_bytes = divmod(size_bytes, self._superblock.block_bytes)
        has_short_block = tail_bytes and fragment == _NO_FRAGMENT
        return (count + 1 if has_short_block else count) * _WORD_BYTES

    def tail(
        self, number: int, fragment: int, *, offset: int, size_bytes: int
    ) -> FragmentTail | None:
        """Return where a file's tail is, unless it is a block of its own.

        :raises BadDataError: where there is no such fragment, or not that much in it.
        """
        tail_bytes = size_bytes % self._superblock.block_bytes
        if fragment == _NO_FRAGMENT:
            return None
        if fragment >= self._superblock.fragment_count:
            raise damaged(self._where, f"inode {number} has no fragment {fragment}")
        if offset + tail_bytes > self._superblock.block_bytes:
            raise damaged(self._where, f"inode {number}'s tail exceeds its fragment")
        if not tail_bytes:
            return None
        return FragmentTail(index=fragment, offset=offset, size_bytes=tail_bytes)

    def blocks(
        self,
        number: int,
        *,
        start: int,
        size_bytes: int,
        words: bytes,
        tail: FragmentTail | None,
    ) -> FileBlocks:
        """Return where a file's contents are.

        :param number: the inode's number, for messages.
        :param start: position of the first block, bytes from the image's start.
        :param words: the size words, little-endian.
        :raises BadDataError: where a block is longer than the image's block size, or
            outside of the image.
        """
        size_words = array("I")
        size_words.frombytes(words)
        if sys.byteorder == "big":
            size_words.byteswap()
        self._check(number, start, size_words)
        return FileBlocks(
            start=start,
            size_words=size_words,
            size_bytes=size_bytes,
            block_bytes=self._superblock.block_bytes,
            fragment=tail,
        )

    def _check(self, number: int, start: int, words: array[int]) -> None:
        """Refuse blocks longer than the block size or outside of the image."""
        limit = self._superblock.block_bytes
        end = start
        for word in words:
            stored_bytes = word & SIZE_MASK
            if word > STORED_FLAG | limit or stored_bytes > limit:
                raise damaged(self._where, f"inode {number} has size word {word:#x}")
            if word == STORED_FLAG:
                raise damaged(self._where, f"inode {number} has an empty stored block")
            end += stored_bytes
        if end > self._superblock.used_bytes and end > start:
            raise damaged(self._where, f"inode {number}'s data go past the image's end")
