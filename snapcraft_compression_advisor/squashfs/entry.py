"""The entries of an image, and the places of their data blocks."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

SUPERBLOCK_BYTES = 96
"""The superblock stands at the very start of the image."""
MINIMUM_IMAGE_BYTES = 16 * 1024
"""``snap pack`` grows smaller images (``MinimumSnapSize``, snapd squashfs.go)."""
STORED_FLAG = 1 << 24
"""SQUASHFS_COMPRESSED_BIT_BLOCK: set in the size word of a block that is stored."""
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
    """The place of a data block, or of a fragment block with several files' tails.

    :param position: bytes from the image's start.
    :param stored_bytes: length in the image; 0 if the block is sparse.
    :param raw_bytes: length of its contents; of a fragment block's at most.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FragmentTail:
    """The part of a fragment block that holds a file's tail.

    :param index: number of the fragment block in the image, from 0.
    :param offset: bytes from the start of that block's contents.
    """

    index: int
    offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBlocks:
    """The data blocks of a file, in order; they stand side by side in the image.

    :param start: position of the first block, bytes from the image's start.
    :param size_words: one word a block as the inode has it: the stored size, 0 for a
        sparse block, with bit 24 set if the block is stored uncompressed.
    :param size_bytes: size of the whole file, its tail included.
    :param fragment: place of the tail, if it isn't a block of its own.
    :ivar stored_bytes: length of the data blocks in the image, without a fragment.
    """

    start: int
    size_words: array[int] = field(hash=False)
    size_bytes: int
    block_bytes: int
    fragment: FragmentTail | None
    stored_bytes: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        stored_bytes = self.bytes_between(0, len(self.size_words))
        object.__setattr__(self, "stored_bytes", stored_bytes)

    def __len__(self) -> int:
        """Return the number of data blocks, without the tail in a fragment."""
        return len(self.size_words)

    def __iter__(self) -> Iterator[ImageBlock]:
        return self.blocks()

    def blocks(
        self, first: int = 0, *, position: int | None = None
    ) -> Iterator[ImageBlock]:
        """Yield the data blocks in order from the ``first``, counted from 0.

        :param position: position of the first; by default counted from the start.
        """
        if position is None:
            position = self.start + self.bytes_between(0, first)
        for index in range(first, len(self.size_words)):
            word = self.size_words[index]
            yield ImageBlock(
                position=position,
                stored_bytes=word & SIZE_MASK,
                raw_bytes=self.raw_bytes(index),
                is_stored=bool(word & STORED_FLAG),
            )
            position += word & SIZE_MASK

    def filled_blocks(self) -> Iterator[tuple[int, ImageBlock]]:
        """Yield the data blocks that aren't sparse, with their numbers."""
        return ((n, block) for n, block in enumerate(self) if not block.is_sparse)

    def bytes_between(self, first: int, end: int) -> int:
        """Return the stored length of the blocks from the ``first`` to the end."""
        return sum(map(SIZE_MASK.__and__, self.size_words[first:end]))

    def raw_bytes(self, index: int) -> int:
        """Return the length of a data block's contents; all but a tail are full."""
        return min(self.block_bytes, self.size_bytes - index * self.block_bytes)


class ImageEntry(NamedTuple):
    """One name in the image, with the fields of its inode.

    :param path: names joined by ``/`` from the root, which is the empty path; bytes
        that aren't UTF-8 are escaped (``surrogateescape``).
    :param mode: permission bits, with set-user-id, set-group-id and sticky.
    :param size_bytes: size as ``stat`` has it: of a file's contents, of a symbolic
        link's target, of a directory's listing.
    :param blocks: place of a file's contents; absent for other kinds.
    """

    path: str
    kind: EntryKind
    mode: int
    uid: int
    gid: int
    modified_s: int
    inode: int
    size_bytes: int
    link_target: str | None
    blocks: FileBlocks | None
