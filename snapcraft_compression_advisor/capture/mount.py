"""Images mounted by the running kernel, and how it reads squashfs.

``ioctl`` numbers and structures are those of ``include/uapi/linux/loop.h``. With
``LO_FLAGS_AUTOCLEAR`` the kernel frees a device as soon as nothing has it open, be it
us, a mount, or a process that still has a file of the mount open. As ``LOOP_CONFIGURE``
(Linux 5.8) sets file and flags in one step, there is no moment at which the end of this
process would leave a device behind.

squashfs uses the backing device of its block device (``setup_bdev_super`` in Linux's
``fs/super.c``), so the loop device's read-ahead governs files of the mount. Files take
it as they are opened (``file_ra_state_init`` in ``mm/readahead.c``): the image's own,
for reading it from its disk, is in force if it was set while the image was opened, and
need not stay on the disk.

How the kernel reads squashfs is what its configuration says, by the options of Linux's
``fs/squashfs/Kconfig``. Kernels from 6.2 on can choose their decompressors at mount:
then ``threads=`` asks for some, and a mount without it, as of snapd, has one
(``squashfs_fill_super`` in ``fs/squashfs/super.c``).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import gzip
import os
import platform
import re
import struct
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.child import deferred_signals
from ..core.errors import StorageError, ToolError
from ..core.scratch import scratch_directory, unmount
from ..core.units import MIB
from ..devices.device import Decompressors, FileMode, KernelProfile
from ..launch.profile import RecordedKernel
from ..squashfs.image import Image

UBUNTU_READ_AHEAD_KB = 128
"""``read_ahead_kb`` of loop devices and disks on Ubuntu, the kernel's default."""

CAP_FOWNER, CAP_SYS_ADMIN = 3, 21  # linux/capability.h
_NO_SETUID_NO_DEVICES, _READ_ONLY = 2 | 4, 1  # MS_NOSUID, MS_NODEV, MS_RDONLY
_UNKNOWN_TO_KERNEL = {errno.ENODEV, errno.EINVAL}
"""No such file system; or, the superblock being sound, no such codec
(``squashfs_fill_super`` in Linux's ``fs/squashfs/super.c``)."""

LOOP_CONTROL = "/dev/loop-control"
_LOOP_CTL_GET_FREE = 0x4C82
_LOOP_CONFIGURE = 0x4C0A
_READ_ONLY_AUTOCLEAR = 1 | 4
_CONFIG = struct.Struct("=2I 5Q4I 64s64s32s2Q 8Q")
"""``struct loop_config``: file and block size; ``loop_info64``; reserved."""
_ATTEMPTS = 16
"""Another process may take the device that the kernel names as free."""
_BACKING_DEVICES = Path("/sys/class/bdi")

_CONFIGURATION_BYTES = 8 * MIB
"""What is read of a kernel's configuration; such files have about 300 KB."""
_OPTION = re.compile(r"^CONFIG_(SQUASHFS\w*)=[ym]$", re.MULTILINE)
_FILE_MODES: dict[str, FileMode] = {
    "SQUASHFS_FILE_DIRECT": "direct",
    "SQUASHFS_FILE_CACHE": "cache",
}
_DECOMPRESSORS: dict[str, Decompressors] = {
    "SQUASHFS_CHOICE_DECOMP_BY_MOUNT": "single",
    "SQUASHFS_DECOMP_MULTI_PERCPU": "percpu",
    "SQUASHFS_DECOMP_MULTI": "multi",
    "SQUASHFS_DECOMP_SINGLE": "single",
}
"""Of a mount that asks for none, by the first option that is set: where mounts choose,
all kinds are built in."""

