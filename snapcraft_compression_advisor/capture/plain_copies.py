"""The payload's files without squashfs, to compare its images with.

As a directory, which is what ``snap try`` mounts, and as an ext4 image, since that is
what the files of an installed Debian package are on. Both are beside the images, so
that the same storage is read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..core.child import run_child
from ..core.deferred_signals import deferred_signals
from ..core.errors import StorageError, ToolError
from ..core.scratch import scratch_directory, unmount
from ..core.trees import entries_below
from ..core.units import KIB, MIB
from ..payload.source import Payload
from ..trial.exact import payload_directory
from ..trial.result import Progress
from .loop_device import device_read_ahead, loop_device, open_with_read_ahead
from .mount import Mount, bind_mount, can_mount, mount_point, system_mount
from .page_cache import can_drop_caches
from .samples import PlainCopy

_MKFS = "mkfs.ext4"
_SYSTEM_PROGRAMS = "/usr/sbin:/sbin"
"""Where it is; not every user's PATH has that."""

_SECTOR_BYTES = 512
"""Of ``st_blocks``, see stat(2)."""

_ENTRY_BYTES = 5 * KIB
"""Room for one entry: the rest of its last block of 4 KiB, its inode, its name."""

_FIXED_BYTES = 32 * MIB
_OVERHEAD = 1.05
"""Room for group tables, bitmaps and extents. What isn't filled is a hole."""

_SPARE_INODES = 64
_LARGER_DISK = "Choose a directory on a larger disk with --scratch."


def check_plain_copies(names: Sequence[PlainCopy]) -> None:
    """Refuse, before minutes of packing, what this process or machine can't do.

    :raises ToolError: where it may not mount or drop caches, or lacks mkfs.ext4.
    """
    if not names:
        return
    if not can_mount() or not can_drop_caches():
        message = f"Only root can compare with {' and '.join(names)}"
        raise ToolError(
            message,
            details="They are mounted, and the system's caches dropped.",
            resolution="Run the command as root, or without --compare.",
        )
    if "ext4" in names:
        _find_mkfs()


def _find_mkfs() -> str:
    path = f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM_PROGRAMS}"
    program = shutil.which(_MKFS, path=path)
    if program is None:
        message = f"{_MKFS} is not installed"
        raise ToolError(
            message,
            resolution="Install e2fsprogs, for instance with 'sudo apt install "
            "e2fsprogs', or leave out '--compare ext4'.",
        )
    return program


@contextmanager
def plain_copies(
    payload: Payload,
    names: Sequence[PlainCopy],
    *,
    scratch: Path | None,
    progress: Progress,
) -> Iterator[Mapping[str, Path]]:
    """Copy a payload's files as they are; removed at the end.

    :param names: of ``PLAIN_COPIES``; none for nothing.
    :param scratch: directory to write to; the system's temporary one by default.
    :return: the directory and the ext4 image, by name.
    :raises ToolError: where a tool fails.
    :raises StorageError: where the disk is too small.
    """
    if not names:
        yield {}
        return
    copies = len(names) + (payload.kind == "snap" and "directory" not in names)
    with scratch_directory(
        scratch,
        resolution=_LARGER_DISK,
        needed_bytes=copies * payload.inventory.raw_bytes,
        needs="the copies of the files need more than",
    ) as directory:
        source = payload_directory(payload, directory, progress)
        if "directory" in names and payload.kind == "prime":
            progress("Copying the files to a directory")
            source = _copied(source, directory / "payload")
        paths = {"directory": source}
        if "ext4" in names:
            progress("Copying the files to an ext4 image")
            paths["ext4"] = _ext4_image(source, directory / "image.ext4", payload)
        yield {name: paths[name] for name in names}


def bytes_on_disk(path: Path) -> int:
    """Return what a file, or a directory with all that it holds, takes."""
    blocks = {(path.lstat().st_dev, path.lstat().st_ino): path.lstat().st_blocks}
    for entry in entries_below(path):
        status = entry.stat(follow_symlinks=False)
        blocks[status.st_dev, status.st_ino] = status.st_blocks
    return _SECTOR_BYTES * sum(blocks.values())


def _copied(source: Path, copy: Path) -> Path:
    _run("cp", "--archive", "--no-target-directory", "--", str(source), str(copy))
    return copy


def _ext4_image(source: Path, image: Path, payload: Payload) -> Path:
    """Fill an image; without a journal, which nothing would write to."""
    entries = len(payload.inventory.entries)
    room = payload.inventory.raw_bytes * _OVERHEAD + entries * _ENTRY_BYTES
    _run(
        _find_mkfs(), "-q", "-F", "-b", "4096", "-m", "0", "-O", "^has_journal",
        "-N", str(entries + _SPARE_INODES), "-E", "root_owner=0:0",
        "-d", str(source.absolute()), str(image), f"{int(room + _FIXED_BYTES) // KIB}k",
    )  # fmt: skip
    return image


def _run(*command: str) -> None:
    try:
        done = run_child(command)
    except OSError as error:
        message = f"Cannot run {command[0]}: {error.strerror}"
        raise ToolError(message, resolution="Check its installation.") from error
    if not done.returncode:
        return
    name = Path(command[0]).name
    if "No space left on device" in done.stderr:
        message = f"The disk is full: {name} could not copy the files"
        raise StorageError(message, details=done.stderr, resolution=_LARGER_DISK)
    message = f"{name} failed with exit status {done.returncode}"
    raise ToolError(
        message, details=done.stderr, resolution="Measure without --compare."
    )


@contextmanager
def plainly_mounted(source: Path, *, read_ahead_kb: int, at: Path) -> Iterator[Mount]:
    """Mount a directory or an ext4 image read-only, and unmount it whatever happens.

    :param read_ahead_kb: of the image; a directory has that of its disk.
    :param at: an empty directory to mount it at.
    :raises ToolError: where the kernel refuses.
    """
    is_directory = source.is_dir()
    with (
        deferred_signals() as signals,
        mount_point(at) as root,
        _attached(source, root, read_ahead_kb=read_ahead_kb),
        device_read_ahead(
            root, None if is_directory else read_ahead_kb
        ) as in_force,
        signals.delivered(),
    ):  # fmt: skip
        yield Mount(root=root, method="kernel", read_ahead_kb=in_force)


@contextmanager
def _attached(source: Path, root: Path, *, read_ahead_kb: int) -> Iterator[None]:
    try:
        if source.is_dir():
            bind_mount(source, root)
        else:
            with (
                open_with_read_ahead(source, read_ahead_kb) as descriptor,
                loop_device(descriptor) as device,
            ):
                system_mount(device, root, "ext4")
    except OSError as error:
        message = f"Cannot mount {str(source)!r}: {error.strerror}"
        raise ToolError(message, resolution="Check the kernel log (dmesg).") from error
    try:
        yield
    finally:
        unmount(str(root))
