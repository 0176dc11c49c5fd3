"""A payload's images, one for every codec, all there at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import StorageError, ToolError
from ..core.scratch import scratch_directory
from ..payload.source import Payload
from ..squashfs import mksquashfs
from ..trial.exact import pack_with
from ..trial.result import Progress
from .mount import can_mount, find_squashfuse, mounted

_LARGER_DISK = (
    "Choose a directory on a larger disk with TMPDIR ('calibrate': --storage)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedImages:
    """Images of one payload.

    :param paths: by codec.
    :param unavailable: why there is none, by codec.
    """

    paths: Mapping[str, Path]
    unavailable: Mapping[str, str]


@contextmanager
def packed_images(
    payload: Payload,
    codecs: Sequence[str],
    *,
    scratch: Path | None,
    progress: Progress,
) -> Iterator[PackedImages]:
    """Pack a payload with each codec as ``snap pack`` would; removed at the end.

    Codecs that mksquashfs or the file system that mounts the images lacks are left
    out.

    :param scratch: directory to write to; the system's temporary one by default.
    :raises ToolError: if no codec is left, or mksquashfs is missing or fails.
    :raises StorageError: if the disk is too small, or files vanish.
    """
    if not can_mount():
        find_squashfuse()  # before minutes of packing
    with scratch_directory(
        scratch,
        resolution=_LARGER_DISK,
        needed_bytes=_needed_bytes(payload, codecs),
        needs="the images need more than",
    ) as directory:
        try:
            images = _pack(payload, codecs, directory, progress)
        except mksquashfs.DiskFullError as error:
            raise StorageError(
                str(error), details=error.details, resolution=_LARGER_DISK
            ) from error
        yield images


def _pack(
    payload: Payload, codecs: Sequence[str], directory: Path, progress: Progress
) -> PackedImages:
    paths: dict[str, Path] = {}
    unavailable: dict[str, str] = {}
    for codec, image in pack_with(codecs, payload, directory, progress):
        if image is None:
            unavailable[codec] = "This mksquashfs doesn't support it"
        elif refusal := _mount_refusal(image):
            image.unlink()
            unavailable[codec] = refusal
        else:
            paths[codec] = image
    if not paths:
        message = "No image could be packed and mounted"
        raise ToolError(
            message,
            details="\n".join(f"{codec}: {why}" for codec, why in unavailable.items()),
            resolution="Run the command as root, or install squashfuse and fuse3.",
        )
    return PackedImages(paths=paths, unavailable=unavailable)


def _needed_bytes(payload: Payload, codecs: Sequence[str]) -> int:
    """Return what is sure to be written, as far as that is plain beforehand.

    What a codec makes of the files isn't; a full disk is then noticed by mksquashfs.
    """
    whole_copies = ("none" in codecs) + (payload.kind == "snap")
    return whole_copies * payload.inventory.raw_bytes


def _mount_refusal(image: Path) -> str | None:
    """Return why an image that was just packed can't be mounted."""
    try:
        with mounted(image):
            return None
    except ToolError as error:
        return f"{error}: {error.details}" if error.details else str(error)
