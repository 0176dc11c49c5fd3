"""A squashfs image, opened for reading.

Only what is asked for is read: the superblock on opening, the tables on the first
walk, and single data blocks after that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from typing_extensions import Self

from ..codecs import READERS
from ..codecs.lzo import Lzo
from ..codecs.xz import Xz
from .contents import FRAGMENT_RECORD, ContentsReader, Decompress
from .entry import ImageBlock, ImageEntry
from .image_file import ImageFile, damaged
from .inodes import InodeTable
from .metadata import MetadataReader, MetadataTable
from .superblock import ABSENT_TABLE, SUPERBLOCK_BYTES, parse_superblock
from .walk import DirectoryTable, Walk

_ID_BYTES = 4
_REFERENCE_BYTES = 8


class Image:
    """A squashfs 4.0 image; a context manager that closes its file.

    Data blocks may be read from several threads at once. Whatever is read raises
    :class:`BadDataError` where the image contradicts itself, or the range asked for
    isn't in it, and :class:`StorageError` where reading fails.

    :param file: the image's file, which the image closes.
    :ivar is_far: see :class:`ImageFile`.
    :raises BadDataError: where it is no squashfs image.
    """

    def __init__(self, file: ImageFile) -> None:
        self._file = file
        self.where = file.where
        self.is_far = file.is_far
        self.image_bytes = file.size_bytes
        self.superblock = parse_superblock(
            file.read(0, min(SUPERBLOCK_BYTES, file.size_bytes)),
            image_bytes=file.size_bytes,
            where=file.where,
        )
        self._codec = READERS[self.superblock.codec]
        self._metadata = MetadataReader(
            file, self._decompress, self.superblock.used_bytes
        )
        self.compressor_options: bytes | None = None
        if self.superblock.has_compressor_options:
            self.compressor_options = self._metadata.block(SUPERBLOCK_BYTES)

    @classmethod
    def open(cls, path: Path) -> Image:
        """Open an image.

        :raises NoInputError: where the file is missing or may not be read.
        :raises BadDataError: where it is no squashfs 4.0 image, or a damaged one.
        """
        file = ImageFile(path)
        try:
            return cls(file)
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Close the image's file; closing it again does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _decompress(self, block: bytes, max_bytes: int) -> bytes:
        """Return the contents of a compressed block of any kind."""
        return self._codec.decompress(block, max_bytes=max_bytes)

    @property
    def _decompress_some(self) -> Decompress | None:
        """What returns the beginning of a block's contents, where that pays.

        From lzo, the whole block comes as fast; but of a store, less is read.
        """
        codec = self._codec
        if isinstance(codec, Xz) or (isinstance(codec, Lzo) and self.is_far):
            return codec.decompress_some
        return None

    @cached_property
    def _indexed_tables(self) -> dict[str, tuple[int, int]]:
        """Start of its index and length of each table that has one, as in super.c.

        Where there are no fragments, the start of their table need not be in the image.
        """
        block = self.superblock
        tables = {}
        if block.fragment_count:
            size_bytes = block.fragment_count * FRAGMENT_RECORD.size
            tables["fragment table"] = block.fragment_table_start, size_bytes
        if block.export_table_start != ABSENT_TABLE:
            size_bytes = block.inode_count * _REFERENCE_BYTES
            tables["export table"] = block.export_table_start, size_bytes
        tables["id table"] = block.id_table_start, block.id_count * _ID_BYTES
        return tables

    def _indexed(self, name: str) -> bytes:
        """Return a table's contents; nothing where the image doesn't have it."""
        place = self._indexed_tables.get(name)
        return self._metadata.indexed(name, *place) if place else b""

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """User and group ids that inodes name by index."""
        return struct.unpack(f"<{self.superblock.id_count}I", self._indexed("id table"))

    @cached_property
    def export_table(self) -> bytes:
        """The inode references as they stand in the image, decompressed."""
        return self._indexed("export table")

    @cached_property
    def _contents(self) -> ContentsReader:
        return ContentsReader(
            self._file,
            self.superblock,
            self._decompress,
            decompress_some=self._decompress_some,
            fragments=self._indexed("fragment table"),
        )

    @cached_property
    def _inode_blocks(self) -> MetadataTable:
        start = self.superblock.inode_table_start
        end = self.superblock.directory_table_start
        return self._metadata.run("inode table", start, end)

    @cached_property
    def _inodes(self) -> InodeTable:
        return InodeTable(
            self._inode_blocks,
            superblock=self.superblock,
            ids=self.ids,
            where=self.where,
        )

    @cached_property
    def _directories_end(self) -> int:
        # Behind the directories stand the blocks of the next table, as in super.c.
        name, place = next(iter(self._indexed_tables.items()))
        end = self._metadata.index(name, *place)[0]
        if end < self.superblock.directory_table_start:
            raise damaged(self.where, f"its directory table ends at {end}")
        return end

    @cached_property
    def _directory_blocks(self) -> MetadataTable:
        start = self.superblock.directory_table_start
        return self._metadata.run("directory table", start, self._directories_end)

    @cached_property
    def _directories(self) -> DirectoryTable:
        return DirectoryTable(self._directory_blocks, where=self.where)

    @property
    def metadata_spans(self) -> tuple[tuple[int, int], ...]:
        """Where each block of the inodes and directories begins, and where it ends."""
        inodes, directories = (
            self.superblock.inode_table_start,
            self.superblock.directory_table_start,
        )
        starts = [
            *(inodes + offset for offset in self._inode_blocks.offsets),
            *(directories + offset for offset in self._directory_blocks.offsets),
        ]
        return tuple(pairwise([*starts, self._directories_end]))

    @property
    def inode_table(self) -> bytes:
        """The inodes as they stand in the image, decompressed."""
        return self._inodes.contents

    @property
    def directory_table(self) -> bytes:
        """The directories as they stand in the image, decompressed."""
        return self._directories.contents

    def walk(self) -> Iterator[ImageEntry]:
        """Yield every entry: parents first, children in their directory's order."""
        return Walk(
            self.superblock, self._inodes, self._directories, where=self.where
        ).entries()

    def read_block(self, block: ImageBlock) -> bytes:
        """Return the contents of one data block; nothing else is read."""
        return self._contents.block(block)

    def compressed(self, entry: ImageEntry, index: int) -> bytes | None:
        """Return a file's data block as the image holds it, to recognise it by.

        :param index: of the block in the file, from 0.
        :returns: ``None`` where nothing has to be decompressed to read it.
        """
        blocks = entry.blocks
        return None if blocks is None else self._contents.compressed(blocks, index)

    def stored_data(self, position: int, length: int) -> bytes:
        """Return bytes of the image as they stand there, to compare stored blocks.

        :param position: bytes from the image's start.
        """
        return self._file.read(position, length)

    def fragment_block(self, index: int) -> ImageBlock:
        """Return where a fragment block is.

        :param index: 0 to ``superblock.fragment_count`` less one.
        """
        return self._contents.fragment_block(index)

    def read(self, entry: ImageEntry, offset: int, length: int) -> bytes:
        """Return a range of a file's contents, shorter where the file ends.

        No more than the range and a few blocks are held in memory.

        :param offset: bytes from the file's start.
        :raises ValueError: where the entry isn't a file, or the range is negative.
        """
        if entry.blocks is None or offset < 0 or length < 0:
            msg = f"no bytes {offset} to {offset + length} of a {entry.kind.name}"
            raise ValueError(msg)
        return self._contents.file_range(entry.blocks, offset, length)
