"""SCA508 to SCA510: who packed the image, and what a repack makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.lint.finding import Evidence, Fix
from snapcraft_compression_advisor.lint.rules.preflight import (
    ENFORCED_FOR,
    PACK_AGAIN,
    RESQUASH_WHY,
    ROOT_NAME,
    measured,
    repacked_packing,
    store_finding,
)
from snapcraft_compression_advisor.squashfs.mksquashfs import (
    MINIMUM_IMAGE_BYTES,
    SYSTEM_SNAP_TYPES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Finding, Severity
    from snapcraft_compression_advisor.preflight.packing import Packing


class Padding:
    """What stands behind the image's used bytes."""

    id: ClassVar[str] = "SCA508"
    name: ClassVar[str] = "padding"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The file doesn't end where a packed snap ends."
    fails_if: ClassVar[str] = (
        "The file of a built snap doesn't end at the next multiple of 4 KiB behind "
        "the image (`-nopad`, data appended to it), or has other bytes than zeros "
        "there. Where the image itself is less than 16 KiB it is undecided: `snap "
        "pack` grows such a file to 16 KiB since snapd 2.61, mksquashfs doesn't, and "
        f"versions of the review differ in which of the two they expect. {ENFORCED_FOR}"
    )
    why: ClassVar[str] = (
        f"{RESQUASH_WHY} Kernels log errors where a loop device is smaller than 16 "
        "KiB, for which snapd pads (pull request 13191)."
    )
    how_to_fix: ClassVar[str] = (
        f"{PACK_AGAIN} For an image of less than 16 KiB, ship a few kilobytes more, "
        "such as the licence's text."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where the end is another, or may be."""
        packing = repacked_packing(context)
        if packing is None:
            return
        evidence = _sizes(packing)
        if not packing.ends_as_packed:
            yield store_finding(
                self,
                context,
                f"The file has {packing.image_bytes:,} bytes, packed again it has "
                f"{packing.padded_bytes:,}, with zeros at its end.",
                evidence=evidence,
            )
        elif packing.is_small:
            grown = packing.image_bytes == MINIMUM_IMAGE_BYTES
            yield store_finding(
                self,
                context,
                f"The image has less than 16 KiB and is {'' if grown else 'not '}"
                "padded to that; whether the store's repack is, depends on its "
                "version.",
                evidence=(
                    *evidence,
                    Evidence(
                        label="snapd that pads to 16 KiB",
                        text="2.61 and later; a review refused it in January 2024 "
                        "(canonical/checkbox pull request 934)",
                        origin="published",
                    ),
                ),
                fix=Fix(description="Ship a few kilobytes more"),
                undecided=True,
            )


class OtherWriter:
    """Traces of a program other than mksquashfs, or of another version."""

    id: ClassVar[str] = "SCA509"
    name: ClassVar[str] = "other-writer"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image isn't laid out as mksquashfs lays it out."
    fails_if: ClassVar[str] = (
        "A built snap's files aren't in the order of a walk through its directories "
        "(`-sort`, an image that was appended to, mksquashfs before 4.4, another "
        "program), or a block of zeros isn't left out (`-no-sparse`). Where inodes "
        "are numbered otherwise, or one of a few blocks that are compressed again "
        "here comes out otherwise, it is undecided: the store's mksquashfs and "
        f"libraries may be of the version that packed it. {ENFORCED_FOR}"
    )
    why: ClassVar[str] = (
        f"{RESQUASH_WHY} Images of other versions were refused when the store's "
        "machines were upgraded (Launchpad bug 1936871)."
    )
    how_to_fix: ClassVar[str] = (
        f"{PACK_AGAIN} `lint --resquash` packs it again with the mksquashfs of this "
        "machine and says what differs."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield a finding for each trace."""
        packing = repacked_packing(context)
        if packing is None:
            return
        if packing.order is not None:
            yield store_finding(
                self,
                context,
                "The image's data aren't where mksquashfs writes them.",
                evidence=(_example(packing.order.path, packing.order.text),),
                files=_listed(packing.order.path),
            )
        if packing.zeros is not None:
            yield store_finding(
                self,
                context,
                "A block of zeros is in the image, which mksquashfs leaves out.",
                evidence=(_example(packing.zeros, "has such a block"),),
                files=_listed(packing.zeros),
            )
        yield from self._open(context, packing)

    def _open(self, context: Context, packing: Packing) -> Iterator[Finding]:
        """Yield findings that depend on versions."""
        numbers = packing.numbers
        if numbers is not None:
            yield store_finding(
                self,
                context,
                "The image's inodes aren't numbered as mksquashfs 4.5.1 does.",
                evidence=(_example(numbers.path, numbers.text),),
                files=_listed(numbers.path),
                undecided=True,
            )
        again = packing.recompressed
        block = packing.superblock
        if block.has_compressor_options or block.uncompressed_data:
            return  # another rule says why blocks come out otherwise
        if again is not None and again.differing is not None:
            yield store_finding(
                self,
                context,
                f"A data block comes out otherwise when it is compressed with "
                f"{again.library} here: another library packed the image, or other "
                "options.",
                evidence=(
                    measured("blocks compressed again", f"{again.tried}"),
                    _example(again.differing, "has a block that differs"),
                ),
                files=_listed(again.differing),
                undecided=True,
            )


class ResquashDiffers:
    """The image isn't what its own contents come to."""

    id: ClassVar[str] = "SCA510"
    name: ClassVar[str] = "resquash-differs"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "Unpacked and packed again, the image differs."
    fails_if: ClassVar[str] = (
        "With `--resquash`: a built snap that is unpacked and packed again, with the "
        "options of the store's review and the mksquashfs of this machine, isn't the "
        "same byte for byte. Where the snap is a base, `core`, `os` or `snapd`, which "
        "the store doesn't hold to this, it is undecided."
    )
    why: ClassVar[str] = RESQUASH_WHY
    how_to_fix: ClassVar[str] = (
        f"{PACK_AGAIN} Where that was done, the versions of mksquashfs or its "
        "libraries differ: pack where snapcraft's own is used."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding that says what differs."""
        resquash = context.resquash
        if resquash is None or resquash.equal:
            return
        first = resquash.differences[0]
        files = dict.fromkeys(each.path for each in resquash.differences if each.path)
        yield store_finding(
            self,
            context,
            "Unpacked and packed again as the store's review does, the image isn't "
            f"the same; the first difference is {first.text}.",
            evidence=(
                measured("packed again with", resquash.tool),
                *(
                    measured(_part(each.part, each.path), each.text)
                    for each in resquash.differences[1:]
                ),
            ),
            files=tuple(files),
            undecided=context.snap.type in SYSTEM_SNAP_TYPES,
        )


def _sizes(packing: Packing) -> tuple[Evidence, ...]:
    return (
        measured("size of the file", f"{packing.image_bytes:,} bytes"),
        measured("of which used", f"{packing.superblock.used_bytes:,} bytes"),
    )


def _example(path: str, text: str) -> Evidence:
    return measured(path or "(image)", text)


def _listed(path: str) -> tuple[str, ...]:
    return (path,) if path else ()


def _part(part: str, path: str | None) -> str:
    return part if path is None else f"{part} {path or ROOT_NAME}"


RULES = (Padding(), OtherWriter(), ResquashDiffers())
