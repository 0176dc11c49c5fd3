"""The walk over an image: from the root's inode to every entry.

Claims are held against what the tables can hold, so that a forged image (loops,
directories that share a listing, inodes that overlap) ends in an error after a bounded
amount of work.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator

from ..core.units import MIB
from .entry import ImageEntry
from .image_file import damaged
from .inodes import InodeTable, Listing
from .metadata import MetadataTable
from .superblock import Superblock

_PATH_LIMIT = 4096  # PATH_MAX of linux/limits.h
PATHS_LIMIT = 256 * MIB
"""The most characters that the paths of one image may come to together."""
PATHS_FREE = 32 * MIB
PATHS_GROWTH = 32
"""How many more than :data:`PATHS_FREE` they may be for each byte of the image: a
directory's name stands once in the image, and in the path of all that is below it."""
LINKED_LIMIT_BYTES = 16 * MIB
"""The most that inodes may come to that are met again, by their hard links.

A file of 4 GiB with a hundred names takes 13 MiB of size words."""
OVERLAP_FREE_BYTES = 64 * MIB
OVERLAP_LIMIT = 16
"""How many times the image's length its files' blocks may come to, beyond
:data:`OVERLAP_FREE_BYTES`, files that have the same ones left out. mksquashfs never
has a block in two different runs; squashfs-tools-ng does."""
BLOCKS_FREE = 1 << 17
"""How many data blocks files may have in an image of any length: holes take none of
it. With 128 KiB that is 16 GiB, which is also what files may claim."""
BLOCK_LEAST_BYTES = 16
"""What each further block has to take: no codec makes less of 4 KiB."""
_HEADER = struct.Struct("<3I")  # entries less one, inode block, inode number
_RECORD = struct.Struct("<HhHH")  # inode offset, number's difference, type, name
_ENTRIES_LIMIT = 256  # SQUASHFS_DIR_COUNT, for each header
_NAME_LIMIT_BYTES = 256  # SQUASHFS_NAME_LEN
_LATE_BYTES = 3
"""How far entries may go beyond a listing's end: tar2sqfs before 1.1.3 leaves out the
3 bytes that ``.`` and ``..`` count for, and the kernel heeds only where headers are."""
_NO_NAME = re.compile(rb"[/\0]|\A\.\.?\Z")
"""What leads out of a directory, or no directory can have."""


