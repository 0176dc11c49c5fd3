"""A squashfs image, opened for reading.

Only what is asked for is read: the superblock on opening, the tables on the first
walk, and single data blocks after that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from typing_extensions import Self

from .. import codecs
from ..codecs.xz import Xz
from .contents import FRAGMENT_RECORD, ContentsReader
from .entry import ImageBlock, ImageEntry
from .image_file import ImageFile, damaged
from .inodes import InodeTable
from .metadata import MetadataReader
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
    :raises BadDataError: where it is no squashfs image.
    """

    def __init__(self, file: ImageFile) -> None:
        self._file = file
        self.where = file.where
        self.image_bytes = file.size_bytes
        self.superblock = parse_superblock(
            file.read(0, min(SUPERBLOCK_BYTES, file.size_bytes)),
            image_bytes=file.size_bytes,
            where=file.where,
        )
        self._codec = codecs.decompressor(self.superblock.codec)
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

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """User and group ids that inodes name by index."""
        count = self.superblock.id_count
        start = self.superblock.id_table_start
        raw = self._metadata.indexed("id table", start, count * _ID_BYTES)
        return struct.unpack(f"<{count}I", raw)

    @cached_property
    def export_table(self) -> bytes:
        """The inode references as they stand in the image, decompressed."""
        start = self.superblock.export_table_start
        if start == ABSENT_TABLE:
            return b""
        size_bytes = self.superblock.inode_count * _REFERENCE_BYTES
        return self._metadata.indexed("export table", start, size_bytes)

    @cached_property
    def _fragment_table(self) -> bytes:
        size_bytes = self.superblock.fragment_count * FRAGMENT_RECORD.size
        if not size_bytes:
            return b""  # the table's start need not be in the image
        start = self.superblock.fragment_table_start
        return self._metadata.indexed("fragment table", start, size_bytes)

    @cached_property
    def _contents(self) -> ContentsReader:
        return ContentsReader(
            self._file,
            self.superblock,
            self._decompress,
            decompress_some=(
                self._codec.decompress_some if isinstance(self._codec, Xz) else None
            ),
            fragments=self._fragment_table,
        )

    @cached_property
    def _inodes(self) -> InodeTable:
        start = self.superblock.inode_table_start
        end = self.superblock.directory_table_start
        table = self._metadata.run("inode table", start, end)
        return InodeTable(
            table, superblock=self.superblock, ids=self.ids, where=self.where
        )

    @cached_property
    def _directories(self) -> DirectoryTable:
        start = self.superblock.directory_table_start
        end = self._directory_table_end()
        if end < start:
            raise damaged(self.where, f"its directory table ends at {end}")
        table = self._metadata.run("directory table", start, end)
        return DirectoryTable(table, where=self.where)

    def _directory_table_end(self) -> int:
        """Return where the table behind the directories begins, as super.c does."""
        block = self.superblock
        sizes = [
            ("id table", block.id_table_start, block.id_count * _ID_BYTES),
        ]
        if block.export_table_start != ABSENT_TABLE:
            size_bytes = block.inode_count * _REFERENCE_BYTES
            sizes.append(("export table", block.export_table_start, size_bytes))
        if block.fragment_count:
            size_bytes = block.fragment_count * FRAGMENT_RECORD.size
            sizes.append(("fragment table", block.fragment_table_start, size_bytes))
        return self._metadata.index(*sizes[-1])[0]

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
