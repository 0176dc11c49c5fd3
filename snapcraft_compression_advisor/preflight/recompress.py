"""Data blocks compressed again, as a sign of who compressed them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.squashfs.entry import STORED_FLAG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.codecs.codec import Codec
    from snapcraft_compression_advisor.squashfs.entry import (
        FileBlocks,
        ImageBlock,
        ImageEntry,
    )
    from snapcraft_compression_advisor.squashfs.image import Image

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

    :param tried: how many.
    :param differing: a file whose block came out otherwise; ``None`` if none did.
    :param library: what they were compressed with.
    """

    tried: int
    differing: str | None
    library: str


def recompress_some(image: Image, entries: Sequence[ImageEntry]) -> Recompressed | None:
    """Compress a few blocks again, spread over the image, with mksquashfs's defaults.

    :returns: nothing where this machine lacks the library that mksquashfs links.
    :raises BadDataError: where a block is broken.
    """
    codec = CODECS.get(image.superblock.codec)
    if codec is None or not codec.available or not codec.exact:
        return None
    filled = [
        (entry.path, entry.blocks)
        for entry in entries
        if entry.blocks is not None
        and len(entry.blocks)
        and entry.blocks.size_words[-1]
    ]
    stored = [item for item in filled if item[1].size_words[-1] & STORED_FLAG]
    others = [item for item in filled if not item[1].size_words[-1] & STORED_FLAG]
    chosen = _spread(stored, _TRIED_STORED)
    chosen += _spread(others, TRIED_BLOCKS - len(chosen))
    differing = next(
        (path for path, blocks in chosen if _differs(image, _last(blocks), codec)),
        None,
    )
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


def _last(blocks: FileBlocks) -> ImageBlock:
    """Return a file's last block: mostly a short one, so cheap to compress."""
    (block,) = blocks.blocks(len(blocks) - 1)
    return block


def _spread(
    items: Sequence[tuple[str, FileBlocks]], count: int
) -> list[tuple[str, FileBlocks]]:
    step = max(1, len(items) // max(1, count))
    return list(items[::step][:count])


def _differs(image: Image, block: ImageBlock, codec: Codec) -> bool:
    contents = image.read_block(block)
    again = codec.compress(contents, block_bytes=image.superblock.block_bytes)
    return again != image.stored_data(block.position, block.stored_bytes)