class Walk:
    """One walk over an image, and what it has used up of what the tables allow."""

    def __init__(
        self,
        superblock: Superblock,
        inodes: InodeTable,
        directories: MetadataTable,
        *,
        where: str,
    ) -> None:
        self._root = superblock.root_inode_reference
        self._inodes = inodes
        self._directories = directories
        self._where = where
        # References plus one by inode number; zero if none was met yet.
        self._references = array("Q", bytes(8 * (superblock.inode_count + 1)))
        self._linked_bytes_left = LINKED_LIMIT_BYTES
        self._inode_bytes_left = inodes.size_bytes
        self._listing_bytes_left = len(directories.contents)
        used = superblock.used_bytes
        self._path_length_left = min(PATHS_LIMIT, PATHS_FREE + PATHS_GROWTH * used)
        self._data_bytes_left = OVERLAP_FREE_BYTES + OVERLAP_LIMIT * used
        self._blocks_left = BLOCKS_FREE + used // BLOCK_LEAST_BYTES
        self._runs: set[int] = set()  # hashes of the places of files' blocks

    def entries(self) -> Iterator[ImageEntry]:
        """Yield the entries: parents first, children in their directory's order."""
        entry, listing = self._visit("", self._root)
        if listing is None:
            raise damaged(self._where, "its root isn't a directory")
        yield entry
        pending = [("", self._children(listing))]
        while pending:
            prefix, children = pending[-1]
            child = next(children, None)
            if child is None:
                pending.pop()
                continue
            name, reference = child
            path = self._path(prefix, name)
            entry, listing = self._visit(path, reference)
            yield entry
            if listing is not None:
                pending.append((f"{path}/", self._children(listing)))

    def _path(self, prefix: str, name: str) -> str:
        """Return a path, unless it is longer than any program could open."""
        path = prefix + name
        self._path_length_left -= len(path)
        if len(path) > _PATH_LIMIT or self._path_length_left < 0:
            raise damaged(self._where, f"its paths are too long: {path[:64]!r}...")
        return path

    def _children(self, listing: Listing) -> Iterator[tuple[str, int]]:
        """Return a directory's names in the order of their bytes, and inode references.

        No two directories share a listing, and names ascend: the kernel's look-up
        relies on it.
        """
        self._listing_bytes_left -= listing.size_bytes
        if self._listing_bytes_left < 0:
            raise damaged(self._where, "its directories' listings overlap")
        if listing.size_bytes == 0:
            return iter(())
        position = self._directories.locate(listing.block, listing.offset)
        end = (position or 0) + listing.size_bytes
        if position is None or end > len(self._directories.contents):
            raise damaged(self._where, "a directory's listing is outside the table")
        return self._records(position, end)

    def _visit(self, path: str, reference: int) -> tuple[ImageEntry, Listing | None]:
        """Return the entry of an inode, and of a directory its listing."""
        entry, record_bytes, listing = self._inodes.read(reference, path)
        mark = self._references[entry.inode]
        if not mark:
            self._references[entry.inode] = reference + 1
            self._inode_bytes_left -= record_bytes
            self._count_data(entry)
        elif mark == reference + 1 and listing is None:
            self._linked_bytes_left -= record_bytes
        else:
            reason = f"inode {entry.inode} appears again at {path!r}"
            raise damaged(self._where, reason)
        if self._inode_bytes_left < 0 or self._linked_bytes_left < 0:
            raise damaged(self._where, "its inodes overlap")
        return entry, listing

    def _count_data(self, entry: ImageEntry) -> None:
        """Refuse files that together have far more blocks than the image can hold."""
        blocks = entry.blocks
        if blocks is None:
            return
        self._blocks_left -= len(blocks)
        if self._blocks_left < 0:
            reason = f"its files have too many blocks, at inode {entry.inode}"
            raise damaged(self._where, reason)
        if not (stored_bytes := blocks.stored_bytes):
            return
        run = hash((blocks.start, stored_bytes, blocks.size_bytes))
        if run in self._runs:
            return
        self._runs.add(run)
        self._data_bytes_left -= stored_bytes
        if self._data_bytes_left < 0:
            raise damaged(self._where, f"its data overlap, at inode {entry.inode}")

    def _records(self, position: int, end: int) -> Iterator[tuple[str, int]]:
        """Yield names and inode references of the records up to the end."""
        contents = self._directories.contents
        before = b""
        last = min(end + _LATE_BYTES, len(contents))
        while position < end:
            if position + _HEADER.size > end:
                raise damaged(self._where, "a directory's listing ends within a header")
            count, block, _ = _HEADER.unpack_from(contents, position)
            if count >= _ENTRIES_LIMIT:
                raise damaged(self._where, f"{count + 1} entries under a header")
            position += _HEADER.size
            for _ in range(count + 1):
                body = position + _RECORD.size
                if body > last:
                    raise damaged(self._where, "a listing ends within an entry")
                offset, _, _, size = _RECORD.unpack_from(contents, position)
                position = body + size + 1
                if position > last:
                    raise damaged(self._where, "a listing ends within a name")
                name = contents[body:position]
                if _NO_NAME.search(name) or size >= _NAME_LIMIT_BYTES:
                    reason = f"a directory has an entry named {name[:64]!r}"
                    raise damaged(self._where, reason)
                if name <= before:
                    reason = f"{name!r} is out of order or duplicated"
                    raise damaged(self._where, reason)
                yield name.decode("utf-8", "surrogateescape"), block << 16 | offset
                before = name