_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted image.

    :param read_ahead_kb: what the kernel reads on within a file, in KiB; None if the
        kernel doesn't tell.
    """

    root: Path
    read_ahead_kb: int | None


def has_capability(number: int, status: Path = Path("/proc/self/status")) -> bool:
    """Return whether this process has a capability, by proc_pid_status(5)."""
    text = status.read_text(encoding="utf-8", errors="replace")
    held = int(text.partition("\nCapEff:")[2].split()[0], base=16)
    return bool(held & 1 << number)


def can_mount() -> bool:
    """Return whether this process may have the kernel mount an image.

    That takes CAP_SYS_ADMIN and a free loop device, which containers often lack.
    """
    with suppress(OSError):
        if has_capability(CAP_SYS_ADMIN):
            with free_loop_device():
                return True
    return False


def check_mounting() -> None:
    """Refuse to begin what can't be done without mounting images.

    :raises ToolError: if this process may not.
    """
    if not can_mount():
        message = "This process may not mount images"
        raise ToolError(
            message, resolution="Run the command as root, outside of a container."
        )


@contextmanager
def mounted(image: Path, *, at: Path | None = None) -> Iterator[Mount]:
    """Mount an image read-only, and unmount it in any case.

    Files of the mount and the image itself have Ubuntu's read-ahead, if the kernel
    lets it be set. What still has files open at the end keeps them, and the loop device
    is freed with the last of them.

    :param at: an empty directory to mount it at; by default a temporary one.
    :raises NoInputError: if the image can't be opened.
    :raises BadDataError: if it is no squashfs image.
    :raises StorageError: if reading it fails, or no directory can be made.
    :raises ToolError: if the kernel lacks its codec, or this process may not mount.
    """
    with Image.open(image) as opened:
        codec = opened.superblock.codec
    with (
        deferred_signals() as signals,
        mount_point(at) as root,
        _attached(image, root, codec),
        ubuntu_read_ahead(root) as in_force,
        signals.delivered(),
    ):
        yield Mount(root=root, read_ahead_kb=in_force)


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


@contextmanager
def _attached(image: Path, root: Path, codec: str) -> Iterator[None]:
    """Mount through a loop device that goes with the mount."""
    check_mounting()
    try:
        with ubuntu_read_ahead(image):
            file = image.open("rb")
        with file, loop_device(file.fileno()) as device:
            _mount_device(device, root, codec)
    except OSError as error:
        message = f"Cannot mount {str(image)!r}: {error.strerror}"
        raise StorageError(
            message, resolution="Check the kernel log (dmesg)."
        ) from error
    try:
        yield
    finally:
        unmount(str(root))


def _mount_device(device: Path, root: Path, codec: str) -> None:
    """Mount a device that holds an image with a sound superblock."""
    try:
        _mount(device, root, "squashfs", _READ_ONLY | _NO_SETUID_NO_DEVICES)
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


def virtual_mount(file_system: str, root: Path, options: str = "") -> None:
    """Mount a file system of the kernel that has no device, writable.

    :param options: of it, as mount(8) takes them.
    :raises OSError: if the kernel refuses.
    """
    _mount(Path("none"), root, file_system, _NO_SETUID_NO_DEVICES, options)


def _mount(
    source: Path, root: Path, file_system: str, flags: int, options: str = ""
) -> None:
    failed = _LIBC.mount(
        os.fsencode(source),
        os.fsencode(root),
        file_system.encode(),
        ctypes.c_ulong(flags),
        options.encode(),
    )
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@contextmanager
def free_loop_device() -> Iterator[tuple[Path, int]]:
    """Open a loop device that is free now; yield its path and descriptor.

    :raises OSError: if there is none to be had.
    """
    control = os.open(LOOP_CONTROL, os.O_RDWR | os.O_CLOEXEC)
    try:
        number = fcntl.ioctl(control, _LOOP_CTL_GET_FREE)
    finally:
        os.close(control)
    path = Path(f"/dev/loop{number}")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield path, descriptor
    finally:
        os.close(descriptor)


@contextmanager
def loop_device(image: int) -> Iterator[Path]:
    """Make a file a read-only block device; it lives on while something has it open.

    :param image: descriptor of the file, which the kernel keeps open in its turn.
    :raises OSError: if there is no device to be had.
    :raises ToolError: if the kernel is too old.
    """
    for _ in range(_ATTEMPTS):
        with free_loop_device() as (path, device):
            if _configure(device, image, path):
                yield path
                return
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))


def _configure(device: int, image: int, path: Path) -> bool:
    """Configure a device; False if somebody was faster."""
    name = os.fsencode(path)
    info = (0, 0, 0, 0, 0, 0, 0, 0, _READ_ONLY_AUTOCLEAR, name, b"", b"", 0, 0)
    try:
        fcntl.ioctl(device, _LOOP_CONFIGURE, _CONFIG.pack(image, 0, *info, *(0,) * 8))
    except OSError as error:
        if error.errno == errno.EBUSY:
            return False
        if error.errno in {errno.EINVAL, errno.ENOTTY}:
            message = f"Kernel {platform.release()} refuses to set up a loop device"
            raise ToolError(
                message,
                details=error.strerror,
                resolution="Use Linux 5.8 or later.",
            ) from error
        raise
    return True


@contextmanager
def ubuntu_read_ahead(
    path: Path, *, settings: Path = _BACKING_DEVICES
) -> Iterator[int | None]:
    """Set the read-ahead of a file system for files opened within.

    :param path: somewhere on the file system.
    :param settings: the kernel's directory of what can be set of each device.
    :return: what is in force then, in KiB; None if the kernel doesn't tell.
    """
    device = path.stat().st_dev
    setting = settings / f"{os.major(device)}:{os.minor(device)}" / "read_ahead_kb"
    before = in_force = None
    with suppress(OSError, ValueError):
        before = in_force = int(setting.read_text(encoding="ascii"))
        setting.write_text(f"{UBUNTU_READ_AHEAD_KB}\n", encoding="ascii")
        in_force = int(setting.read_text(encoding="ascii"))
    try:
        yield in_force
    finally:
        if before is not None:
            with suppress(OSError):
                setting.write_text(f"{before}\n", encoding="ascii")


def kernel_release(text: str | None = None) -> tuple[int, int]:
    """Return the first two numbers of this kernel's release, or of another's text."""
    numbers = re.match(r"(\d+)\.(\d+)", text or platform.release())
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)


def running_kernel(root: Path = Path("/")) -> KernelProfile:
    """Return the facts of the running kernel, from files below a root."""
    release = platform.release()
    options, where = _options(root, release)
    modes = (mode for option, mode in _FILE_MODES.items() if option in options)
    kinds = (kind for option, kind in _DECOMPRESSORS.items() if option in options)
    return KernelProfile(
        versions="{}.{}".format(*kernel_release()),
        file_mode=next(modes, "unknown"),
        decompressors=next(kinds, "unknown"),
        source=f"kernel: measured; Linux {release}, its options from {where}"
        if where
        else f"kernel: Linux {release}; its options are unknown: neither "
        "/proc/config.gz nor a file in /boot or /lib/modules names them",
    )


def recorded_kernel() -> RecordedKernel:
    """Return of the running kernel what a recording keeps."""
    kernel = running_kernel()
    return RecordedKernel(
        file_mode=kernel.file_mode, decompressors=kernel.decompressors
    )


def _options(root: Path, release: str) -> tuple[Container[str], str]:
    """Return squashfs's options of the first readable configuration that has some."""
    places = (
        "proc/config.gz",
        f"boot/config-{release}",
        f"lib/modules/{release}/config",
        f"usr/lib/modules/{release}/config",
        f"lib/modules/{release}/build/.config",
    )
    for place in places:
        open_file = gzip.open if place.endswith(".gz") else open
        with suppress(OSError, EOFError, zlib.error):
            with open_file(root / place, "rb") as file:
                text = file.read(_CONFIGURATION_BYTES).decode(errors="replace")
            if options := _OPTION.findall(text):
                return options, f"/{place}"
    return (), ""
