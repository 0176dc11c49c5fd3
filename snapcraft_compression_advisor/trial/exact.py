"""The exact trial: the image packed with every codec, as ``snap pack`` would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..codecs import CODECS
from ..core.scratch import remove_tree, scratch_directory
from ..core.units import Interval
from ..payload.layout import Layout, lay_out
from ..payload.scan import exclude_file_text
from ..payload.source import Payload, check_packed_size
from ..squashfs import mksquashfs
from ..squashfs.entry import MINIMUM_IMAGE_BYTES, EntryKind, ImageBlock
from ..squashfs.image import Image
from .result import (
    CodecTrial,
    Progress,
    TrialResult,
    blocks_of_files,
    notes_on_payload,
    size_difference,
)
from .stored import BlockSizes, StoredSizes

METADATA_BYTES_PER_ENTRY = 256
"""Room for one entry's inode, name and block list, uncompressed; typical are 60. The
check for free space should err upwards."""


def run_exact_trial(
    payload: Payload,
    *,
    progress: Progress,
    names: Sequence[str] = tuple(CODECS),
) -> TrialResult:
    """Pack a payload with every codec, one at a time in ``TMPDIR``.

    :raises BadDataError: if the files claim more than they hold.
    :raises ToolError: if mksquashfs is missing or fails.
    :raises StorageError: if the disk is too small, or files vanish.
    """
    version = mksquashfs.mksquashfs_version()
    check_packed_size(payload)  # no disk has the room for what is claimed
    with scratch_directory(needed_bytes=_needed_bytes(payload)) as scratch:
        layout = lay_out(payload)
        trials, sizes = {}, {}
        for codec, image in pack_with(names, payload, scratch, progress):
            trials[codec] = CodecTrial(codec=codec, image_bytes=None)
            if image is None:
                continue
            blocks = _read_blocks(image)
            trials[codec] = CodecTrial(
                codec=codec,
                image_bytes=Interval.exactly(image.stat().st_size),
                blocks=blocks_of_files(blocks),
            )
            found = _block_sizes(layout, blocks)
            if found is not None:
                sizes[codec] = found
            image.unlink()
    return TrialResult(
        mode="exact",
        tool=f"mksquashfs {version}",
        codecs=trials,
        lzo_less_xz_bytes=size_difference(trials.get("lzo"), trials.get("xz")),
        notes=notes_on_payload(payload),
        stored=StoredSizes(layout=layout, codecs=sizes),
    )


def _needed_bytes(payload: Payload) -> int:
    """Return the most bytes of the largest image, and of a snap's files beside it."""
    images = 1 if payload.kind == "prime" else 2
    return images * (
        payload.inventory.raw_bytes
        + METADATA_BYTES_PER_ENTRY * len(payload.inventory.entries)
        + MINIMUM_IMAGE_BYTES
    )


def pack_with(
    codecs: Sequence[str], payload: Payload, scratch: Path, progress: Progress
) -> Iterator[tuple[str, Path | None]]:
    """Pack a payload with each codec, as ``snap pack`` would.

    :param scratch: directory for the images, which stay there.
    :returns: by codec; ``None`` if this mksquashfs lacks it.
    """
    source = payload_directory(payload, scratch, progress)
    exclude_file = scratch / "excludes"
    exclude_file.write_text(exclude_file_text())
    for number, codec in enumerate(codecs, start=1):
        progress(f"Packing with {codec} ({number} of {len(codecs)})")
        image = scratch / f"{codec}.squashfs"
        is_packed = mksquashfs.pack(
            source,
            image,
            codec=codec,
            snap_type=payload.snap.type,
            exclude_file=exclude_file,
        )
        yield codec, image if is_packed else None
    if payload.kind == "snap":
        remove_tree(source)


def payload_directory(payload: Payload, scratch: Path, progress: Progress) -> Path:
    """Return a payload's prime directory; a snap is unpacked first."""
    check_packed_size(payload)
    if payload.kind == "prime":
        return payload.path
    progress(f"Unpacking {payload.path.name}")
    directory = scratch / "payload"
    mksquashfs.unpack(payload.path, directory)
    return directory


def _read_blocks(path: Path) -> dict[str, tuple[ImageBlock, ...]]:
    """Return the data blocks of an image's files by path."""
    with Image.open(path) as image:
        return {
            entry.path: tuple(entry.blocks or ())
            for entry in image.walk()
            if entry.kind is EntryKind.FILE
        }


def _block_sizes(
    layout: Layout, blocks: Mapping[str, tuple[ImageBlock, ...]]
) -> BlockSizes | None:
    """Return the sizes of a layout's blocks; ``None`` if the image has others."""
    sizes = [
        block.stored_bytes for path in layout.paths for block in blocks.get(path, ())
    ]
    if len(sizes) != layout.block_count:
        return None
    return BlockSizes(
        stored_bytes=np.array(sizes, dtype=np.float64), errors=np.zeros(len(sizes))
    )
