"""How an image was packed, as far as it shows: facts, no judgement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.preflight.block_order import (
    find_number_fault,
    find_order_fault,
)
from snapcraft_compression_advisor.preflight.entry_faults import (
    EntryFault,
    find_mode_faults,
    find_owner_faults,
)
from snapcraft_compression_advisor.preflight.recompress import (
    Recompressed,
    find_unpacked_zeros,
    recompress_some,
)
from snapcraft_compression_advisor.preflight.unpacked_size import unpacked_bytes
from snapcraft_compression_advisor.squashfs.mksquashfs import MINIMUM_IMAGE_BYTES
from snapcraft_compression_advisor.squashfs.superblock import ABSENT_TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.squashfs.entry import ImageEntry
    from snapcraft_compression_advisor.squashfs.image import Image
    from snapcraft_compression_advisor.squashfs.superblock import Superblock

_PAD_BYTES = 4096
"""mksquashfs pads images to a multiple of that, unless run with ``-nopad``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """What an image says of how it was packed.

    :param image_bytes: size of the file.
    :param padded_bytes: where mksquashfs's own padding ends.
    :param trailing_zeros: whether nothing but zeros stands behind the used bytes.
    :param compressor_options: the block of options; ``None`` where there is none.
    :param unpacked_bytes: what its contents take on a disk, at most.
    :param owners: entries that don't belong to root.
    :param modes: entries of a kind or mode that apps don't ship.
    :param order: the first file whose data aren't in mksquashfs's order.
    :param numbers: the first entry whose inode isn't.
    :param zeros: a file with a block of zeros that isn't sparse, where one was met.
    :param recompressed: blocks that were compressed again.
    """

    superblock: Superblock
    image_bytes: int
    padded_bytes: int
    trailing_zeros: bool
    compressor_options: bytes | None
    unpacked_bytes: int
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
        """Whether the file ends where mksquashfs or ``snap pack`` ends it."""
        ends = {self.padded_bytes, max(self.padded_bytes, MINIMUM_IMAGE_BYTES)}
        return self.trailing_zeros and self.image_bytes in ends


def inspect_packing(image: Image, entries: Sequence[ImageEntry]) -> Packing:
    """Look at how an image was packed: all tables, and a few data blocks.

    :param entries: what a walk over the image finds.
    :raises BadDataError: where the image is broken.
    :raises StorageError: where reading fails.
    """
    used = image.superblock.used_bytes
    return Packing(
        superblock=image.superblock,
        image_bytes=image.image_bytes,
        padded_bytes=-(-used // _PAD_BYTES) * _PAD_BYTES,
        trailing_zeros=_ends_in_zeros(image),
        compressor_options=image.compressor_options,
        unpacked_bytes=unpacked_bytes(entries),
        owners=find_owner_faults(entries),
        modes=find_mode_faults(entries),
        order=find_order_fault(image, entries),
        numbers=find_number_fault(entries),
        zeros=find_unpacked_zeros(image, entries),
        recompressed=recompress_some(image, entries),
    )


def _ends_in_zeros(image: Image) -> bool:
    """Tell whether only zeros stand behind the used bytes."""
    return all(
        not any(image.stored_data(start, min(MIB, image.image_bytes - start)))
        for start in range(image.superblock.used_bytes, image.image_bytes, MIB)
    )
