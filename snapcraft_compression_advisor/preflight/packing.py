"""Facts on how an image was packed.

Owners, modes and kinds of entries are held against ``check_squashfs_files`` in
``reviewtools/sr_security.py``.

mksquashfs 4.4 and newer writes files in the order of a walk: parents first, names in
byte order; one behind the other, the first behind the superblock, the last up to the
inode table. A file of equal contents points back to the first. Inodes are numbered in
the same order, the root last (checked with 4.5.1). An image that was sorted
(``-sort``), appended to, or written by another program is laid out otherwise, and its
repack differs.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ..codecs import CODECS
from ..core.units import MIB
from ..payload.inventory import Entry, Inventory
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import (
    MINIMUM_IMAGE_BYTES,
    STORED_FLAG,
    SUPERBLOCK_BYTES,
    EntryKind,
    FileBlocks,
    ImageEntry,
)
from ..squashfs.image import Image
from ..squashfs.metadata import HEADER_BYTES
from ..squashfs.superblock import ABSENT_TABLE, Superblock

_PAD_BYTES = 4096
"""mksquashfs pads images to a multiple of that, unless run with ``-nopad``."""

_LENGTH_MASK = 0x7FFF
"""Bits of a metadata block's header that say how long it is in the image."""

_READABLE = ("", "meta")
"""Directories that everybody has to be able to list."""
_SET_IDS = stat.S_ISUID | stat.S_ISGID
_LISTABLE_MODE = 0o555
_LISTABLE_MASK = _LISTABLE_MODE | _SET_IDS | stat.S_ISVTX
_PERMISSIONS = 0o777
_TYPES = {EntryKind.FILE: stat.S_IFREG, EntryKind.DIRECTORY: stat.S_IFDIR}
_WORDS = {
    EntryKind.BLOCK_DEVICE: "block device",
    EntryKind.CHARACTER_DEVICE: "character device",
    EntryKind.FIFO: "FIFO",
    EntryKind.SOCKET: "socket",
}

TRIED_BLOCKS = 6
"""xz takes some 60 ms for a full block: these are some tenths of a second."""
_TRIED_STORED = 2
"""Of those, blocks that are stored uncompressed, which they may be without need."""
_ZEROS_RATIO = 64
"""A block of zeros comes to less than a 64th of its size with every codec."""
_ZEROS_READ = 16
_ZEROS_LEAST_BYTES = 16 * 1024
"""Shorter ones needn't come to less than a 64th: headers weigh more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompressed:
    """Blocks of an image, compressed again on this machine.

    :param tried: number of blocks.
    :param differing: a file whose block came out otherwise; ``None`` if none did.
    """

    tried: int
    differing: str | None
    library: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFault:
    """Something unusual about an entry.

    :param path: from the image's root, which is the empty path.
    :param text: a phrase, such as ``owned by 1000/1000``.
    """

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """Facts on how an image was packed.

    :param padded_bytes: end of mksquashfs's own padding.
    :param trailing_zeros: whether nothing but zeros stands behind the used bytes.
    :param owners: entries that don't belong to root.
    :param modes: entries of a kind or mode that apps don't ship.
    :param order: the first file whose data aren't in mksquashfs's order.
    :param numbers: the first entry whose inode isn't.
    :param zeros: a file with a block of zeros that isn't sparse, if one was found.
    """

    superblock: Superblock
    image_bytes: int
    padded_bytes: int
    trailing_zeros: bool
    compressor_options: bytes | None
    owners: tuple[EntryFault, ...] = ()
    modes: tuple[EntryFault, ...] = ()
    order: EntryFault | None = None
    numbers: EntryFault | None = None
    zeros: str | None = None
    recompressed: Recompressed | None = None

    @property
    def has_xattrs(self) -> bool:
        """Whether the image has a table of extended attributes."""
        return self.superblock.xattr_table_start != ABSENT_TABLE

    @property
    def is_small(self) -> bool:
        """Whether ``snap pack`` pads the image further than mksquashfs does."""
        return self.padded_bytes < MINIMUM_IMAGE_BYTES

    @property
    def ends_as_packed(self) -> bool:
        """Whether the file ends as mksquashfs or ``snap pack`` ends it."""
        ends = {self.padded_bytes, max(self.padded_bytes, MINIMUM_IMAGE_BYTES)}
        return self.trailing_zeros and self.image_bytes in ends


def look_at_packing(payload: Payload) -> Packing | None:
    """Return the packing of a built snap; None for a prime directory.

    :raises BadDataError: if the image is broken.
    """
    if not isinstance(payload, SnapPayload):
        return None
    return inspect_packing(payload.image, payload.entries)


def inspect_packing(image: Image, entries: Sequence[ImageEntry]) -> Packing:
    """Look at how an image was packed: all tables, and a few data blocks.

    :param entries: of a walk over the image.
    :raises BadDataError: if the image is broken.
    """
    used = image.superblock.used_bytes
    return Packing(
        superblock=image.superblock,
        image_bytes=image.image_bytes,
        padded_bytes=-(-used // _PAD_BYTES) * _PAD_BYTES,
        trailing_zeros=all(
            not any(image.stored_data(start, min(MIB, image.image_bytes - start)))
            for start in range(used, image.image_bytes, MIB)
        ),
        compressor_options=image.compressor_options,
        owners=find_owner_faults(entries),
        modes=find_mode_faults(entries),
        order=find_order_fault(image, entries),
        numbers=find_number_fault(entries),
        zeros=find_unpacked_zeros(image, entries),
        recompressed=recompress_some(image, entries),
    )


def find_owner_faults(entries: Iterable[ImageEntry]) -> tuple[EntryFault, ...]:
    """Return the entries whose user or group isn't root."""
    return tuple(
        EntryFault(path=entry.path, text=f"owned by {entry.uid}/{entry.gid}")
        for entry in entries
        if entry.uid or entry.gid
    )


