"""SCA505 to SCA507: attributes, owners and modes that the store refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from snapcraft_compression_advisor.lint.finding import Fix
from snapcraft_compression_advisor.lint.rules.preflight import (
    ENFORCED_FOR,
    PACK_AGAIN,
    RESQUASH_WHY,
    ROOT_NAME,
    measured,
    repacked_packing,
    store_finding,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.finding import Evidence, Finding, Severity
    from snapcraft_compression_advisor.preflight.entry_faults import EntryFault

_SHOWN = 3
_FREE_TYPES = frozenset({"base", "os"})
"""Types whose owners and devices the review lets pass (``check_squashfs_files``)."""


class ExtendedAttributes:
    """Extended attributes in an app."""

    id: ClassVar[str] = "SCA505"
    name: ClassVar[str] = "extended-attributes"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "The image holds extended attributes."
    fails_if: ClassVar[str] = (
        f"A built snap has a table of extended attributes. {ENFORCED_FOR}"
    )
    why: ClassVar[str] = (
        f"{RESQUASH_WHY} `-no-xattrs` leaves them out, so the repack differs; file "
        "capabilities are among them."
    )
    how_to_fix: ClassVar[str] = PACK_AGAIN
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding where there are attributes."""
        packing = repacked_packing(context)
        if packing is None or not packing.has_xattrs:
            return
        yield store_finding(
            self,
            context,
            "The image holds extended attributes, and the store's repack has none.",
            evidence=(measured("extended attributes", "the image has their table"),),
        )


class Owners:
    """Entries that don't belong to root."""

    id: ClassVar[str] = "SCA506"
    name: ClassVar[str] = "owners"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "Files of the image don't belong to root."
    fails_if: ClassVar[str] = (
        "An entry of a built snap has a user or group other than 0. Types `base` and "
        "`os` aren't looked at."
    )
    why: ClassVar[str] = (
        "The store's review refuses other owners (`squashfs_files`), and its repack, "
        "made with `-all-root`, differs. Numbers of the build machine's users mean "
        "something else where the snap is installed."
    )
    how_to_fix: ClassVar[str] = (
        "Pack with `snapcraft pack`, `snap pack` or `mksquashfs -all-root`."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding that counts them."""
        packing = context.packing
        if packing is None or not packing.owners or context.snap.type in _FREE_TYPES:
            return
        count = len(packing.owners)
        yield store_finding(
            self,
            context,
            f"{_entries(count)} of the image {_dont(count)} belong to root.",
            evidence=_examples(packing.owners),
            files=_paths(packing.owners),
        )


class FileModes:
    """Modes and kinds of files that apps don't ship."""

    id: ClassVar[str] = "SCA507"
    name: ClassVar[str] = "file-modes"
    severity: ClassVar[Severity] = "error"
    summary: ClassVar[str] = "Modes or kinds of files that the store refuses."
    fails_if: ClassVar[str] = (
        "A built snap holds a device, FIFO or socket, a file or directory with "
        "set-user-id or set-group-id, a file with the sticky bit, a symbolic link "
        "whose mode isn't 0777, or its root directory or `meta` can't be listed by "
        "everybody. Where the snap is a base or `os`, of which the store lists "
        "exceptions by name, it is undecided."
    )
    why: ClassVar[str] = (
        "The store's review refuses them (`squashfs_files`) unless the snap's name is "
        "on its list of exceptions. Its unpacking, without root, loses devices and "
        "set-user-id bits, so that the repack differs as well."
    )
    how_to_fix: ClassVar[str] = (
        "Change the modes in the part's `override-prime` "
        "(`chmod u-s,g-s`, `chmod 755 meta`), remove devices and sockets."
    )
    options: ClassVar[Mapping[str, str]] = {}

    def check(self, context: Context) -> Iterator[Finding]:
        """Yield one finding that counts them."""
        packing = context.packing
        if packing is None or not packing.modes:
            return
        count = len(packing.modes)
        yield store_finding(
            self,
            context,
            f"{_entries(count)} of the image {_have(count)} a mode or kind that the "
            "store's review refuses.",
            evidence=_examples(packing.modes),
            files=_paths(packing.modes),
            fix=Fix(description="Change the modes in 'override-prime' and pack again"),
            undecided=context.snap.type in _FREE_TYPES,
        )


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _dont(count: int) -> str:
    return "doesn't" if count == 1 else "don't"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _examples(faults: Sequence[EntryFault]) -> tuple[Evidence, ...]:
    """Return the first faults as evidence."""
    return tuple(
        measured(each.path or ROOT_NAME, each.text) for each in faults[:_SHOWN]
    )


def _paths(faults: Sequence[EntryFault]) -> tuple[str, ...]:
    return tuple(each.path for each in faults if each.path)


RULES = (ExtendedAttributes(), Owners(), FileModes())
