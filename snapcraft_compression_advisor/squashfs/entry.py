"""What an image holds: entries, and where their data blocks are."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import field
from enum import Enum
from typing import NamedTuple

from ..core.frozen import frozen

STORED_FLAG = 1 << 24
"""SQUASHFS_COMPRESSED_BIT_BLOCK: set in a size word where a block is stored."""
SIZE_MASK = STORED_FLAG - 1


class EntryKind(Enum):
    """Kind of a directory entry; the values are those of ``find -type``."""

    FILE = "f"
    DIRECTORY = "d"
    SYMLINK = "l"
    BLOCK_DEVICE = "b"
    CHARACTER_DEVICE = "c"
    FIFO = "p"
    SOCKET = "s"


class ImageBlock(NamedTuple):
    """Where a data block, or a fragment block with several files' tails, is.

    :param position: bytes from the image's start.
    :param stored_bytes: bytes in the image; 0 where the block is sparse.
    :param raw_bytes: of its contents; of a fragment block's at most.
    :param is_stored: whether the contents stand there uncompressed.
    """

    position: int
    stored_bytes: int
    raw_bytes: int
    is_stored: bool

    @property
    def is_sparse(self) -> bool:
        """Whether the block is a hole: zeros that take no room in the image."""
        return self.stored_bytes == 0

    @property
    def compressed(self) -> bool:
        """Whether reading it takes decompression."""
        return not self.is_stored and not self.is_sparse


@frozen
class FragmentTail:
    """The part of a fragment block that holds a file's tail.

    :param index: which of the image's fragment blocks, from 0.
    :param offset: bytes from the start of that block's contents.
    :param size_bytes: the tail's length, less than a block.
    """

    index: int
    offset: int
    size_bytes: int


@frozen
class FileBlocks:
    """The data blocks of a file, in order; they stand side by side in the image.

    :param start: position of the first block, bytes from the image's start.
    :param size_words: one word a block as the inode has it: the stored size, 0 for a
        sparse block, with bit 24 set where the block is stored uncompressed.
    :param size_bytes: size of the whole file, its tail included.
    :param fragment: where the tail is, if it isn't a block of its own.
    :ivar stored_bytes: what the data blocks take in the image, without a fragment.
    """

    start: int
    size_words: array[int] = field(hash=False)
    size_bytes: int
    block_bytes: int
    fragment: FragmentTail | None
    stored_bytes: int = field(init=False, compare=False, repr=False)

    def __init__(
        self,
        *,
        start: int,
        size_words: array[int],
        size_bytes: int,
        block_bytes: int,
        fragment: FragmentTail | None,
    ) -> None:
        # As all frozen classes have it, in a third of the time: images have many.
        put = object.__setattr__
        put(self, "start", start)
        put(self, "size_words", size_words)
        put(self, "size_bytes", size_bytes)
        put(self, "block_bytes", block_bytes)
        put(self, "fragment", fragment)
        put(self, "stored_bytes", sum(map(SIZE_MASK.__and__, size_words)))

    def __len__(self) -> int:
        """Return the number of data blocks, without the tail in a fragment."""
        return len(self.size_words)

    def __iter__(self) -> Iterator[ImageBlock]:
        return self.blocks()

    def blocks(
        self, first: int = 0, *, position: int | None = None
    ) -> Iterator[ImageBlock]:
        """Yield the data blocks in order from the ``first``, counted from 0.

        :param position: of the first; unless given, it is counted from the start.
        """
        if position is None:
            position = self.start + self.bytes_between(0, first)
        for index in range(first, len(self.size_words)):
            block = self._block(index, position)
            yield block
            position += block.stored_bytes

    def filled_blocks(self) -> Iterator[tuple[int, ImageBlock]]:
        """Yield the data blocks that aren't sparse, with their numbers."""
        position = self.start
        for index, word in enumerate(self.size_words):
            if word:
                yield index, self._block(index, position)
                position += word & SIZE_MASK

    def _block(self, index: int, position: int) -> ImageBlock:
        word = self.size_words[index]
        return ImageBlock(
            position=position,
            stored_bytes=word & SIZE_MASK,
            raw_bytes=self.raw_bytes(index),
            is_stored=bool(word & STORED_FLAG),
        )

    def bytes_between(self, first: int, end: int) -> int:
        """Return what the blocks from the ``first`` up to the end take in the image."""
        return sum(map(SIZE_MASK.__and__, self.size_words[first:end]))

    def raw_bytes(self, index: int) -> int:
        """Return the length of a data block's contents; all but a tail are full."""
        return min(self.block_bytes, self.size_bytes - index * self.block_bytes)


class ImageEntry(NamedTuple):
    """One name in the image, and what the inode behind it says.

    :param path: names joined by ``/`` from the root, which is the empty path; bytes
        that aren't UTF-8 are escaped (``surrogateescape``).
    :param mode: permission bits, with set-user-id, set-group-id and sticky.
    :param inode: inode number; hard links have the same.
    :param size_bytes: what ``stat`` calls the size: of a file its contents, of a
        symbolic link its target, of a directory its listing.
    :param device: device number as :func:`os.makedev` makes it.
    :param blocks: where a file's contents are; absent for other kinds.
    """

    path: str
    kind: EntryKind
    mode: int
    uid: int
    gid: int
    modified_s: int
    inode: int
    links: int
    size_bytes: int
    link_target: str | None
    device: int | None
    blocks: FileBlocks | None
