"""The size of an image's metadata: inodes, directories and what leads to them."""

from __future__ import annotations

import math
from operator import mul

from ..codecs import CODECS
from ..payload.inventory import Inventory
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import MINIMUM_IMAGE_BYTES, SUPERBLOCK_BYTES

PADDING_BYTES = 4096
"""mksquashfs fills an image up to a multiple of this (``mksquashfs.c``, do_pad)."""

METADATA_ERROR = 0.2
"""By how much the estimate may be off, two standard deviations: of the directories of
its fit (:attr:`Codec.metadata_bytes_each`) it was off by up to 30 %, of the
applications by up to 3 %. Metadata is 0.2 to 1 % of their images."""

TABLES_ERROR_BYTES = 400
"""By how much it may be off at least: the ends of an image's tables, which the fit
leaves out, take 150 (lzo) to 360 bytes (xz) of an image of 20 files."""


def metadata_of(inventory: Inventory) -> dict[str, float]:
    """Return the estimated bytes of the metadata by codec, superblock and all."""
    entries = inventory.entries.values()
    names = "".join(path.rpartition("/")[2] for path in inventory.entries)
    targets = "".join(entry.link_target or "" for entry in entries)
    inodes = 1 + len({entry.identity for entry in entries})  # 1: the root
    characters = len((names + targets).encode("utf-8", "surrogateescape"))
    counts = (inodes, characters, inventory.data_blocks)
    return {
        name: SUPERBLOCK_BYTES + sum(map(mul, codec.metadata_bytes_each, counts))
        for name, codec in CODECS.items()
    }


def metadata_bytes(payload: Payload) -> dict[str, float]:
    """Return the estimated bytes of a payload's metadata by codec.

    A built snap's own metadata shows by how much the estimate is off.
    """
    estimated = metadata_of(payload.inventory)
    if not isinstance(payload, SnapPayload) or payload.packed_with not in estimated:
        return estimated
    superblock = payload.image.superblock
    own = superblock.used_bytes - superblock.inode_table_start
    factor = own / estimated[payload.packed_with]
    return {codec: factor * each for codec, each in estimated.items()}


def padded_bytes(size_bytes: float) -> float:
    """Return the size of the file that mksquashfs and ``snap pack`` make of it."""
    pages = math.ceil(round(size_bytes, 3) / PADDING_BYTES)
    return float(max(MINIMUM_IMAGE_BYTES, pages * PADDING_BYTES))
