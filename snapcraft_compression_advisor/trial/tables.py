"""The size of an image's metadata: inodes, directories and what leads to them."""

from __future__ import annotations

import math
import posixpath
import struct
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from ..codecs.codec import METADATA_BLOCK_BYTES, Codec
from ..core.frozen import frozen
from ..payload.inventory import Entry, Inventory
from ..squashfs.entry import SIZE_MASK, STORED_FLAG, EntryKind
from ..squashfs.image import Image
from ..squashfs.mksquashfs import MINIMUM_IMAGE_BYTES
from ..squashfs.superblock import SUPERBLOCK_BYTES
from .result import StoredBlocks

PADDING_BYTES = 4096
"""mksquashfs fills an image up to a multiple of this (``mksquashfs.c``, do_pad)."""

COMPRESSED_BLOCK_BYTES = 2600
"""Where one metadata block starts after the last, as references name it.

About what 8 KiB of inodes come to; the references' own entropy is all that it sets.
"""

TRIED_BLOCKS = 8
"""Metadata blocks of a table that a codec tries, spread evenly; the others are taken
to compress alike. Tables so long are below 0.2 % of an image (of a browser, an office
suite, a game and a Python application), so 6 % of error in them is next to nothing."""

WINDOWS = 12
WINDOW_ENTRIES = 256
"""Tables are built of so many runs of entries, where a payload has more, and of the
directories above them. With xz and lzo the size is within 6 % of the true one (ten
payloads of 5,700 to 37,000 entries, whose metadata are 0.1 to 0.9 % of the image); with
16 it is no nearer."""

_NO_FRAGMENT = 0xFFFFFFFF
_NO_XATTR = 0xFFFFFFFF
_RUN_BYTES, _NAME_BYTES = 12, 8  # before names, and before each
_SHORT_BYTES = {
    EntryKind.DIRECTORY: 32,
    EntryKind.FILE: 32,
    EntryKind.SYMLINK: 24,
    EntryKind.BLOCK_DEVICE: 24,
    EntryKind.CHARACTER_DEVICE: 24,
    EntryKind.FIFO: 20,
    EntryKind.SOCKET: 20,
}
_LONG_FILE_MORE_BYTES, _LONG_DIRECTORY_MORE_BYTES = 24, 8
_LONG_DIRECTORY_ENTRIES = 257
_LONGEST_RUN = 256
# Inode types of fs/squashfs/squashfs_fs.h.
_DIR, _REG, _SYMLINK, _BLKDEV, _CHRDEV, _FIFO, _SOCKET, _LDIR, _LREG = range(1, 10)
_TYPES = {
    EntryKind.DIRECTORY: _DIR,
    EntryKind.FILE: _REG,
    EntryKind.SYMLINK: _SYMLINK,
    EntryKind.BLOCK_DEVICE: _BLKDEV,
    EntryKind.CHARACTER_DEVICE: _CHRDEV,
    EntryKind.FIFO: _FIFO,
    EntryKind.SOCKET: _SOCKET,
}


@frozen
class MetadataTables:
    """Uncompressed tables, as mksquashfs would write them but for references.

    :param lengths: of all three, in bytes; more than they have where they are those of
        some entries, which stand for the others.
    """

    inodes: bytes
    directories: bytes
    references: bytes
    lengths: tuple[int, int, int]


def sample_tables(inventory: Inventory, blocks: StoredBlocks) -> MetadataTables:
    """Build the tables of some of a payload's entries, where these are many.

    :param blocks: as of :func:`build_tables`.
    """
    paths = list(inventory.entries)
    if len(paths) <= WINDOWS * WINDOW_ENTRIES:
        return build_tables(inventory, blocks)
    kept = {""}
    gap = len(paths) / WINDOWS - WINDOW_ENTRIES
    for number in range(WINDOWS):
        start = round(number * (WINDOW_ENTRIES + gap) + gap / 2)
        for path in paths[start : start + WINDOW_ENTRIES]:
            above = path
            while above not in kept:
                kept.add(above)
                above = above.rpartition("/")[0]
    sampled = (entry for path, entry in inventory.entries.items() if path in kept)
    tables = build_tables(Inventory.of(sampled), blocks)
    return replace(tables, lengths=_lengths(inventory))


def build_tables(inventory: Inventory, blocks: StoredBlocks) -> MetadataTables:
    """Build the tables of a payload.

    :param blocks: the data blocks of every file that has any; estimated sizes serve,
        for what counts is how well they compress.
    """
    builder = _Builder(inventory, blocks)
    builder.add_tree()
    return _complete(
        bytes(builder.inodes), bytes(builder.directories), builder.export_table()
    )


def tables_of_image(image: Image) -> MetadataTables:
    """Return the tables of a built image.

    With another codec the data blocks have other sizes, which compress about alike.
    """
    return _complete(image.inode_table, image.directory_table, image.export_table)


def _complete(inodes: bytes, directories: bytes, references: bytes) -> MetadataTables:
    return MetadataTables(
        inodes=inodes,
        directories=directories,
        references=references,
        lengths=(len(inodes), len(directories), len(references)),
    )


