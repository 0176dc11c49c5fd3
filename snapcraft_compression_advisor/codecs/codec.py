"""The interface of a compressor, and the one that does nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from ..core.errors import BadDataError
from ..core.units import Interval

DATA_BLOCK_BYTES = 128 * 1024
"""Size of a data block in a snap: mksquashfs's default, which ``snap pack`` keeps."""

METADATA_BLOCK_BYTES = 8 * 1024
"""Size of a full metadata block: ``SQUASHFS_METADATA_SIZE`` of the kernel's
``fs/squashfs/squashfs_fs.h``."""


class Decompressor(ABC):
    """The part of a codec that reading takes: the way back from a block."""

    name: ClassVar[str]
    """Name as ``mksquashfs -comp`` spells it, or ``none``."""
    squashfs_id: ClassVar[int | None]
    """Compression id of the kernel's ``squashfs_fs.h``; ``none`` has none."""

    @abstractmethod
    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """Return the block's contents.

        :param block: a compressed data or metadata block.
        :param max_bytes: the most that the contents may come to.
        :raises BadDataError: if the block is broken, truncated or comes to more.
        :raises ToolError: if the library is missing.
        """


class KernelTime(NamedTuple):
    """What the kernel takes to decompress, in microseconds.

    Fitted by ``cost_fit`` to ``study/data/kernel-blocks.csv``, blocks read from
    real mounts on a server; a test fits them again. Device profiles scale them to
    published throughputs.

    :param block_us: for each block of any contents.
    :param raw_us_per_kib: for each KiB of contents.
    :param stored_us_per_kib: for each KiB that the block takes in the image.
    """

    block_us: float
    raw_us_per_kib: float
    stored_us_per_kib: float


class Codec(Decompressor):
    """One compressor of squashfs, as mksquashfs calls it.

    Instances may be used from several threads at once: they keep nothing between
    calls, and the C library runs without the interpreter's lock.
    """

    shippable: ClassVar[bool] = False
    """Whether snapcraft and the store accept it (only xz and lzo)."""
    keeps_literals: ClassVar[bool] = False
    """Whether bytes that it doesn't find before stay as they are: none are encoded."""
    first_kernel: ClassVar[tuple[int, int] | None]
    """Release of Linux that first had its ``fs/squashfs/…_wrapper.c``; 2.6.x stands as
    (2, x). ``None`` if none is needed, or mainline never had it."""
    default_options: ClassVar[bytes | None] = None
    """Compressor options that mksquashfs writes when it is given none."""
    kernel_time: ClassVar[KernelTime | None]
    """What a block costs; ``None`` if nothing is decompressed."""
    metadata_bytes_each: ClassVar[tuple[float, float, float]] = (15.1, 0.12, 5.6)
    """Bytes of an image's metadata that an inode, a character of names and link
    targets, and a data block add; of a codec that wasn't measured, those of gzip.

    A fit to images of four applications (a calculator, an audio editor, an image
    editor and npm: 9,800 to 28,000 entries) and 25 of their directories.
    """
    in_launch: ClassVar[Interval]
    """Seconds that a launch waits for decompression, per second that the same blocks
    take one after the other.

    More than 1: between two blocks the application runs, and decompression finds
    neither its code nor its tables in the processor's caches. Fitted to measured
    launches by ``study/accuracy.py``: the middle is the median of the applications
    of docs/study/accuracy.md for which the codec adds enough to tell, between the ends
    nine of ten lie (a prediction interval of log-normal figures).
    """

    @property
    def pack_options(self) -> tuple[str, ...]:
        """The options of mksquashfs that choose it."""
        return ("-comp", self.name)

    @property
    @abstractmethod
    def available(self) -> bool:
        """Whether the library is present on this machine."""

    @property
    def exact(self) -> bool:
        """Whether :meth:`compress` goes through the library that mksquashfs links.

        Its blocks are then the very bytes that mksquashfs writes, unless mksquashfs
        is linked statically, or against another version than the machine's.
        """
        return self.available

    @property
    @abstractmethod
    def implementation(self) -> str:
        """The library in use with its version, for the report."""

    @abstractmethod
    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """Return the bytes that mksquashfs writes for the block.

        These are the compressed block if it is smaller than its input, else the input
        itself: mksquashfs then *stores* it (``mangle2`` of ``mksquashfs.c``). So a
        result as long as the input means a stored block, and a shorter one a
        compressed one.

        :param block: up to ``block_bytes`` bytes; a longer one counts as a full
            block of an image with larger blocks.
        :param block_bytes: size of a full block of its kind: the image's block size
            for data and fragments, also for a tail, and
            :data:`METADATA_BLOCK_BYTES` for metadata. It sets the dictionary of xz,
            and the room that a library may write to.
        :raises ToolError: if the library is missing or reports a failure.
        """


def broken_block(name: str, details: str) -> BadDataError:
    """Return the error for a block that a codec can't decompress."""
    return BadDataError(
        f"A block is not valid {name} data",
        details=details,
        resolution="The image is damaged or truncated: build or download it again.",
    )


class Identity(Codec):
    """No compression at all: every block is stored."""

    name = "none"
    squashfs_id = None
    keeps_literals = True
    first_kernel = None
    kernel_time = None
    metadata_bytes_each = (49.0, 1.0, 4.0)
    # An assumption: nothing is packed, and the copying is a small part of the rest.
    in_launch = Interval.exactly(1.0)
    pack_options = ("-comp", "gzip", "-noI", "-noD", "-noF", "-noX")
    available = True
    implementation = "stored"

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """Return the block itself."""
        del block_bytes
        return block

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """Return the block itself.

        :raises BadDataError: if it is longer than allowed.
        """
        if len(block) > max_bytes:
            raise broken_block(self.name, f"more than {max_bytes} bytes")
        return block
