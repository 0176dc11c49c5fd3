"""The directory table: the names in each directory, and their inodes.

Facts from the kernel's ``fs/squashfs/dir.c``.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from snapcraft_compression_advisor.squashfs.damage import damaged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.squashfs.inodes import Listing
    from snapcraft_compression_advisor.squashfs.metadata import MetadataTable

_HEADER = struct.Struct("<3I")  # entries less one, inode block, inode number
_RECORD = struct.Struct("<HhHH")  # inode offset, number's difference, type, name
_ENTRIES_LIMIT = 256  # SQUASHFS_DIR_COUNT, for each header
_NAME_LIMIT_BYTES = 256  # SQUASHFS_NAME_LEN
_NO_NAMES = frozenset({b".", b".."})


class Child(NamedTuple):
    """A name in a directory.

    :param reference: where the inode is, see ``InodeTable.read``.
    """

    name: str
    reference: int


class DirectoryTable:
    """The directories' entries.

    :param table: the directory table's contents.
    :param where: the image's path, for messages.
    """

    def __init__(self, table: MetadataTable, *, where: str) -> None:
        self._table = table
        self._where = where

    @property
    def contents(self) -> bytes:
        """The table as it stands in the image, decompressed."""
        return self._table.contents

    @property
    def size_bytes(self) -> int:
        """What the table's contents come to."""
        return len(self._table.contents)

    def children(self, listing: Listing) -> Iterator[Child]:
        """Yield a directory's entries in the order of their names' bytes.

        :raises BadDataError: where the listing is broken, or its names don't ascend
            (the kernel's look-up relies on it), or one is a name that no directory
            can have.
        """
        if listing.size_bytes == 0:
            return
        position = self._table.locate(listing.block, listing.offset)
        if position is None or position + listing.size_bytes > self.size_bytes:
            raise damaged(self._where, "a directory's listing is outside of the table")
        before = b""
        for name, reference in self._records(position, position + listing.size_bytes):
            self._check_name(name)
            if name <= before:
                raise damaged(self._where, f"{name!r} is out of order or there twice")
            yield Child(name.decode("utf-8", "surrogateescape"), reference)
            before = name

    def _records(self, position: int, end: int) -> Iterator[tuple[bytes, int]]:
        """Yield names and inode references of the records up to the end."""
        contents = self._table.contents
        while position < end:
            if position + _HEADER.size > end:
                raise damaged(self._where, "a directory's listing ends within a header")
            count, block, _ = _HEADER.unpack_from(contents, position)
            if count >= _ENTRIES_LIMIT:
                raise damaged(self._where, f"{count + 1} entries under a header")
            position += _HEADER.size
            for _ in range(count + 1):
                body = position + _RECORD.size
                if body > end:
                    raise damaged(self._where, "a listing ends within an entry")
                offset, _, _, size = _RECORD.unpack_from(contents, position)
                position = body + size + 1
                if position > end:
                    raise damaged(self._where, "a listing ends within a name")
                yield contents[body:position], block << 16 | offset

    def _check_name(self, name: bytes) -> None:
        """Refuse a name that no directory can have or that leads out of it."""
        if (
            len(name) > _NAME_LIMIT_BYTES
            or b"/" in name
            or b"\0" in name
            or name in _NO_NAMES
        ):
            raise damaged(self._where, f"a directory has an entry named {name[:64]!r}")
