"""The exact trial: the image packed with every codec, as ``snap pack`` would."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.errors import StorageError
from snapcraft_compression_advisor.payload.excludes import exclude_file_text
from snapcraft_compression_advisor.squashfs import mksquashfs
from snapcraft_compression_advisor.squashfs.image import Image
from snapcraft_compression_advisor.trial.result import (
    CodecTrial,
    Progress,
    StoredBlock,
    TrialResult,
    size_difference,
)
from snapcraft_compression_advisor.units import Interval, format_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.squashfs.entry import ImageEntry

METADATA_BYTES_PER_ENTRY = 256
"""Room for one entry's inode, name and block list, uncompressed; typical are 60.

Only the check for free space uses it, which had better err upwards.
"""


def run_exact_trial(
    payload: Payload,
    *,
    wanted: Collection[str],
    progress: Progress,
    names: Sequence[str] = tuple(CODECS),
) -> TrialResult:
    """Pack a payload with every codec and look at the images.

    Images are written to a temporary directory (``TMPDIR``), one at a time.

    :param wanted: paths of the files whose data blocks are reported.
    :param progress: told before each step.
    :param names: of the codecs to pack with, all by default.
    :raises ToolError: where mksquashfs is missing or fails.
    :raises StorageError: where the disk is too small, or files vanish.
    """
    version = mksquashfs.mksquashfs_version()
    with _scratch_directory(payload) as scratch:
        source = _source_directory(payload, scratch, progress)
        exclude_file = scratch / "excludes"
        exclude_file.write_text(exclude_file_text())
        trials = {}
        for number, codec in enumerate((CODECS[name] for name in names), start=1):
            progress(f"Packing with {codec.name} ({number} of {len(names)})")
            trials[codec.name] = CodecTrial(
                codec=codec.name, shippable=codec.shippable, image_bytes=None
            )
            if not mksquashfs.supports(codec.name, scratch=scratch):
                continue
            image = scratch / f"{codec.name}.squashfs"
            mksquashfs.pack(
                source,
                image,
                codec=codec.name,
                snap_type=payload.snap.type,
                exclude_file=exclude_file,
            )
            trials[codec.name] = _read_trial(image, trials[codec.name], wanted)
            image.unlink()
    return TrialResult(
        mode="exact",
        tool=f"mksquashfs {version}",
        codecs=trials,
        lzo_less_xz_bytes=size_difference(trials.get("lzo"), trials.get("xz")),
    )


@contextmanager
def _scratch_directory(payload: Payload) -> Iterator[Path]:
    """Make a directory with enough room, removed whatever happens."""
    images = 1 if payload.kind == "prime" else 2  # a snap is unpacked there as well
    needed_bytes = images * (
        payload.inventory.raw_bytes
        + METADATA_BYTES_PER_ENTRY * len(payload.inventory.entries)
        + mksquashfs.MINIMUM_IMAGE_BYTES
    )
    place = Path(tempfile.gettempdir())
    try:
        free_bytes = shutil.disk_usage(place).free
        if free_bytes < needed_bytes:
            message = (
                f"Not enough free space in {str(place)!r}: the trial needs up to "
                f"{format_bytes(needed_bytes)}, {format_bytes(free_bytes)} are free"
            )
            raise StorageError(
                message, resolution="Set TMPDIR to a directory on a larger disk."
            )
        directory = tempfile.TemporaryDirectory(prefix="compression-advisor-")
    except OSError as error:
        message = f"Cannot write to {str(place)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Set TMPDIR to a directory that you can write to."
        ) from error
    with directory as path:
        yield Path(path)


def _source_directory(payload: Payload, scratch: Path, progress: Progress) -> Path:
    if payload.kind == "prime":
        return payload.path
    progress(f"Unpacking {payload.path.name}")
    directory = scratch / "payload"
    mksquashfs.unpack(payload.path, directory)
    return directory


def _read_trial(path: Path, trial: CodecTrial, wanted: Collection[str]) -> CodecTrial:
    with Image.open(path) as image:
        blocks = {
            entry.path: _stored_blocks(entry)
            for entry in image.walk()
            if entry.path in wanted
        }
    return CodecTrial(
        codec=trial.codec,
        shippable=trial.shippable,
        image_bytes=Interval.exactly(path.stat().st_size),
        blocks=blocks,
    )


def _stored_blocks(entry: ImageEntry) -> tuple[StoredBlock, ...]:
    return tuple(
        StoredBlock(
            raw_bytes=block.raw_bytes,
            stored_bytes=block.stored_bytes,
            compressed=not block.is_stored and not block.is_sparse,
        )
        for block in entry.blocks or ()
    )
