"""SCA5: what of an image or its contents the store refuses, or snapd can't use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...codecs import CODECS
from ...codecs.codec import DATA_BLOCK_BYTES
from ...core.units import KIB, MIB, counted
from ...preflight.differences import (
    CHECK,
    COMPRESSOR_OPTIONS,
    NO_FRAGMENTS,
    NO_XATTRS,
    SNAP_FLAGS,
    odd_flags,
)
from ...preflight.packing import find_unpacked_faults
from ...squashfs.entry import MINIMUM_IMAGE_BYTES
from ...squashfs.mksquashfs import SYSTEM_SNAP_TYPES
from ..finding import Evidence, Finding, Fix, measured
from ..rule import Context, Rule, current_codec, no_image

if TYPE_CHECKING:
    from ...preflight.packing import EntryFault, Packing

_GIB = 1024 * MIB
COMPRESSED_LIMIT_BYTES = 5 * _GIB
"""``MAX_COMPRESSED_SIZE`` of ``reviewtools/common.py``."""
UNPACKED_LIMIT_BYTES = 25 * _GIB
"""``MAX_UNCOMPRESSED_SIZE`` of ``reviewtools/common.py``."""
ROOT_NAME = "(root directory)"
"""What findings call the entry whose path is empty."""
_WHOLE = "(image)"
_SHOWN = 3
_FREE_TYPES = frozenset({"base", "os"})
"""Types whose owners and devices the review lets pass (``check_squashfs_files``)."""

_Trace = tuple[str, str, tuple[Evidence, ...], bool]
"""A trace's kind, what it means, its evidence, and whether that is undecided."""

StoreRule = partial(Rule, severity="error", unasked=no_image)
"""A rule about the store's review, unless it says otherwise an error."""


def repacked_packing(context: Context) -> Packing | None:
    """Return the packing of a built snap, if the store packs it again."""
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
    named = COMPRESSOR_OPTIONS  # rules of their own speak of these
    named |= NO_FRAGMENTS if packing.superblock.fragment_count else 0
    named |= NO_XATTRS if packing.has_xattrs else 0
    words = odd_flags(flags & ~named | SNAP_FLAGS & named)
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
    yield from odd_flags(packing.superblock.flags & ~SNAP_FLAGS, expected=0)
    if packing.order is not None:
        yield "data that isn't in mksquashfs's order"
    if packing.zeros is not None:
        yield "stored blocks of zeros"
    if not packing.ends_as_packed:
        yield "a different end of the file"


