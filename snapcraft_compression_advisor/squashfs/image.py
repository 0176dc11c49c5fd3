"""A squashfs image, opened for reading.

The superblock is read on opening, the tables on the first walk, and data blocks singly
after that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from typing_extensions import Self

from ..codecs import READERS
from ..codecs.lzo import Lzo
from ..codecs.xz import Xz
from .contents import FRAGMENT_RECORD, ContentsReader
from .entry import SUPERBLOCK_BYTES, ImageBlock, ImageEntry
from .image_file import ImageFile, damaged
from .inodes import InodeTable
from .metadata import MetadataReader
from .superblock import ABSENT_TABLE, parse_superblock
from .walk import Walk

_ID_BYTES = 4
_REFERENCE_BYTES = 8


class Image:
    """A squashfs 4.0 image; a context manager that closes its file.

    Data blocks may be read from several threads at once. Reading raises
    :class:`BadDataError` if the image contradicts itself, or the range isn't in it, and
    :class:`StorageError` if the file can't be read.

    :param file: file of the image, which closes it.
    :ivar is_remote: see :class:`ImageFile`.
    :raises BadDataError: if it is no squashfs image.
    """

    def __init__(self, file: ImageFile) -> None:
        self._file = file
        self.where = file.where
        self.is_remote = file.is_remote
        self.image_bytes = file.size_bytes
        head = file.read(0, min(SUPERBLOCK_BYTES, file.size_bytes))
        self.superblock = parse_superblock(
            head, image_bytes=file.size_bytes, where=file.where
        )
        self._codec = READERS[self.superblock.codec]
        self._metadata = MetadataReader(
            file, self._decompress, self.superblock.used_bytes
        )
        options = self.superblock.has_compressor_options
        self.compressor_options = (
            self._metadata.block(SUPERBLOCK_BYTES) if options else None
        )

    @classmethod
    def open(cls, path: Path) -> Image:
        """Open an image.

        :raises NoInputError: if the file is missing or may not be read.
        :raises BadDataError: if it is no squashfs 4.0 image, or a damaged one.
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

    @cached_property
    def _indexed_tables(self) -> dict[str, tuple[int, int]]:
        """Start of its index and length of each table that has one, as in super.c."""
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
        """Return a table's contents; nothing if the image doesn't have it."""
        place = self._indexed_tables.get(name)
        return self._metadata.indexed(name, *place) if place else b""

    @cached_property
    def _contents(self) -> ContentsReader:
        codec, some = self._codec, None
        # From lzo, a whole block comes as fast as a part; of a store, less is read.
        if isinstance(codec, Xz) or (isinstance(codec, Lzo) and self.is_remote):
            some = codec.decompress_some
        return ContentsReader(
            self._file,
            self.superblock,
            self._decompress,
            decompress_some=some,
            fragments=self._indexed("fragment table"),
        )

    def walk(self) -> Iterator[ImageEntry]:
        """Yield every entry: parents first, children in their directory's order."""
        block, ids = self.superblock, self._indexed("id table")
        start = block.directory_table_start
        # Behind the directories stand the blocks of the next table, as in super.c.
        name, place = next(iter(self._indexed_tables.items()))
        end = self._metadata.index(name, *place)[0]
        if end < start:
            raise damaged(self.where, f"its directory table ends at {end}")
        inodes = InodeTable(
            self._metadata.run("inode table", block.inode_table_start, start),
            superblock=block,
            ids=struct.unpack(f"<{block.id_count}I", ids),
            where=self.where,
        )
        directories = self._metadata.run("directory table", start, end)
        return Walk(block, inodes, directories, where=self.where).entries()

    def read_block(self, block: ImageBlock) -> bytes:
        """Return the contents of one data block; nothing else is read."""
        return self._contents.block(block)

    def stored_data(self, position: int, length: int) -> bytes:
        """Return bytes of the image as they stand there, to compare stored blocks."""
        return self._file.read(position, length)

    def fragment_block(self, index: int) -> ImageBlock:
        """Return the place of a fragment block, counted from 0."""
        return self._contents.fragment_block(index)

    def read(self, entry: ImageEntry, offset: int, length: int) -> bytes:
        """Return a range of a file's contents, shorter if the file ends.

        No more than the range and a few blocks are held in memory.

        :raises ValueError: if the entry isn't a file, or the range is negative.
        """
        if entry.blocks is None or offset < 0 or length < 0:
            msg = f"no bytes {offset} to {offset + length} of a {entry.kind.name}"
            raise ValueError(msg)
        return self._contents.file_range(entry.blocks, offset, length)
