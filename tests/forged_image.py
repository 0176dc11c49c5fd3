"""Squashfs images made byte by byte, right or wrong, for the reader's tests.

Metadata and data blocks are stored uncompressed, so offsets are easy to tell.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

METADATA_BYTES = 8192
BLOCK_BYTES = 4096
STORED = 1 << 24
NO_FRAGMENT = 0xFFFF_FFFF
ABSENT = 0xFFFF_FFFF_FFFF_FFFF
DATA_START = 96


def superblock(**changes: int) -> bytes:
    """Return a superblock for an image of 1,000 bytes, right but for the changes."""
    fields = {
        "magic": 0x73717368,
        "inodes": 1,
        "mkfs_time": 1_600_000_000,
        "block_size": BLOCK_BYTES,
        "fragments": 0,
        "compression": 1,
        "block_log": 12,
        "flags": 0,
        "no_ids": 1,
        "major": 4,
        "minor": 0,
        "root": 0,
        "used": 1000,
        "id_start": 900,
        "xattr_start": ABSENT,
        "inode_start": 200,
        "directory_start": 300,
        "fragment_start": 400,
        "export_start": ABSENT,
    }
    assert changes.keys() <= fields.keys()
    return struct.pack("<5I6H8Q", *(fields | changes).values())


def metadata_blocks(contents: bytes) -> bytes:
    """Return contents as a run of stored metadata blocks."""
    chunks = (
        contents[start : start + METADATA_BYTES]
        for start in range(0, len(contents), METADATA_BYTES)
    )
    return b"".join(struct.pack("<H", len(c) | 0x8000) + c for c in chunks)


def inode(form: int, number: int, body: bytes, *, owner: int = 0) -> bytes:
    """Return an inode with mode 0o644."""
    return struct.pack("<4H2I", form, 0o644, owner, owner, 7, number) + body


def directory_inode(
    number: int, *, listing_bytes: int, offset: int = 0, block: int = 0
) -> bytes:
    """Return a basic directory inode."""
    body = struct.pack("<2I2HI", block, 2, listing_bytes + 3, offset, 1)
    return inode(1, number, body)


def file_inode(  # noqa: PLR0913 - one argument for each field of the format
    number: int,
    *,
    start: int = DATA_START,
    size: int = 0,
    words: Sequence[int] = (),
    fragment: int = NO_FRAGMENT,
    offset: int = 0,
) -> bytes:
    """Return a basic file inode."""
    body = struct.pack("<4I", start, fragment, offset, size)
    return inode(2, number, body + struct.pack(f"<{len(words)}I", *words))


def extended_file_inode(
    number: int, *, size: int, words: Sequence[int], links: int = 1
) -> bytes:
    """Return an extended file inode, whose data start behind the superblock."""
    body = struct.pack("<3Q4I", DATA_START, size, 0, links, NO_FRAGMENT, 0, NO_FRAGMENT)
    return inode(9, number, body + struct.pack(f"<{len(words)}I", *words))


def symlink_inode(number: int, target: bytes, *, size: int | None = None) -> bytes:
    """Return a symbolic link's inode, which may claim another size."""
    length = len(target) if size is None else size
    return inode(3, number, struct.pack("<2I", 1, length) + target)


def listing(*children: tuple[bytes, int], block: int = 0) -> bytes:
    """Return a directory's records: names with their inode's offset."""
    if not children:
        return b""
    records = b"".join(
        struct.pack("<HhHH", offset, 0, 2, len(name) - 1) + name
        for name, offset in children
    )
    return struct.pack("<3I", len(children) - 1, block, 1) + records


@dataclass(kw_only=True)
class ForgedImage:
    """Tables and data of an image; :meth:`build` writes the rest around them."""

    inodes: bytes
    directories: bytes = b""
    data: bytes = b""
    ids: Sequence[int] = (1000,)
    fragments: Sequence[tuple[int, int]] = ()
    inode_count: int = 1
    root: int = 0
    changes: dict[str, int] = field(default_factory=dict)

    def build(self) -> bytes:
        """Return the image's bytes; ``changes`` overrule the superblock's fields."""
        fragments = b"".join(struct.pack("<Q2I", *f, 0) for f in self.fragments)
        image = bytearray(DATA_START) + self.data
        fields = {"inode_start": len(image)}
        image += metadata_blocks(self.inodes)
        fields["directory_start"] = len(image)
        image += metadata_blocks(self.directories)
        fields["fragment_start"] = self._indexed(image, fragments)
        ids = struct.pack(f"<{len(self.ids)}I", *self.ids)
        fields["id_start"] = self._indexed(image, ids)
        fields |= {
            "inodes": self.inode_count,
            "fragments": len(self.fragments),
            "no_ids": len(self.ids),
            "root": self.root,
            "used": len(image),
        }
        image[:DATA_START] = superblock(**(fields | self.changes))
        return bytes(image)

    @staticmethod
    def _indexed(image: bytearray, contents: bytes) -> int:
        """Add a table and its index; return the index's position."""
        start = len(image)
        image += metadata_blocks(contents)
        index = len(image)
        stride = METADATA_BYTES + 2
        image += b"".join(
            struct.pack("<Q", position) for position in range(start, index, stride)
        )
        return index


def tree(*children: tuple[bytes, bytes], **changes: int) -> ForgedImage:
    """Return an image whose root has the given names and inodes, in that order.

    The root is inode 1, at the start of the inode table.
    """
    root_bytes = len(directory_inode(1, listing_bytes=0))
    offsets = []
    inodes = b""
    for _, record in children:
        offsets.append(root_bytes + len(inodes))
        inodes += record
    names = [name for name, _ in children]
    records = listing(*zip(names, offsets, strict=True))
    return ForgedImage(
        inodes=directory_inode(1, listing_bytes=len(records)) + inodes,
        directories=records,
        inode_count=len(children) + 1,
        changes=changes,
    )