@StoreRule(id="SCA505")
def extended_attributes(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if files have extended attributes."""
    packing = repacked_packing(context)
    if packing is None or not packing.has_xattrs:
        return
    yield rule.finding(
        context,
        "The image has extended attributes, but the store's repack has none.",
        evidence=(measured("extended attributes", "the image has their table"),),
    )


@StoreRule(id="SCA506")
def owners(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if files don't belong to root."""
    packing = context.packing
    if packing is None or not packing.owners or context.snap.type in _FREE_TYPES:
        return
    count = len(packing.owners)
    dont = "doesn't" if count == 1 else "don't"
    yield rule.finding(
        context,
        f"{counted(count, 'entry', plural='entries')} of the image {dont} belong to "
        "root.",
        evidence=_examples(packing.owners),
        files=_paths(packing.owners),
    )


@StoreRule(id="SCA507", unasked=lambda _: None)
def file_modes(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if files have modes or kinds that the store refuses."""
    packing = context.packing
    faults = (
        find_unpacked_faults(context.inventory) if packing is None else packing.modes
    )
    if not faults:
        return
    of = "" if packing is None else " of the image"
    found = rule.finding(
        context,
        f"{counted(len(faults), 'entry', plural='entries')}{of} "
        f"{'has' if len(faults) == 1 else 'have'} a mode or kind that the store's "
        "review refuses.",
        evidence=_examples(faults),
        files=_paths(faults),
        fix=Fix("Change the modes in 'override-prime' and pack again"),
        undecided=context.snap.type in _FREE_TYPES,
    )
    if packing is None and not found.undecided:
        # What is packed may differ still, and the snap may go elsewhere.
        found = replace(found, severity="warning")
    yield found


def _examples(faults: Sequence[EntryFault]) -> tuple[Evidence, ...]:
    """Return the first faults as evidence."""
    return tuple(
        measured(each.path or ROOT_NAME, each.text) for each in faults[:_SHOWN]
    )


def _paths(faults: Sequence[EntryFault]) -> tuple[str, ...]:
    return tuple(each.path for each in faults if each.path)


def _order_unread(context: Context) -> str | None:
    """Return why the order of data can't be looked at."""
    packing = repacked_packing(context)
    if packing is not None and packing.superblock.fragment_count:
        return "the order of data in an image with fragments isn't looked at"
    if packing is not None and packing.recompressed is None:
        codec = packing.superblock.codec
        return f"blocks can't be compressed again with {codec} here"
    return None


@StoreRule(id="SCA509", blocked=_order_unread)
def other_writer(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if the image isn't laid out as by mksquashfs."""
    packing = repacked_packing(context)
    if packing is None:
        return
    for trace, message, evidence, undecided in _traces(packing):
        path = evidence[-1].label
        yield rule.finding(
            context,
            message,
            subject={"trace": trace},
            evidence=evidence,
            files=() if path == _WHOLE else (path,),
            undecided=undecided,
        )


def _example(fault: EntryFault) -> Evidence:
    return measured(fault.path or _WHOLE, fault.text)


def _traces(packing: Packing) -> Iterator[_Trace]:
    """Yield what another program left; what depends on versions is undecided."""
    if packing.order is not None:
        message = "The image's data isn't where mksquashfs writes it."
        yield "order", message, (_example(packing.order),), False
    if packing.zeros is not None:
        message = "The image stores a block of zeros, which mksquashfs leaves out."
        yield "zeros", message, (measured(packing.zeros, "has such a block"),), False
    if packing.numbers is not None:
        message = "The image's inodes aren't numbered as mksquashfs 4.5.1 numbers them."
        yield "numbers", message, (_example(packing.numbers),), True
    again, block = packing.recompressed, packing.superblock
    if block.has_compressor_options or block.uncompressed_data:
        return  # another rule says why blocks differ
    if again is not None and again.differing is not None:
        message = (
            f"A data block differs when it is compressed again with {again.library}: "
            "the image was packed with another library or other options."
        )
        tried = measured("blocks compressed again", f"{again.tried}")
        example = measured(again.differing, "has a block that differs")
        yield "block", message, (tried, example), True


def _not_packed_again(context: Context) -> str | None:
    return "--resquash isn't given" if context.resquash is None else no_image(context)


@StoreRule(id="SCA510", unasked=_not_packed_again)
def resquash_differs(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if packing the image again gives another one."""
    resquash = context.resquash
    if resquash is None or resquash.equal:
        return
    first = resquash.differences[0]
    files = dict.fromkeys(each.path for each in resquash.differences if each.path)
    yield rule.finding(
        context,
        "Unpacked and packed again as the store's review does, the image isn't "
        f"the same; the first difference is {first.text}.",
        evidence=(
            measured("packed again with", resquash.tool),
            *(
                measured(
                    each.part
                    if each.path is None
                    else f"{each.part} {each.path or ROOT_NAME}",
                    each.text,
                )
                for each in resquash.differences[1:]
            ),
        ),
        files=tuple(files),
        undecided=context.snap.type in SYSTEM_SNAP_TYPES,
    )


_FIRST_BROKEN, _FIRST_FIXED = (4, 7), (4, 7, 5)


@Rule(id="SCA513", severity="warning")
def zero_file(rule: Rule, context: Context) -> Iterator[Finding]:
    """Yield a finding if a file of zeros may be packed wrongly."""
    stored = context.analysis.trial.stored
    if stored is None:
        return
    zeros, sizes = stored.layout.holes, stored.codecs.get(current_codec(context))
    if context.packing is not None and sizes is not None:
        zeros = zeros | (sizes.stored_bytes == 0)
    files = [
        path
        for path in stored.layout.paths
        for blocks in (stored.layout.blocks_of(path),)
        if len(blocks) > 1 and zeros[blocks.start : blocks.stop].all()
    ]
    files = [path for path in files if path in context.inventory.entries]
    if not files:
        return
    numbers = tuple(map(int, re.findall(r"\d+", context.packer or "")[:3]))
    is_prime = context.packing is None
    affected = is_prime and _FIRST_BROKEN <= numbers < _FIRST_FIXED
    count = "A file holds" if len(files) == 1 else f"{len(files):,} files hold"
    yield rule.finding(
        context,
        f"{count} nothing but zeros ({files[0]!r}), of which mksquashfs 4.7 to 4.7.4 "
        "may write an unreadable image; snapd's own has been 4.7.4 since 2.75.",
        evidence=(
            measured("mksquashfs here", context.packer or "not known"),
            Evidence("mksquashfs with the fix", "4.7.5", "published"),
        ),
        files=files,
        undecided=not affected,
    )


RULES = (
    block_size,
    fragments,
    compressor_options,
    superblock_flags,
    padding,
    no_snap_delta,
    store_size,
    extended_attributes,
    owners,
    file_modes,
    other_writer,
    resquash_differs,
    zero_file,
)
