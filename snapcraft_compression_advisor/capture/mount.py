"""Images mounted for a while, by the kernel or through FUSE."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snapcraft_compression_advisor.capture.loop_device import (
    free_loop_device,
    loop_device,
)
from snapcraft_compression_advisor.capture.read_ahead import (
    device_read_ahead,
    open_with_read_ahead,
)
from snapcraft_compression_advisor.capture.squashfuse import fuse_mount
from snapcraft_compression_advisor.core.deferred_signals import deferred_signals
from snapcraft_compression_advisor.core.errors import (
    NoInputError,
    StorageError,
    ToolError,
)
from snapcraft_compression_advisor.core.scratch import ScratchDirectory
from snapcraft_compression_advisor.squashfs.superblock import (
    SUPERBLOCK_BYTES,
    parse_superblock,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

UBUNTU_READ_AHEAD_KB = 128
"""``read_ahead_kb`` of loop devices and disks on Ubuntu, the kernel's default."""

MountMethod = Literal["kernel", "squashfuse"]

_DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_CAP_SYS_ADMIN = 21
_READ_ONLY_NO_SETUID_NO_DEVICES = 1 | 2 | 4  # MS_RDONLY, MS_NOSUID, MS_NODEV
_MNT_DETACH = 2
_REFUSED = {errno.EPERM, errno.EACCES}
_UNKNOWN_TO_KERNEL = {errno.ENODEV, errno.EINVAL}
"""No such file system; or, the superblock being sound, no such codec
(``squashfs_fill_super`` in Linux's ``fs/squashfs/super.c``)."""

_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted image.

    :param root: its root directory.
    :param method: who reads the image: the kernel, or squashfuse through FUSE.
    :param read_ahead_kb: what the kernel reads on within a file, in KiB; ``None``
        where it isn't known.
    """

    root: Path
    method: MountMethod
    read_ahead_kb: int | None


def can_mount() -> bool:
    """Tell whether this process may have the kernel mount an image.

    That takes CAP_SYS_ADMIN and a free loop device, which containers often lack.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    held = int(status.partition("\nCapEff:")[2].split()[0], base=16)
    if not held & 1 << _CAP_SYS_ADMIN:
        return False
    try:
        with free_loop_device():
            return True
    except OSError:
        return False


def can_drop_caches() -> bool:
    """Tell whether this process may drop the caches of the whole system."""
    return os.access(_DROP_CACHES, os.W_OK, effective_ids=True)


def drop_caches() -> None:
    """Drop all clean pages, directory entries and inodes from the caches.

    :raises ToolError: where this process may not.
    """
    os.sync()
    try:
        _DROP_CACHES.write_text("3\n", encoding="ascii")
    except OSError as error:
        message = f"Cannot drop the system's caches: {error.strerror}"
        raise ToolError(message, resolution="Run the command as root.") from error


def drop_file_cache(path: Path) -> None:
    """Drop one file's pages from the cache; its owner may always do that.

    :raises StorageError: where the file can't be written back to its disk.
    """
    try:
        with path.open("rb") as file:
            os.fsync(file.fileno())  # a page that isn't written back stays
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        message = f"Cannot write back {str(path)!r}: {error.strerror}"
        raise StorageError(message, resolution="Check the disk.") from error


@contextmanager
def mounted(
    image: Path,
    *,
    read_ahead_kb: int = UBUNTU_READ_AHEAD_KB,
    at: Path | None = None,
) -> Iterator[Mount]:
    """Mount an image read-only, and unmount it whatever happens.

    The kernel mounts it where it may, else squashfuse does. What still has files
    open at the end keeps them, and the loop device is freed with the last of them;
    under squashfuse it loses them.

    :param image: a squashfs image.
    :param read_ahead_kb: for files of the mount and for the image itself, where the
        kernel mounts it.
    :param at: an empty directory to mount it at; by default a temporary one.
    :raises NoInputError: where the image can't be opened.
    :raises BadDataError: where it is no squashfs image.
    :raises StorageError: where reading it fails, or no directory can be made.
    :raises ToolError: where the kernel lacks its codec, or neither way of mounting
        is open to this process.
    """
    codec = _codec(image)
    with (
        deferred_signals() as signals,
        _mount_point(at) as root,
        _attached(image, root, codec=codec, read_ahead_kb=read_ahead_kb) as method,
        device_read_ahead(
            root, read_ahead_kb if method == "kernel" else None
        ) as in_force,
        signals.delivered(),
    ):  # fmt: skip
        yield Mount(root=root, method=method, read_ahead_kb=in_force)


