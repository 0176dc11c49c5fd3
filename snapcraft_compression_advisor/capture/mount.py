"""Images mounted for a while, by the kernel or through FUSE."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from ..core.child import beginning, ending_with_us
from ..core.deferred_signals import deferred_signals
from ..core.errors import NoInputError, StorageError, ToolError
from ..core.scratch import scratch_directory, unmount, unmounter
from ..squashfs.entry import SUPERBLOCK_BYTES
from ..squashfs.superblock import parse_superblock
from .loop_device import (
    LOOP_CONTROL,
    device_read_ahead,
    free_loop_device,
    loop_device,
    open_with_read_ahead,
)

UBUNTU_READ_AHEAD_KB = 128
"""``read_ahead_kb`` of loop devices and disks on Ubuntu, the kernel's default."""

MountMethod = Literal["kernel", "squashfuse"]

_CAP_SYS_ADMIN = 21
_READ_ONLY_NO_SETUID_NO_DEVICES = 1 | 2 | 4  # MS_RDONLY, MS_NOSUID, MS_NODEV
_NO_EXECUTION = 8  # MS_NOEXEC
_VIRTUAL = 2 | 4 | _NO_EXECUTION  # MS_NOSUID, MS_NODEV
_REFUSED = {errno.EPERM, errno.EACCES}
_UNKNOWN_TO_KERNEL = {errno.ENODEV, errno.EINVAL}
"""No such file system; or, the superblock being sound, no such codec
(``squashfs_fill_super`` in Linux's ``fs/squashfs/super.c``)."""

_LIBC = ctypes.CDLL(None, use_errno=True)

_PROGRAMS = ("squashfuse_ll", "squashfuse")
"""The first keeps pages in the kernel's cache from one opening to the next (its
``sqfs_ll_op_open`` sets ``keep_cache``), as the kernel's own file system does."""

_INSTALL = "Install squashfuse and fuse3, or run the command as root"

_TIMEOUT_S = 30.0
"""Mounting takes some milliseconds; a file system that hangs is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted image.

    :param method: who reads the image: the kernel, or squashfuse through FUSE.
    :param read_ahead_kb: what the kernel reads on within a file, in KiB; ``None``
        where it isn't known.
    """

    root: Path
    method: MountMethod
    read_ahead_kb: int | None


def may_administer(status: Path = Path("/proc/self/status")) -> bool:
    """Return whether this process has CAP_SYS_ADMIN, where it runs.

    :param status: what the kernel says of a process; see proc_pid_status(5).
    """
    text = status.read_text(encoding="utf-8", errors="replace")
    held = int(text.partition("\nCapEff:")[2].split()[0], base=16)
    return bool(held & 1 << _CAP_SYS_ADMIN)


