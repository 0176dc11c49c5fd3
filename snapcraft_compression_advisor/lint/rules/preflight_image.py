"""SCA501 to SCA504, SCA508, SCA511, SCA512: what of an image the store refuses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...codecs import CODECS
from ...codecs.codec import DATA_BLOCK_BYTES
from ...core.units import KIB, MIB, counted
from ...preflight.differences import (
    CHECK,
    COMPRESSOR_OPTIONS,
    DELTA_FLAGS,
    NO_FRAGMENTS,
    NO_XATTRS,
    SNAP_FLAGS,
    odd_flags,
)
from ...squashfs.entry import MINIMUM_IMAGE_BYTES
from ...squashfs.mksquashfs import SYSTEM_SNAP_TYPES
from ..finding import Evidence, Finding, Fix, measured
from ..rule import Context, Rule, no_image

if TYPE_CHECKING:
    from ...preflight.packing import Packing

_GIB = 1024 * MIB
COMPRESSED_LIMIT_BYTES = 5 * _GIB
"""``MAX_COMPRESSED_SIZE`` of ``reviewtools/common.py``."""
UNPACKED_LIMIT_BYTES = 25 * _GIB
"""``MAX_UNCOMPRESSED_SIZE`` of ``reviewtools/common.py``."""

StoreRule = partial(Rule, severity="error", unasked=no_image)
"""A rule about the store's review, unless it says otherwise an error."""


def repacked_packing(context: Context) -> Packing | None:
    """Return how a built snap was packed, where the store packs it again."""
    return None if context.snap.type in SYSTEM_SNAP_TYPES else context.packing


@StoreRule(id="SCA501")
def block_size(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the block size isn't 128 KiB."""
    packing = repacked_packing(context)
    if packing is None or packing.superblock.block_bytes == DATA_BLOCK_BYTES:
        return
    kib = packing.superblock.block_bytes // KIB
    yield rule.finding(
        context,
        f"The image has blocks of {kib} KiB, but the store packs with "
        f"{DATA_BLOCK_BYTES // KIB} KiB, so its repack differs.",
        evidence=(measured("block size", f"{kib} KiB"),),
    )


@StoreRule(id="SCA502")
def fragments(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image has fragments."""
    packing = context.packing
    if packing is None or not packing.superblock.fragment_count:
        return
    count = packing.superblock.fragment_count
    yield rule.finding(
        context,
        f"The image has {counted(count, 'fragment block')}: it was packed without "
        "-no-fragments.",
        evidence=(measured("fragment blocks", f"{count:,}"),),
    )


@StoreRule(id="SCA503")
def compressor_options(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image has compressor options."""
    packing = repacked_packing(context)
    if packing is None or packing.compressor_options is None:
        return
    codec = packing.superblock.codec
    known = CODECS.get(codec)
    if known and packing.compressor_options == known.default_options:
        return
    raw = packing.compressor_options.hex(" ")
    yield rule.finding(
        context,
        f"The image has {codec} options other than mksquashfs's defaults, but the "
        "store's repack has none.",
        evidence=(measured("compressor options", raw),),
    )


@StoreRule(id="SCA504")
def superblock_flags(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if flags aren't those of a packed snap."""
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
    yield rule.finding(
        context,
        f"The superblock differs from that of the store's repack: {'; '.join(words)}.",
        evidence=(measured("flags", f"{flags:#x}, a snap's are {SNAP_FLAGS:#x}"),),
    )


@StoreRule(id="SCA508")
def padding(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the file doesn't end where a packed snap ends."""
    packing = repacked_packing(context)
    if packing is None:
        return
    sizes = (
        measured("size of the file", f"{packing.image_bytes:,} bytes"),
        measured("of which used", f"{packing.superblock.used_bytes:,} bytes"),
    )
    if not packing.ends_as_packed:
        yield rule.finding(
            context,
            f"The file has {packing.image_bytes:,} bytes; packed again, it has "
            f"{packing.padded_bytes:,} and ends in zeros.",
            evidence=sizes,
        )
    elif packing.is_small:
        grown = packing.image_bytes == MINIMUM_IMAGE_BYTES
        published = Evidence(
            "snapd that pads to 16 KiB",
            "2.61 and later; a review refused it in January 2024 "
            "(canonical/checkbox pull request 934)",
            "published",
        )
        yield rule.finding(
            context,
            f"The image is smaller than 16 KiB and {'is' if grown else 'is not'} "
            "padded to that size; whether the store's repack is padded depends on its "
            "version.",
            evidence=(*sizes, published),
            fix=Fix("Ship a few kilobytes more"),
            undecided=True,
        )


@StoreRule(id="SCA511", severity="info")
def no_snap_delta(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if snapd makes no snap-aware delta of the image."""
    packing = context.packing
    if packing is None:
        return
    flags = packing.superblock.flags & (CHECK | COMPRESSOR_OPTIONS)
    refused = tuple(odd_flags(flags, expected=0))
    reasons = refused or tuple(_obstacles(packing))
    if not reasons:
        return
    effect = (
        "can't be used, so snapd falls back to a delta of the compressed files"
        if refused
        else "rebuilds a different image, so snapd downloads the whole one"
    )
    yield rule.finding(
        context,
        f"The delta format snap-1-1-xdelta3 {effect}: {'; '.join(reasons)}.",
        evidence=(
            measured("flags", f"{packing.superblock.flags:#x}"),
            Evidence(
                "format snap-1-1-xdelta3",
                "snapd 2.75 and later, experimental",
                "published",
            ),
        ),
    )


@StoreRule(id="SCA512")
def store_size(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image is larger than the store accepts."""
    packing = context.packing
    if packing is None:
        return
    for limit, what, size_bytes, limit_bytes in (
        ("packed", "The file", packing.image_bytes, COMPRESSED_LIMIT_BYTES),
        ("unpacked", "Unpacked, it", context.inventory.raw_bytes, UNPACKED_LIMIT_BYTES),
    ):
        if size_bytes > limit_bytes:
            most = f"{limit_bytes // _GIB} GiB"
            yield rule.finding(
                context,
                f"{what} has {size_bytes / _GIB:.2f} GiB, more than the {most} that "
                "the store accepts.",
                subject={"limit": limit},
                evidence=(
                    measured("size", f"{size_bytes:,} bytes"),
                    Evidence("limit", most, "published"),
                ),
            )


def _obstacles(packing: Packing) -> Iterator[str]:
    """Yield what the delta's header doesn't say, so that the rebuilt image differs."""
    block_bytes = packing.superblock.block_bytes
    if block_bytes != DATA_BLOCK_BYTES:
        yield f"blocks of {block_bytes // KIB} KiB"
    yield from odd_flags(packing.superblock.flags & ~DELTA_FLAGS, expected=0)
    if packing.order is not None:
        yield "data that isn't in mksquashfs's order"
    if packing.zeros is not None:
        yield "stored blocks of zeros"
    if not packing.ends_as_packed:
        yield "a different end of the file"


RULES = (
    block_size,
    fragments,
    compressor_options,
    superblock_flags,
    padding,
    no_snap_delta,
    store_size,
)
