"""SCA511 and SCA512: whether deltas work, and whether the store takes the size."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.codecs import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import KIB, MIB
from snapcraft_compression_advisor.lint.finding import Evidence, Fix
from snapcraft_compression_advisor.lint.rules.preflight import (
    PACK_AGAIN,
    measured,
    store_finding,
)
from snapcraft_compression_advisor.preflight.flags import (
    CHECK,
    COMPRESSOR_OPTIONS,
    DELTA_FLAGS,
    odd_flags,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Finding, Severity
    from snapcraft_compression_advisor.preflight.packing import Packing

_GIB = 1024 * MIB
COMPRESSED_LIMIT_BYTES = 5 * _GIB
"""``MAX_COMPRESSED_SIZE`` of ``reviewtools/common.py``."""
UNPACKED_LIMIT_BYTES = 25 * _GIB
"""``MAX_UNCOMPRESSED_SIZE`` of ``reviewtools/common.py``."""


class NoSnapDelta:
    """An image that snapd's newer deltas can't rebuild."""

    id: ClassVar[str] = "SCA511"
    name: ClassVar[str] = "no-snap-delta"
    severity: ClassVar[Severity] = "info"
    summary: ClassVar[str] = "snapd's newer delta format can't be used for the image."
    fails_if: ClassVar[str] = (
        "A built snap has compressor options or the check flag, which make snapd "
        "refuse the delta format `snap-1-1-xdelta3`; or blocks of another size than "
        "128 KiB, flags that the delta's header has no mksquashfs option for, data "
        "that aren't in mksquashfs's order, zeros that aren't left out, another end of "
        "the file: snapd then rebuilds another image and downloads the whole one."
    )
    why: ClassVar[str] = (
        "The format (snapd 2.75 and later, experimental: `snap set system "
        "experimental.snap-delta-format=true`; `snap delta` in 2.76) takes the "
        "difference of the unpacked contents and packs the new image on the user's "
        "machine, from the codec, time and flags in the delta's header. Its deltas "
        "are smaller than the plain xdelta3 between compressed images, which remains "
        "where it can't be used (snapd's `snap/squashfs/delta.go`)."
    )
    how_to_fix: ClassVar[str] = PACK_AGAIN
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding that says why."""
        packing = context.packing
        if packing is None:
            return
        refused = tuple(_refusals(packing))
        reasons = refused or tuple(_obstacles(packing))
        if not reasons:
            return
        effect = (
            "refuses the image and falls back to a delta of the compressed files"
            if refused
            else "rebuilds another image, and downloads the whole one"
        )
        yield store_finding(
            self,
            context,
            f"snapd's snap-1-1-xdelta3 {effect}: {'; '.join(reasons)}.",
            evidence=(
                measured("flags", f"{packing.superblock.flags:#x}"),
                Evidence(
                    label="format snap-1-1-xdelta3",
                    text="snapd 2.75 and later, experimental",
                    origin="published",
                ),
            ),
        )


class StoreSize:
    """More than the store takes."""

    id: ClassVar[str] = "SCA512"
    name: ClassVar[str] = "store-size"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The snap is larger than the store takes."
    fails_if: ClassVar[str] = (
        "A built snap's file has more than 5 GiB, or its files come to more than 25 "
        "GiB unpacked."
    )
    why: ClassVar[str] = (
        "The store's review refuses it before it looks at anything else "
        "(`MAX_COMPRESSED_SIZE` and `MAX_UNCOMPRESSED_SIZE`)."
    )
    how_to_fix: ClassVar[str] = (
        "Leave files out, or move them into components or content snaps."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield a finding for each limit that is passed."""
        packing = context.packing
        if packing is None:
            return
        for what, size_bytes, limit_bytes in (
            ("The file", packing.image_bytes, COMPRESSED_LIMIT_BYTES),
            ("Unpacked it", context.inventory.raw_bytes, UNPACKED_LIMIT_BYTES),
        ):
            if size_bytes > limit_bytes:
                size, limit = size_bytes / _GIB, limit_bytes // _GIB
                yield store_finding(
                    self,
                    context,
                    f"{what} has {size:.2f} GiB, more than the {limit} GiB that the "
                    "store takes.",
                    evidence=(
                        measured("size", f"{size_bytes:,} bytes"),
                        Evidence(
                            label="limit", text=f"{limit} GiB", origin="published"
                        ),
                    ),
                    fix=Fix(description="Leave files out, or move them elsewhere"),
                )


def _refusals(packing: Packing) -> Iterator[str]:
    """Yield what snapd refuses such a delta for."""
    flags = packing.superblock.flags & (CHECK | COMPRESSOR_OPTIONS)
    yield from odd_flags(flags, expected=0)


def _obstacles(packing: Packing) -> Iterator[str]:
    """Yield what the delta's header doesn't say, so that the rebuilt image differs."""
    block_bytes = packing.superblock.block_bytes
    if block_bytes != DATA_BLOCK_BYTES:
        yield f"blocks of {block_bytes // KIB} KiB"
    yield from odd_flags(packing.superblock.flags & ~DELTA_FLAGS, expected=0)
    if packing.order is not None:
        yield "its data aren't in mksquashfs's order"
    if packing.zeros is not None:
        yield "blocks of zeros that aren't left out"
    if not packing.ends_as_packed:
        yield "another end of the file"


RULES = (NoSnapDelta(), StoreSize())
