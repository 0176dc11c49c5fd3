"""A payload's images, one for every codec, and copies of it to be changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ToolError
from ..core.scratch import scratch_directory
from ..payload.source import Payload
from ..squashfs import mksquashfs
from ..squashfs.entry import EntryKind
from ..trial.exact import pack_with
from ..trial.result import Progress
from .mount import check_mounting, mounted


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedImages:
    """Images of one payload by codec, and why there is none of some codecs."""

    paths: Mapping[str, Path]
    unavailable: Mapping[str, str]


@contextmanager
def packed_images(
    payload: Payload,
    codecs: Sequence[str],
    *,
    scratch: Path | None,
    progress: Progress,
    to_mount: bool = True,
) -> Iterator[PackedImages]:
    """Pack a payload with each codec as ``snap pack`` would; removed at the end.

    Codecs that mksquashfs or the kernel lacks are left out.

    :param scratch: directory to write to; the system's temporary one by default.
    :param to_mount: whether the images have to be such that the kernel mounts them.
    :raises ToolError: if no codec is left, mksquashfs is missing or fails, or images
        can't be mounted here.
    :raises StorageError: if the disk is too small, or files vanish.
    """
    if to_mount:
        check_mounting()  # before minutes of packing
    # What is sure to be written; a disk that a codec fills is noticed by mksquashfs.
    whole_copies = ("none" in codecs) + (payload.kind == "snap")
    with scratch_directory(
        scratch,
        resolution="Set TMPDIR ('calibrate': --storage) to a directory on a larger "
        "disk.",
        needed_bytes=whole_copies * payload.inventory.raw_bytes,
    ) as directory:
        paths: dict[str, Path] = {}
        unavailable: dict[str, str] = {}
        for codec, image in pack_with(codecs, payload, directory, progress):
            if image is None:
                unavailable[codec] = "This mksquashfs doesn't support it"
            elif to_mount and (refusal := _mount_refusal(image)):
                image.unlink()
                unavailable[codec] = refusal
            else:
                paths[codec] = image
        if not paths:
            message = "No image could be packed and mounted"
            raise ToolError(
                message,
                details="\n".join(
                    f"{each}: {why}" for each, why in unavailable.items()
                ),
                resolution="Install squashfs-tools, or use a kernel that has the "
                "codecs.",
            )
        yield PackedImages(paths=paths, unavailable=unavailable)


def _mount_refusal(image: Path) -> str | None:
    """Return why an image that was just packed can't be mounted."""
    try:
        with mounted(image):
            return None
    except ToolError as error:
        return f"{error}: {error.details}" if error.details else str(error)


@contextmanager
def payload_copy(payload: Payload) -> Iterator[Path]:
    """Give a directory with a payload's files; removed at the end.

    Its files are hard links if that is possible: one that is to be changed is
    unlinked first.

    :raises AdvisorError: if there is no room.
    """
    with scratch_directory() as folder:
        tree = folder / "prime"
        if payload.kind == "snap":
            mksquashfs.unpack(payload.path, tree)
        else:
            _link_files(payload, tree)
        yield tree


def _link_files(payload: Payload, tree: Path) -> None:
    """Make the payload's directories and links again, and hard links of its files."""
    folders = [("", payload.path.stat().st_mode)]
    tree.mkdir()
    for entry in payload.inventory.entries.values():
        source, target = payload.path / entry.path, tree / entry.path
        if entry.kind is EntryKind.DIRECTORY:
            target.mkdir()
            folders.append((entry.path, entry.mode))
        elif entry.kind is EntryKind.SYMLINK:
            target.symlink_to(entry.link_target or "")
        elif entry.kind is EntryKind.FILE:
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:  # another file system, or a file of somebody else
                shutil.copy2(source, target, follow_symlinks=False)
    for path, mode in reversed(folders):
        (tree / path).chmod(mode)