@contextmanager
def mount_point() -> Iterator[Path]:
    """Make an empty directory to mount images at, removed at the end.

    :raises StorageError: where none can be made.
    """
    with deferred_signals() as signals, _mount_point(None) as root, signals.delivered():
        yield root


@contextmanager
def _mount_point(at: Path | None) -> Iterator[Path]:
    if at is not None:
        yield at
        return
    try:
        directory = ScratchDirectory()
    except OSError as error:
        message = f"Cannot make a directory to mount at: {error.strerror}"
        raise StorageError(
            message, resolution="Set TMPDIR to a directory that you can write to."
        ) from error
    # Within it: on top of it, the mount would hide the lock of the directory.
    with directory as path:
        root = Path(path) / "root"
        root.mkdir()
        yield root


def _codec(image: Path) -> str:
    """Return an image's codec, having looked whether it is an image at all."""
    try:
        with image.open("rb") as file:
            raw = file.read(SUPERBLOCK_BYTES)
            image_bytes = os.fstat(file.fileno()).st_size
    except OSError as error:
        message = f"Cannot read the image {str(image)!r}: {error.strerror}"
        raise NoInputError(message, resolution="Check its path.") from error
    return parse_superblock(raw, image_bytes=image_bytes, where=str(image)).codec


@contextmanager
def _attached(
    image: Path, root: Path, *, codec: str, read_ahead_kb: int
) -> Iterator[MountMethod]:
    if can_mount() and _mount_kernel(
        image, root, codec=codec, read_ahead_kb=read_ahead_kb
    ):
        try:
            yield "kernel"
        finally:
            _unmount_kernel(root)
    else:
        with fuse_mount(image, root):
            yield "squashfuse"


def _mount_kernel(image: Path, root: Path, *, codec: str, read_ahead_kb: int) -> bool:
    """Mount with the kernel, through a loop device that goes with the mount.

    :return: ``False`` where this process may not, after all.
    """
    try:
        with (
            open_with_read_ahead(image, read_ahead_kb) as descriptor,
            loop_device(descriptor) as device,
        ):
            _mount_device(device, root, codec)
    except OSError as error:
        if error.errno in _REFUSED:
            return False
        message = f"Cannot mount {str(image)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="See the kernel's messages (dmesg)."
        ) from error
    return True


def _mount_device(device: Path, root: Path, codec: str) -> None:
    """Mount a device that holds an image with a sound superblock.

    :raises OSError: where the kernel refuses.
    :raises ToolError: where it lacks squashfs or the codec.
    """
    failed = _LIBC.mount(
        os.fsencode(device),
        os.fsencode(root),
        b"squashfs",
        ctypes.c_ulong(_READ_ONLY_NO_SETUID_NO_DEVICES),
        None,
    )
    if not failed:
        return
    code = ctypes.get_errno()
    if code not in _UNKNOWN_TO_KERNEL:
        raise OSError(code, os.strerror(code))
    what = "squashfs" if code == errno.ENODEV else f"squashfs images with {codec}"
    message = f"Kernel {platform.release()} cannot mount {what}"
    raise ToolError(
        message,
        details=os.strerror(code),
        resolution="Use a kernel built with it, or leave this codec out.",
    )


def _unmount_kernel(root: Path) -> None:
    """Unmount; while something is still in use there, only detach."""
    if _LIBC.umount2(os.fsencode(root), 0):
        _LIBC.umount2(os.fsencode(root), _MNT_DETACH)
