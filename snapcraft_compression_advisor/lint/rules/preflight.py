"""What the rules on the store's review have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.lint.finding import Evidence, Finding, Fix
from snapcraft_compression_advisor.lint.places import image_place
from snapcraft_compression_advisor.squashfs.mksquashfs import SYSTEM_SNAP_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.lint.context import Context
    from snapcraft_compression_advisor.lint.rule import Rule
    from snapcraft_compression_advisor.preflight.packing import Packing

RESQUASH_WHY = (
    "The store's review unpacks the image, packs it again with `mksquashfs -noappend "
    "-comp xz -all-root -no-xattrs -no-fragments` (or lzo) and compares the two byte "
    "for byte (`squashfs_repack_checksum`)."
)
ENFORCED_FOR = (
    "Bases, `core`, `os` and `snapd` aren't looked at: the store doesn't hold them to "
    "the repack."
)
PACK_AGAIN = "Pack with `snapcraft pack` or `snap pack`, without options of your own."
ROOT_NAME = "(root directory)"
"""What findings call the entry whose path is empty."""
_FIX = Fix(description="Pack again with 'snapcraft pack' or 'snap pack'")


def repacked_packing(context: Context) -> Packing | None:
    """Return how a built snap was packed, where the store packs it again."""
    return None if context.snap.type in SYSTEM_SNAP_TYPES else context.packing


def measured(label: str, text: str) -> Evidence:
    """Return what was read in the image, as evidence."""
    return Evidence(label=label, text=text, origin="measured")


def store_finding(  # noqa: PLR0913 # keywords, each with a default
    rule: Rule,
    context: Context,
    message: str,
    *,
    evidence: Sequence[Evidence],
    files: Sequence[str] = (),
    fix: Fix = _FIX,
    undecided: bool = False,
) -> Finding:
    """Return a finding on the image as a whole."""
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity="info" if undecided else rule.severity,
        message=message,
        location=image_place(context),
        evidence=tuple(evidence),
        files=tuple(files),
        fix=fix,
        undecided=undecided,
    )