def can_mount(loop_control: Path = LOOP_CONTROL) -> bool:
    """Return whether this process may have the kernel mount an image.

    That takes CAP_SYS_ADMIN and a free loop device, which containers often lack.

    :param loop_control: the device that knows of free loop devices.
    """
    if not may_administer():
        return False
    try:
        with free_loop_device(loop_control):
            return True
    except OSError:
        return False


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

    :param read_ahead_kb: for files of the mount and for the image itself, where the
        kernel mounts it.
    :param at: an empty directory to mount it at; by default a temporary one.
    :raises NoInputError: if the image can't be opened.
    :raises BadDataError: if it is no squashfs image.
    :raises StorageError: if reading it fails, or no directory can be made.
    :raises ToolError: if the kernel lacks its codec, or neither way of mounting
        is open to this process.
    """
    codec = _codec(image)
    with (
        deferred_signals() as signals,
        mount_point(at) as root,
        _attached(image, root, codec=codec, read_ahead_kb=read_ahead_kb) as method,
        device_read_ahead(
            root, read_ahead_kb if method == "kernel" else None
        ) as in_force,
        signals.delivered(),
    ):  # fmt: skip
        yield Mount(root=root, method=method, read_ahead_kb=in_force)


@contextmanager
def mount_point(at: Path | None = None) -> Iterator[Path]:
    """Make an empty directory to mount images at, removed at the end.

    :param at: taken instead, if it is given.
    :raises StorageError: if none can be made.
    """
    if at is not None:
        yield at
        return
    advice = "Set TMPDIR to a directory that you can write to."
    with scratch_directory(resolution=advice) as directory:
        # Within it: on top of it, the mount would hide the lock of the directory.
        root = directory / "root"
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
            unmount(str(root))
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
            message, resolution="Check the kernel log (dmesg)."
        ) from error
    return True


def _mount_device(device: Path, root: Path, codec: str) -> None:
    """Mount a device that holds an image with a sound superblock.

    :raises OSError: if the kernel refuses.
    :raises ToolError: if it lacks squashfs or the codec.
    """
    try:
        _mount(device, root, "squashfs", _READ_ONLY_NO_SETUID_NO_DEVICES)
    except OSError as error:
        if error.errno not in _UNKNOWN_TO_KERNEL:
            raise
        lacks_all = error.errno == errno.ENODEV
        what = "squashfs" if lacks_all else f"squashfs images with {codec}"
        message = f"Kernel {platform.release()} cannot mount {what}"
        raise ToolError(
            message,
            details=error.strerror,
            resolution="Use a kernel that supports it, or leave out this codec.",
        ) from error


def virtual_mount(file_system: str, root: Path) -> None:
    """Mount a file system of the kernel that has no device, writable.

    :raises OSError: if the kernel refuses.
    """
    _mount(Path("none"), root, file_system, _VIRTUAL)


def memory_mount(root: Path, *, size_bytes: int, files: int) -> None:
    """Mount a file system in memory that takes so much and no more.

    :raises OSError: if the kernel refuses.
    """
    bounds = f"size={size_bytes},nr_inodes={files},mode=700"
    flags = _VIRTUAL & ~_NO_EXECUTION
    _mount(Path("none"), root, "tmpfs", flags, bounds.encode())


def _mount(
    source: Path, root: Path, file_system: str, flags: int, options: bytes | None = None
) -> None:
    failed = _LIBC.mount(
        os.fsencode(source),
        os.fsencode(root),
        file_system.encode(),
        ctypes.c_ulong(flags),
        options,
    )
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def find_squashfuse() -> str:
    """Return squashfuse's path.

    :raises ToolError: if it or what it needs isn't installed.
    """
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        message = "This user may not mount images, and squashfuse is not installed"
        raise ToolError(message, resolution=f"{_INSTALL}.")
    if os.geteuid() != 0 and unmounter() is None:
        message = "squashfuse needs fusermount3, which is not installed"
        raise ToolError(message, resolution=f"{_INSTALL}.")
    return program


@contextmanager
def fuse_mount(image: Path, root: Path) -> Iterator[None]:
    """Mount an image through squashfuse, and unmount it at the end.

    :raises ToolError: if squashfuse or FUSE is missing, or refuses the image.
    """
    program = find_squashfuse()
    # Root's launches are another user's.
    others = ",allow_other" if os.geteuid() == 0 else ""
    options = ("-f", "-o", f"ro,nodev,nosuid{others}")
    command = (program, *options, str(image.absolute()), str(root.absolute()))
    with (
        tempfile.TemporaryFile() as said,
        open("/proc/self/mountinfo", "rb") as mount_table,  # noqa: PTH123 # for poll()
        # A session of its own: Ctrl-C is for us, who then unmount.
        subprocess.Popen(
            # At SIGTERM it unmounts before it ends.
            ending_with_us(command, signal.SIGTERM),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        ) as process,
    ):
        try:
            _await_mount(process, root, mount_table)
            _check(process, image, said)
            yield
        finally:
            unmount(str(root.absolute()))
            # It ends by itself, but not while something is still in use there.
            process.kill()


def _await_mount(
    process: subprocess.Popen[bytes], root: Path, mount_table: IO[bytes]
) -> None:
    """Wait until something is mounted, or the process has ended."""
    end_s = time.monotonic() + _TIMEOUT_S
    descriptor = os.pidfd_open(process.pid)
    try:
        changes = select.poll()
        changes.register(mount_table, select.POLLPRI)  # the table has changed
        changes.register(descriptor, select.POLLIN)  # the process has ended
        while process.poll() is None and not os.path.ismount(root):
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                process.kill()
                process.wait()
            else:
                changes.poll(left_s * 1000)
    finally:
        os.close(descriptor)


def _check(process: subprocess.Popen[bytes], image: Path, said: IO[bytes]) -> None:
    if process.returncode is None:
        return
    message = f"squashfuse cannot mount {str(image)!r} (status {process.returncode})"
    raise ToolError(
        message,
        details=beginning(said),
        resolution="Check that this user can open /dev/fuse, and that squashfuse "
        "supports the image's codec.",
    )