def find_unpacked_faults(inventory: Inventory) -> tuple[EntryFault, ...]:
    """Return the faults of a directory's files, whose links get new modes.

    A root or ``meta`` that not everybody can list isn't packed at all.
    """
    root = Entry("", EntryKind.DIRECTORY, 0, 0, inventory.root_mode, 0)
    return find_mode_faults(
        each
        for each in (root, *inventory.entries.values())
        if each.kind is not EntryKind.SYMLINK
        and (each.path not in _READABLE or each.mode > _PERMISSIONS)
    )


def find_mode_faults(entries: Iterable[ImageEntry | Entry]) -> tuple[EntryFault, ...]:
    """Return the entries of a mode or kind that the review refuses in an app."""
    return tuple(
        EntryFault(path=entry.path, text=text)
        for entry in entries
        if (text := _mode_fault(entry)) is not None
    )


def _mode_fault(entry: ImageEntry | Entry) -> str | None:
    """Return the fault of an entry's mode or kind, if it has one."""
    kind, mode, has_to_list = entry.kind, entry.mode, entry.path in _READABLE
    if kind in _WORDS:
        return f"a {_WORDS[kind]}"
    if kind is EntryKind.SYMLINK:
        shown = stat.filemode(stat.S_IFLNK | mode)
        return None if mode == _PERMISSIONS else f"link of mode {shown}"
    if mode <= _PERMISSIONS and not has_to_list:  # as most are
        return None
    shown = stat.filemode(_TYPES[kind] | mode)
    if has_to_list and mode & _LISTABLE_MASK != _LISTABLE_MODE:
        return f"mode {shown}, which must have the form r.xr.xr.x"
    # The review takes t in a directory's mode, but neither T (no right to enter for
    # others) nor a file's.
    entered = kind is EntryKind.DIRECTORY and mode & stat.S_IXOTH
    odd = mode & _SET_IDS or (mode & stat.S_ISVTX and not entered)
    return f"mode {shown}" if odd else None


