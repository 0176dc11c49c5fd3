"""SCA505 to SCA507, SCA509, SCA510: what of an image's contents the store refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...core.units import counted
from ...preflight.packing import find_unpacked_faults
from ...squashfs.mksquashfs import SYSTEM_SNAP_TYPES
from ..finding import Evidence, Finding, Fix, measured
from ..rule import Context, Rule, current_codec, no_image
from .preflight_image import (
    StoreRule,
    repacked_packing,
)

if TYPE_CHECKING:
    from ...preflight.packing import EntryFault, Packing

ROOT_NAME = "(root directory)"
"""What findings call the entry whose path is empty."""
_WHOLE = "(image)"
_SHOWN = 3
_FREE_TYPES = frozenset({"base", "os"})
"""Types whose owners and devices the review lets pass (``check_squashfs_files``)."""

_Trace = tuple[str, str, tuple[Evidence, ...], bool]
"""A trace's kind, what it means, its evidence, and whether that is undecided."""


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
    extended_attributes,
    owners,
    file_modes,
    other_writer,
    resquash_differs,
    zero_file,
)
