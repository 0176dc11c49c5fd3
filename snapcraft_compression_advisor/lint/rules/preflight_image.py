"""SCA501 to SCA504: what the superblock says that the store's repack wouldn't."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.codecs import CODECS, DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import KIB
from snapcraft_compression_advisor.lint.rules.preflight import (
    ENFORCED_FOR,
    PACK_AGAIN,
    RESQUASH_WHY,
    measured,
    repacked_packing,
    store_finding,
)
from snapcraft_compression_advisor.preflight.flags import (
    COMPRESSOR_OPTIONS,
    NO_FRAGMENTS,
    NO_XATTRS,
    SNAP_FLAGS,
    odd_flags,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Finding, Severity


class BlockSize:
    """Data blocks of another size than mksquashfs's default."""

    id: ClassVar[str] = "SCA501"
    name: ClassVar[str] = "block-size"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image's blocks aren't of 128 KiB."
    fails_if: ClassVar[str] = (
        "The superblock of a built snap has a block size other than 131,072 bytes "
        f"(mksquashfs's `-b`). {ENFORCED_FOR}"
    )
    why: ClassVar[str] = RESQUASH_WHY
    how_to_fix: ClassVar[str] = PACK_AGAIN
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where the block size is another."""
        packing = repacked_packing(context)
        if packing is None or packing.superblock.block_bytes == DATA_BLOCK_BYTES:
            return
        kib = packing.superblock.block_bytes // KIB
        yield store_finding(
            self,
            context,
            f"The image has blocks of {kib} KiB, and the store packs again with "
            f"{DATA_BLOCK_BYTES // KIB} KiB: its repack differs.",
            evidence=(measured("block size", f"{kib} KiB"),),
        )


class Fragments:
    """Tails of files packed together."""

    id: ClassVar[str] = "SCA502"
    name: ClassVar[str] = "fragments"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image has fragments, which the store refuses."
    fails_if: ClassVar[str] = (
        "A built snap of whatever type was packed without `-no-fragments` and has "
        "fragment blocks."
    )
    why: ClassVar[str] = (
        "The store's review refuses fragments before it unpacks anything "
        "(`squashfs_fragments`): older versions of mksquashfs filled them in an order "
        "that changed from run to run."
    )
    how_to_fix: ClassVar[str] = PACK_AGAIN
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where there are fragments."""
        packing = context.packing
        if packing is None or not packing.superblock.fragment_count:
            return
        count = packing.superblock.fragment_count
        blocks = "block" if count == 1 else "blocks"
        yield store_finding(
            self,
            context,
            f"The image has {count:,} fragment {blocks}: it was packed without "
            "-no-fragments.",
            evidence=(measured("fragment blocks", f"{count:,}"),),
        )


class CompressorOptions:
    """Options of the compressor other than mksquashfs's defaults."""

    id: ClassVar[str] = "SCA503"
    name: ClassVar[str] = "compressor-options"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image was packed with options of the compressor."
    fails_if: ClassVar[str] = (
        "A built snap's superblock is followed by compressor options: a dictionary, "
        "filters, a level or an algorithm other than mksquashfs's defaults (`-X...`). "
        "Options that name the default leave no trace and change nothing. "
        f"{ENFORCED_FOR}"
    )
    why: ClassVar[str] = (
        f"{RESQUASH_WHY} snapd's snap-1-1-xdelta3 deltas refuse such an image too."
    )
    how_to_fix: ClassVar[str] = PACK_AGAIN
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where there are options."""
        packing = repacked_packing(context)
        if packing is None or packing.compressor_options is None:
            return
        codec = packing.superblock.codec
        known = CODECS.get(codec)
        if known and packing.compressor_options == known.default_options:
            return
        raw = packing.compressor_options.hex(" ")
        yield store_finding(
            self,
            context,
            f"The image carries options of {codec} that aren't mksquashfs's defaults: "
            "the store's repack has none.",
            evidence=(measured("compressor options", raw),),
        )


class SuperblockFlags:
    """Flags that ``snap pack`` wouldn't leave."""

    id: ClassVar[str] = "SCA504"
    name: ClassVar[str] = "superblock-flags"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The superblock's flags aren't those of a snap."
    fails_if: ClassVar[str] = (
        "A built snap's superblock has a flag that mksquashfs doesn't set with the "
        "store's options, or lacks one: uncompressed inodes, data, ids, fragments or "
        "attributes (`-noI`, `-noD`, `-noId`, `-noF`, `-noX`), `-tailends`, "
        "`-no-duplicates`, `-no-exports`, no `-no-fragments`, no `-no-xattrs`. "
        f"{ENFORCED_FOR}"
    )
    why: ClassVar[str] = RESQUASH_WHY
    how_to_fix: ClassVar[str] = PACK_AGAIN
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding that names all such flags."""
        packing = repacked_packing(context)
        if packing is None:
            return
        flags = packing.superblock.flags
        told = COMPRESSOR_OPTIONS  # rules of their own speak of these
        told |= NO_FRAGMENTS if packing.superblock.fragment_count else 0
        told |= NO_XATTRS if packing.has_xattrs else 0
        words = odd_flags(flags & ~told | SNAP_FLAGS & told)
        if not words:
            return
        yield store_finding(
            self,
            context,
            f"The superblock differs from what the store packs again: "
            f"{'; '.join(words)}.",
            evidence=(measured("flags", f"{flags:#x}, a snap's are {SNAP_FLAGS:#x}"),),
        )


RULES = (
    BlockSize(),
    Fragments(),
    CompressorOptions(),
    SuperblockFlags(),
)
