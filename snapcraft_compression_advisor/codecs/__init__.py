"""The compressors of squashfs, bound to the libraries that mksquashfs links."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from .codec import Codec, Decompressor, Identity
from .deflate import Gzip
from .legacy_lzma import LegacyLzma
from .lz4 import Lz4
from .lzo import Lzo
from .xz import Xz
from .zstandard import Zstd

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

READERS: Mapping[str, Decompressor] = MappingProxyType(
    {each.name: each for each in _READERS}
)
"""The same by name: of a codec, or lzma (the legacy LZMA-alone)."""
