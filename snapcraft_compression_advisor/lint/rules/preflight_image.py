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


RESQUASH_WHY = (
    "The store's review unpacks the image, packs it again with `mksquashfs -noappend "
    "-comp xz -all-root -no-xattrs -no-fragments` (or lzo) and compares the two "
    "images byte for byte (`squashfs_repack_checksum`)."
)
ENFORCED_FOR = (
    "The rule skips bases, `core`, `os` and `snapd`, for which the store doesn't "
    "enforce the repack."
)
PACK_AGAIN = "Pack with `snapcraft pack` or `snap pack`, without further options."
StoreRule = partial(
    Rule,
    severity="error",
    how_to_fix=PACK_AGAIN,
    remedy="Pack again with 'snapcraft pack' or 'snap pack'",
    unasked=no_image,
)
"""A rule about the store's review, unless it says otherwise an error."""


def repacked_packing(context: Context) -> Packing | None:
    """Return how a built snap was packed, where the store packs it again."""
    return None if context.snap.type in SYSTEM_SNAP_TYPES else context.packing


@StoreRule(
    id="SCA501",
    summary="The image's block size isn't 128 KiB.",
    fails_if="The superblock of a built snap has a block size other than 131,072 bytes "
    f"(`-b` of mksquashfs). {ENFORCED_FOR}",
    why=RESQUASH_WHY,
)
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


@StoreRule(
    id="SCA502",
    summary="The image has fragments, which the store refuses.",
    fails_if="A built snap of any type has fragment blocks, because it was packed "
    "without `-no-fragments`.",
    why="The store's review refuses fragments before it unpacks the image "
    "(`squashfs_fragments`), because older versions of mksquashfs filled them in an "
    "order that changed from run to run.",
)
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


@StoreRule(
    id="SCA503",
    summary="The image was packed with compressor options.",
    fails_if="The superblock of a built snap is followed by compressor options: a "
    "dictionary, filters, a level or an algorithm other than mksquashfs's defaults "
    "(`-X...`). Options that name the default aren't stored and change nothing. "
    f"{ENFORCED_FOR}",
    why=f"{RESQUASH_WHY} snapd's snap-1-1-xdelta3 deltas refuse such an image as well.",
)
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


@StoreRule(
    id="SCA504",
    summary="The superblock's flags aren't those of a packed snap.",
    fails_if="The superblock of a built snap has a flag that mksquashfs doesn't set "
    "with the store's options, or lacks one that it sets: uncompressed inodes, data, "
    "ids, fragments or attributes (`-noI`, `-noD`, `-noId`, `-noF`, `-noX`), "
    "`-tailends`, `-no-duplicates`, `-no-exports`, or packing without `-no-fragments` "
    f"or `-no-xattrs`. {ENFORCED_FOR}",
    why=RESQUASH_WHY,
)
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


@StoreRule(
    id="SCA508",
    summary="The file doesn't end where a packed snap ends.",
    fails_if="The file of a built snap doesn't end at the first multiple of 4 KiB "
    "after the image (`-nopad`, appended data), or has bytes other than zeros there. "
    "If the image itself is smaller than 16 KiB, the finding is undecided: since snapd "
    "2.61, `snap pack` pads such a file to 16 KiB, mksquashfs doesn't, and versions of "
    f"the review differ in which of the two they expect. {ENFORCED_FOR}",
    why=f"{RESQUASH_WHY} snapd pads small images because kernels log errors if a loop "
    "device is smaller than 16 KiB (pull request 13191).",
    how_to_fix=f"{PACK_AGAIN} If the image is smaller than 16 KiB, ship a few "
    "kilobytes more, such as the text of the licence.",
)
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


@StoreRule(
    id="SCA511",
    severity="info",
    summary="snapd's newer delta format can't be used for the image.",
    fails_if="A built snap has compressor options or the check flag, for which snapd "
    "refuses the delta format `snap-1-1-xdelta3`. Or it has a block size other "
    "than 128 KiB, flags for which the delta has no mksquashfs option, data that "
    "isn't in mksquashfs's order, stored blocks of zeros, or a different end of "
    "the file: snapd then rebuilds a different image and downloads the whole one.",
    why="This format (snapd 2.75 and later, experimental: `snap set system "
    "experimental.snap-delta-format=true`; `snap delta` in 2.76) takes the difference "
    "of the unpacked contents, and the user's machine packs the new image with the "
    "codec, time and flags in the delta's header. Such deltas are smaller than those "
    "of the images, which snapd uses otherwise (`snap/squashfs/delta.go`).",
)
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


@StoreRule(
    id="SCA512",
    summary="The snap is larger than the store accepts.",
    fails_if="The file of a built snap is larger than 5 GiB, or its contents are "
    "larger than 25 GiB unpacked.",
    why="The store's review refuses it before any other check (`MAX_COMPRESSED_SIZE` "
    "and `MAX_UNCOMPRESSED_SIZE`).",
    how_to_fix="Leave files out, or move them into components or content snaps.",
    remedy="Leave files out, or move them elsewhere",
)
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