def _lengths(inventory: Inventory) -> tuple[int, int, int]:
    """Return how long the tables of all entries are, as :class:`_Builder` writes them.

    Nearly so: in images of 4 GiB and more, inodes are longer.
    """
    names = [path.rpartition("/")[2] for path in inventory.entries]
    members = {path: len(each) for path, each in inventory.folders.items()}
    runs = sum(-(-count // _LONGEST_RUN) for count in members.values())
    text_bytes = len("".join(names).encode("utf-8", "surrogateescape"))
    entries = inventory.entries.values()
    links = Counter(e.identity for e in entries if e.kind is EntryKind.FILE)
    linked = sum(count > 1 for count in links.values())
    others = [entry for entry in entries if entry.kind is not EntryKind.FILE]
    inode_bytes = (
        sum(map(_other_inode_bytes, others, repeat(members)))
        + _SHORT_BYTES[EntryKind.DIRECTORY]
        + _SHORT_BYTES[EntryKind.FILE] * len(links)
        + _LONG_FILE_MORE_BYTES * linked
        + 4 * inventory.data_blocks
    )
    return (
        inode_bytes,
        _RUN_BYTES * runs + _NAME_BYTES * len(names) + text_bytes,
        8 * (1 + len(links) + len(others)),
    )


def _other_inode_bytes(entry: Entry, members: Mapping[str, int]) -> int:
    long = members.get(entry.path, 0) >= _LONG_DIRECTORY_ENTRIES
    target = (entry.link_target or "").encode("utf-8", "surrogateescape")
    more = _LONG_DIRECTORY_MORE_BYTES if long else 0
    return _SHORT_BYTES[entry.kind] + len(target) + more


def table_bytes(
    tables: MetadataTables, codec: Codec, *, tried_blocks: int = TRIED_BLOCKS
) -> float:
    """Estimate what the tables come to in an image, superblock and all.

    :param tried_blocks: of each table, that the codec tries at most twice as many of.
    :returns: bytes, without the padding at the image's end.
    """
    size = SUPERBLOCK_BYTES + 2 + 4 + 8.0  # one user id, its block and its index
    parts = (tables.inodes, tables.directories, tables.references)
    for table, length in zip(parts, tables.lengths, strict=True):
        # Of what stands for more, all is tried.
        ratio = _ratio(table, codec, tried_blocks if len(table) == length else length)
        size += length * ratio + 2 * -(-length // METADATA_BLOCK_BYTES)
    blocks = -(-tables.lengths[-1] // METADATA_BLOCK_BYTES)
    return size + 8 * blocks  # where the export table's blocks are


def padded_bytes(size_bytes: float) -> float:
    """Return the size of the file that mksquashfs and ``snap pack`` make of it."""
    pages = math.ceil(round(size_bytes, 3) / PADDING_BYTES)
    return float(max(MINIMUM_IMAGE_BYTES, pages * PADDING_BYTES))


def _ratio(table: bytes, codec: Codec, tried_blocks: int) -> float:
    """Return what a codec makes of some of a table's blocks, by their length."""
    starts = range(0, len(table), METADATA_BLOCK_BYTES)
    step = max(1, len(starts) // tried_blocks)
    tried_bytes = raw_bytes = 0
    for start in starts[step // 2 :: step]:
        block = table[start : start + METADATA_BLOCK_BYTES]
        raw_bytes += len(block)
        tried_bytes += len(codec.compress(block, block_bytes=METADATA_BLOCK_BYTES))
    return tried_bytes / raw_bytes if raw_bytes else 0.0


class _Builder:
    """Writes inodes in mksquashfs's order: a directory after what is in it."""

    def __init__(self, inventory: Inventory, blocks: StoredBlocks) -> None:
        self._places = blocks.places
        self._raw_bytes: list[int] = blocks.raw_bytes.tolist()
        self._words = _size_words(blocks)
        self._children = defaultdict[str, Sequence[Entry]](tuple, inventory.folders)
        self._links = Counter(entry.identity for entry in inventory.entries.values())
        self._numbers: dict[int, int] = {}
        self._references: dict[int, int] = {}
        self._data_position = SUPERBLOCK_BYTES
        self._directory_numbers = {"": len(self._links) + 1}
        self.inodes = bytearray()
        self.directories = bytearray()
        self._number_entries()

    def _number_entries(self) -> None:
        """Give inodes their numbers: an entry before what is in it."""
        pending = [iter(self._children[""])]
        while pending:
            entry = next(pending[-1], None)
            if entry is None:
                pending.pop()
                continue
            number = self._numbers.setdefault(entry.identity, len(self._numbers) + 1)
            if entry.kind is EntryKind.DIRECTORY:
                self._directory_numbers[entry.path] = number
                pending.append(iter(self._children[entry.path]))

    def add_tree(self) -> None:
        """Write the inodes of each directory's entries, then its listing.

        Deep trees are walked without recursion.
        """
        pending: list[tuple[str, Entry | None, bool]] = [("", None, False)]
        while pending:
            directory, entry, complete = pending.pop()
            if complete:
                self._add_listing(directory, entry)
                continue
            pending.append((directory, entry, True))
            children = self._children[directory]
            for child in children:
                if child.kind is not EntryKind.DIRECTORY:
                    self._add_inode(child)
            pending.extend(
                (child.path, child, False)
                for child in reversed(children)
                if child.kind is EntryKind.DIRECTORY
            )

    def export_table(self) -> bytes:
        """Return the references to all inodes, by inode number."""
        ordered = sorted(self._references.items())
        return struct.pack(f"<{len(ordered)}Q", *(each for _, each in ordered))

    def _add_inode(self, entry: Entry) -> None:
        number = self._numbers[entry.identity]
        if number in self._references:
            return
        self._refer(number)
        if entry.kind is EntryKind.FILE:
            self._add_file(entry, number)
            return
        kind, links = _TYPES[entry.kind], self._links[entry.identity]
        if entry.kind is EntryKind.SYMLINK:
            target = (entry.link_target or "").encode("utf-8", "surrogateescape")
            self._add(kind, entry, number, "2I", links, len(target))
            self.inodes += target
        elif entry.kind in (EntryKind.BLOCK_DEVICE, EntryKind.CHARACTER_DEVICE):
            self._add(kind, entry, number, "2I", links, 0)
        else:
            self._add(kind, entry, number, "I", links)

    def _add_file(self, entry: Entry, number: int) -> None:
        blocks = self._places.blocks_of(entry.path)
        words = self._words[blocks.start : blocks.stop]
        sparse_bytes = 0
        if 0 in words:
            raw_bytes = self._raw_bytes[blocks.start : blocks.stop]
            sparse_bytes = sum(raw_bytes[n] for n, w in enumerate(words) if not w)
        links = self._links[entry.identity]
        position = self._data_position
        self._data_position += sum(map(SIZE_MASK.__and__, words))
        if links > 1 or sparse_bytes or max(entry.size_bytes, position) >> 32:
            fields = (position, entry.size_bytes, sparse_bytes, links, _NO_FRAGMENT, 0)
            self._add(_LREG, entry, number, "3Q4I", *fields, _NO_XATTR)
        else:
            short = (position, _NO_FRAGMENT, 0, entry.size_bytes)
            self._add(_REG, entry, number, "4I", *short)
        self.inodes += struct.pack(f"<{len(words)}I", *words)

    def _add_listing(self, path: str, entry: Entry | None) -> None:
        """Write a directory's names and then its inode."""
        children = self._children[path]
        start = len(self.directories)
        for first in range(0, len(children), _LONGEST_RUN):
            self._add_run(children[first : first + _LONGEST_RUN])
        size_bytes = len(self.directories) - start + 3
        number = self._directory_numbers[path]
        parent = self._directory_numbers.get(posixpath.dirname(path), 0)
        self._refer(number)
        links = 2 + sum(child.kind is EntryKind.DIRECTORY for child in children)
        block, offset = _reference(start)
        long = (
            len(children) >= _LONG_DIRECTORY_ENTRIES
            or size_bytes >= METADATA_BLOCK_BYTES
        )
        if long:
            fields = (links, size_bytes, block, parent, 0, offset, _NO_XATTR)
            self._add(_LDIR, entry, number, "4I2HI", *fields)
        else:
            short = (block, links, size_bytes, offset, parent)
            self._add(_DIR, entry, number, "2I2HI", *short)

    def _add_run(self, children: Sequence[Entry]) -> None:
        """Write names behind one header; those of one block of inodes, roughly."""
        first = self._numbers[children[0].identity]
        block = self._references[first] >> 16
        self.directories += struct.pack("<III", len(children) - 1, block, first)
        for child in children:
            name = child.path.rpartition("/")[2].encode("utf-8", "surrogateescape")
            number = self._numbers[child.identity]
            self.directories += struct.pack(
                "<HHHH",
                self._references[number] & 0xFFFF,
                (number - first) & 0xFFFF,
                _TYPES[child.kind],
                len(name) - 1,
            )
            self.directories += name

    def _add(
        self, kind: int, entry: Entry | None, number: int, form: str, *fields: int
    ) -> None:
        """Write an inode; the root has no entry."""
        mode, modified_s = (entry.mode, entry.modified_s) if entry else (0o755, 0)
        header = (kind, mode, 0, 0, modified_s & 0xFFFFFFFF, number)
        self.inodes += struct.pack(f"<4H2I{form}", *header, *fields)

    def _refer(self, number: int) -> None:
        block, offset = _reference(len(self.inodes))
        self._references[number] = block << 16 | offset


def _size_words(blocks: StoredBlocks) -> list[int]:
    """Return how inodes name the blocks' sizes."""
    sizes = blocks.stored_bytes.astype(np.int64)
    stored = (sizes > 0) & ~blocks.compressed
    words: list[int] = np.where(stored, sizes | STORED_FLAG, sizes).tolist()
    return words


def _reference(position: int) -> tuple[int, int]:
    """Return where a reference says a byte of a table is."""
    number, offset = divmod(position, METADATA_BLOCK_BYTES)
    return number * COMPRESSED_BLOCK_BYTES, offset
