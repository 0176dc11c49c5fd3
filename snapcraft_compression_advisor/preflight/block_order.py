"""Whether data and inodes are in the order in which mksquashfs writes a directory.

mksquashfs 4.4 and newer writes files in the order of a walk: parents first, names in
byte order; one behind the other, the first behind the superblock, the last up to the
inode table. A file of equal contents points back to the first. Inodes are numbered in
the same order, the root last (checked with 4.5.1). An image that was sorted
(``-sort``), appended to, or written by another program is laid out otherwise, and its
repack differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.preflight.entry_faults import EntryFault
from snapcraft_compression_advisor.squashfs.metadata import HEADER_BYTES
from snapcraft_compression_advisor.squashfs.superblock import SUPERBLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snapcraft_compression_advisor.squashfs.entry import FileBlocks, ImageEntry
    from snapcraft_compression_advisor.squashfs.image import Image

_LENGTH_MASK = 0x7FFF
"""Bits of a metadata block's header that say how long it is in the image."""


def find_order_fault(image: Image, entries: Sequence[ImageEntry]) -> EntryFault | None:
    """Return the first file whose data aren't where mksquashfs puts them.

    Images with fragments aren't looked at: those have blocks between the files'.

    :param entries: of the image, in the order of its walk.
    """
    if image.superblock.fragment_count:
        return None
    return _data_fault(image, list(_first_names(entries)))


def find_number_fault(entries: Sequence[ImageEntry]) -> EntryFault | None:
    """Return the first entry whose inode mksquashfs would number otherwise."""
    root, *others = _first_names(entries)
    for number, entry in enumerate([*others, root], start=1):
        if entry.inode != number:
            text = f"its inode has number {entry.inode}, mksquashfs gives it {number}"
            return EntryFault(path=entry.path, text=text)
    return None


def _first_names(entries: Sequence[ImageEntry]) -> Iterator[ImageEntry]:
    """Yield each inode once, under the first of its names."""
    seen: set[int] = set()
    for entry in entries:
        if entry.inode not in seen:
            seen.add(entry.inode)
            yield entry


def _data_fault(image: Image, entries: Sequence[ImageEntry]) -> EntryFault | None:
    end = SUPERBLOCK_BYTES
    if image.compressor_options is not None:
        header = image.stored_data(end, HEADER_BYTES)
        end += HEADER_BYTES + (int.from_bytes(header, "little") & _LENGTH_MASK)
    starts: set[int] = set()
    for entry in entries:
        blocks = entry.blocks
        if blocks is None or not (stored_bytes := blocks.stored_bytes):
            continue
        if blocks.start in starts:
            continue
        if blocks.start != end:
            return EntryFault(path=entry.path, text=_misplaced(blocks, end))
        starts.add(blocks.start)
        end += stored_bytes
    table = image.superblock.inode_table_start
    if end != table:
        text = f"{table - end:,} bytes between the last file and the inode table"
        return EntryFault(path="", text=text)
    return None


def _misplaced(blocks: FileBlocks, end: int) -> str:
    return f"its data are at byte {blocks.start:,}, mksquashfs writes them at {end:,}"
