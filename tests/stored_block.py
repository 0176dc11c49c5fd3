"""Data blocks that aren't in any image."""

from __future__ import annotations

from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.result import StoredBlocks


def stored_block(*, raw_bytes: int, stored_bytes: int) -> ImageBlock:
    """Return a block, which is compressed if it takes fewer bytes than it has."""
    stored = stored_bytes >= raw_bytes
    return ImageBlock(
        position=0, stored_bytes=stored_bytes, raw_bytes=raw_bytes, is_stored=stored
    )


def sizes_of_file(blocks: StoredBlocks, path: str) -> list[int]:
    """Return what each block of a file takes."""
    places = blocks.places(path)
    return [int(size) for size in blocks.stored_bytes[places.start : places.stop]]