def find_order_fault(image: Image, entries: Sequence[ImageEntry]) -> EntryFault | None:
    """Return the first file whose data aren't in the place that mksquashfs gives them.

    :param entries: in the order of the walk.
    """
    if image.superblock.fragment_count:  # then blocks stand between the files'
        return None
    end = SUPERBLOCK_BYTES
    if image.compressor_options is not None:
        header = image.stored_data(end, HEADER_BYTES)
        end += HEADER_BYTES + (int.from_bytes(header, "little") & _LENGTH_MASK)
    starts: set[int] = set()
    for entry in _first_names(entries):
        blocks = entry.blocks
        if not (blocks and blocks.stored_bytes) or blocks.start in starts:
            continue
        if blocks.start != end:
            text = f"its data is at byte {blocks.start:,}, "
            text += f"mksquashfs writes it at {end:,}"
            return EntryFault(path=entry.path, text=text)
        starts.add(blocks.start)
        end += blocks.stored_bytes
    table = image.superblock.inode_table_start
    if end != table:
        text = f"{table - end:,} bytes between the last file and the inode table"
        return EntryFault(path="", text=text)
    return None


def find_number_fault(entries: Sequence[ImageEntry]) -> EntryFault | None:
    """Return the first entry whose inode mksquashfs would number otherwise."""
    root, *others = _first_names(entries)
    for number, entry in enumerate([*others, root], start=1):
        if entry.inode != number:
            text = f"its inode has number {entry.inode}, "
            text += f"mksquashfs would give it {number}"
            return EntryFault(path=entry.path, text=text)
    return None


def _first_names(entries: Sequence[ImageEntry]) -> Iterator[ImageEntry]:
    """Yield each inode once, under the first of its names."""
    seen: set[int] = set()
    for entry in entries:
        if entry.inode not in seen:
            seen.add(entry.inode)
            yield entry


def recompress_some(image: Image, entries: Sequence[ImageEntry]) -> Recompressed | None:
    """Compress a few blocks again, spread over the image, with mksquashfs's defaults.

    :returns: nothing if this machine lacks the library that mksquashfs links.
    :raises BadDataError: if a block is broken.
    """
    codec = CODECS.get(image.superblock.codec)
    if codec is None or not codec.available or not codec.exact:
        return None
    # A file's last block is mostly a short one, so cheap to compress.
    files = [(entry.path, entry.blocks) for entry in entries if entry.blocks]
    stored = [each for each in files if each[1].size_words[-1] & STORED_FLAG]
    others = [each for each in files if 0 < each[1].size_words[-1] < STORED_FLAG]
    chosen = _spread(stored, _TRIED_STORED)
    chosen += _spread(others, TRIED_BLOCKS - len(chosen))
    differing, block_bytes = None, image.superblock.block_bytes
    for path, blocks in chosen:
        *_, block = blocks
        again = codec.compress(image.read_block(block), block_bytes=block_bytes)
        if again != image.stored_data(block.position, block.stored_bytes):
            differing = path
            break
    return Recompressed(
        tried=len(chosen), differing=differing, library=codec.implementation
    )


def find_unpacked_zeros(image: Image, entries: Sequence[ImageEntry]) -> str | None:
    """Return a file with a block of zeros that mksquashfs would have left out.

    Only blocks that shrank far enough to be one are read, and few of them.
    """
    suspects = (
        (entry.path, block)
        for entry in entries
        if entry.blocks is not None and entry.size_bytes >= _ZEROS_LEAST_BYTES
        for _, block in entry.blocks.filled_blocks()
        if block.raw_bytes >= _ZEROS_LEAST_BYTES
        and block.stored_bytes * _ZEROS_RATIO < block.raw_bytes
    )
    for path, block in islice(suspects, _ZEROS_READ):
        contents = image.read_block(block)
        if contents.count(0) == len(contents):
            return path
    return None


def _spread(
    items: Sequence[tuple[str, FileBlocks]], count: int
) -> list[tuple[str, FileBlocks]]:
    step = max(1, len(items) // max(1, count))
    return list(items[::step][:count])
