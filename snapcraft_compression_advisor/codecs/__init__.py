"""The compressors of squashfs, bound to the libraries that mksquashfs links."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ..core.errors import BadDataError
from .codec import DATA_BLOCK_BYTES, METADATA_BLOCK_BYTES, Codec, Decompressor, Identity
from .deflate import Gzip
from .legacy_lzma import LegacyLzma
from .lz4 import Lz4
from .lzo import Lzo
from .xz import Xz
from .zstandard import Zstd

__all__ = [
    "CODECS",
    "DATA_BLOCK_BYTES",
    "DECOMPRESSORS",
    "METADATA_BLOCK_BYTES",
    "SHIPPABLE",
    "Codec",
    "CodecName",
    "CompressorName",
    "Decompressor",
    "decompressor",
]

CompressorName = Literal["xz", "lzo", "gzip", "zstd", "lz4"]
"""The codecs that a kernel can decompress, as files and reports name them."""

CodecName = Literal[CompressorName, "none"]

_IN_ORDER: tuple[Codec, ...] = (Xz(), Lzo(), Gzip(), Zstd(), Lz4(), Identity())

CODECS: Mapping[str, Codec] = MappingProxyType({each.name: each for each in _IN_ORDER})
"""All codecs by name; the shippable ones first, snapcraft's default before all."""

SHIPPABLE = tuple(codec.name for codec in _IN_ORDER if codec.shippable)
"""What snapcraft's ``compression`` key and snapd's ``snap pack`` accept."""

_READERS: tuple[Decompressor, ...] = (*_IN_ORDER, LegacyLzma())

DECOMPRESSORS: Mapping[int, Decompressor] = MappingProxyType(
    {each.squashfs_id: each for each in _READERS if each.squashfs_id is not None}
)
"""What reads the blocks of an image, by the compression id in its superblock."""


def decompressor(name: str) -> Decompressor:
    """Return what reads the blocks of an image.

    :param name: of a codec, or lzma (the legacy LZMA-alone).
    :raises BadDataError: for any other name.
    """
    by_name = {each.name: each for each in DECOMPRESSORS.values()}
    found = by_name.get(name)
    if found is None:
        known = ", ".join(sorted(by_name))
        message = f"squashfs has no compressor named {name!r}"
        raise BadDataError(
            message, resolution=f"The compressors of squashfs are {known}."
        )
    return found
