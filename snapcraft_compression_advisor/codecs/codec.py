"""What the rest of the house knows of a compressor."""

from __future__ import annotations

from typing import Protocol

DATA_BLOCK_BYTES = 128 * 1024
"""Size of a data block in a snap: mksquashfs's default, which ``snap pack`` keeps."""

METADATA_BLOCK_BYTES = 8 * 1024
"""Size of a full metadata block: ``SQUASHFS_METADATA_SIZE`` of the kernel's
``fs/squashfs/squashfs_fs.h``."""


class Decompressor(Protocol):
    """What reading an image takes: the way back from a compressed block."""

    @property
    def name(self) -> str:
        """Name as ``mksquashfs -comp`` spells it, or ``none``."""

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """Return the block's contents.

        :param block: a compressed data or metadata block.
        :param max_bytes: the most that the contents may come to.
        :raises BadDataError: where the block is broken, cut short or comes to more.
        :raises ToolError: where the library is missing.
        """


class Codec(Decompressor, Protocol):
    """One compressor of squashfs, as mksquashfs calls it.

    Instances may be used from several threads at once: what they keep between
    calls they keep per thread, and the C library runs without the interpreter's
    lock.
    """

    @property
    def shippable(self) -> bool:
        """Whether snapcraft and the store accept it (only xz and lzo)."""

    @property
    def available(self) -> bool:
        """Whether the library is present on this machine."""

    @property
    def exact(self) -> bool:
        """Whether :meth:`compress` goes through the library that mksquashfs links.

        Its blocks are then the very bytes that mksquashfs writes, unless mksquashfs
        is linked statically, or against another version than the machine's.
        """

    @property
    def implementation(self) -> str:
        """The library in use with its version, for the report."""

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """Return the bytes that mksquashfs writes for the block.

        These are the compressed block where it is smaller than its input, and the
        input itself where it is not: mksquashfs then *stores* it. So a result as
        long as the input means a stored block, and a shorter one a compressed one.

        :param block: up to ``block_bytes`` bytes; a longer one counts as a full
            block of an image with larger blocks.
        :param block_bytes: size of a full block of its kind: the image's block size
            for data and fragments, also for a tail, and
            :data:`METADATA_BLOCK_BYTES` for metadata. It sets the dictionary of xz,
            and the room that a library may write to.
        :raises ToolError: where the library is missing or reports a failure.
        """
