"""The compressors of squashfs, bound to the libraries that mksquashfs links."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs.codec import (
    DATA_BLOCK_BYTES,
    METADATA_BLOCK_BYTES,
    Codec,
    Decompressor,
)
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.identity import Identity
from snapcraft_compression_advisor.codecs.lz4 import Lz4
from snapcraft_compression_advisor.codecs.lzma_stream import LegacyLzma
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.core.errors import BadDataError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CODECS",
    "DATA_BLOCK_BYTES",
    "METADATA_BLOCK_BYTES",
    "SHIPPABLE",
    "Codec",
    "Decompressor",
    "decompressor",
]

SHIPPABLE = ("xz", "lzo")
"""What snapcraft's ``compression`` key and snapd's ``snap pack`` accept."""

_IN_ORDER: tuple[Codec, ...] = (Xz(), Lzo(), Gzip(), Zstd(), Lz4(), Identity())

CODECS: Mapping[str, Codec] = MappingProxyType({each.name: each for each in _IN_ORDER})
"""All codecs by name; the shippable ones first, snapcraft's default before all."""

_DECOMPRESSORS: Mapping[str, Decompressor] = MappingProxyType(
    {
        **{name: codec for name, codec in CODECS.items() if name != "none"},
        LegacyLzma.name: LegacyLzma(),
    }
)


def decompressor(name: str) -> Decompressor:
    """Return what reads the blocks of an image.

    :param name: gzip, lzma (the legacy LZMA-alone), lzo, xz, lz4 or zstd.
    :raises BadDataError: for any other name.
    """
    found = _DECOMPRESSORS.get(name)
    if found is None:
        known = ", ".join(sorted(_DECOMPRESSORS))
        message = f"squashfs knows no compressor {name!r}"
        raise BadDataError(message, resolution=f"An image has one of: {known}.")
    return found
