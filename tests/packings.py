"""How images were packed, without images, for tests of rules."""

from __future__ import annotations

from dataclasses import fields, replace

from lint_contexts import make_context
from snapcraft_compression_advisor.lint.rule import Context
from snapcraft_compression_advisor.preflight.differences import SNAP_FLAGS
from snapcraft_compression_advisor.preflight.packing import EntryFault, Packing
from snapcraft_compression_advisor.squashfs.superblock import ABSENT_TABLE, Superblock

_FIELDS = frozenset(each.name for each in fields(Superblock))


def make_packing(**changes: object) -> Packing:
    """Return the packing of a snap as ``snap pack`` makes it, but for the changes.

    :param changes: of the packing's fields or the superblock's.
    """
    superblock = Superblock(
        inode_count=3,
        modified_s=1_700_000_000,
        block_bytes=131_072,
        fragment_count=0,
        codec="xz",
        flags=SNAP_FLAGS,
        id_count=1,
        root_inode_reference=0,
        used_bytes=40_000,
        id_table_start=39_900,
        xattr_table_start=ABSENT_TABLE,
        inode_table_start=39_000,
        directory_table_start=39_500,
        fragment_table_start=39_800,
        export_table_start=39_850,
    )
    packing = Packing(
        superblock=superblock,
        image_bytes=40_960,
        padded_bytes=40_960,
        trailing_zeros=True,
        compressor_options=None,
    )
    fields = {name: changes.pop(name) for name in _FIELDS & changes.keys()}
    changed = replace(superblock, **fields)  # type: ignore[arg-type] # a test's own
    return replace(packing, superblock=changed, **changes)  # type: ignore[arg-type] # likewise


def packed_context(packing: Packing | None, *, snap_type: str = "app") -> Context:
    """Return what rules look at for a built snap."""
    context = make_context()
    snap = context.snap.model_copy(update={"type": snap_type})
    return replace(context, packing=packing, snap=snap)


FAULT = EntryFault(path="bin/tool", text="is odd")
ODD = make_packing(
    block_bytes=65_536,
    flags=0x1,
    fragment_count=2,
    compressor_options=b"\1",
    xattr_table_start=39_950,
    image_bytes=6 * 1024**3,
    owners=(FAULT,),
    modes=(FAULT,),
    order=FAULT,
    numbers=FAULT,
    zeros="bin/tool",
)
"""Wrong in all that can be told from how it was packed."""
