"""Images mounted by the running kernel, and how it reads squashfs.

mount(8) sets up the loop device, and has the kernel free it as soon as nothing has it
open, be it the mount or a process that still has a file of it open.

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

import fcntl
import gzip
import os
import platform
import re
import subprocess
import zlib
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager, suppress
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

_MOUNT = "/bin/mount"
LOOP_CONTROL = "/dev/loop-control"
_LOOP_CTL_GET_FREE = 0x4C82
"""Of ``include/uapi/linux/loop.h``."""
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
    with suppress(OSError), ExitStack() as until:
        if has_capability(CAP_SYS_ADMIN):
            control = os.open(LOOP_CONTROL, os.O_RDWR | os.O_CLOEXEC)
            until.callback(os.close, control)
            number = fcntl.ioctl(control, _LOOP_CTL_GET_FREE)
            os.close(os.open(f"/dev/loop{number}", os.O_RDONLY | os.O_CLOEXEC))
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
    check_mounting()
    with deferred_signals() as signals, mount_point(at) as root:
        try:
            with ubuntu_read_ahead(image):
                done = run_mount("squashfs", "loop,ro", str(image), root)
        except OSError as error:
            message = f"Cannot mount {str(image)!r}: {error.strerror}"
            raise StorageError(message, resolution="Check the disk.") from error
        if done.returncode:
            message = f"Kernel {platform.release()} cannot mount an image with {codec}"
            raise ToolError(
                message,
                details=done.stderr.strip() or None,
                resolution="Use a kernel that supports it, or leave out this codec. "
                "The kernel log (dmesg) may say more.",
            )
        try:
            with ubuntu_read_ahead(root) as in_force, signals.delivered():
                yield Mount(root=root, read_ahead_kb=in_force)
        finally:
            unmount(str(root))


@contextmanager
def mount_point(at: Path | None = None) -> Iterator[Path]:
    """Make an empty directory to mount images at, removed at the end.

    :param at: taken instead, if it is given.
    :raises StorageError: if none can be made.
    """
    if at is not None:
        yield at
        return
    with scratch_directory() as directory:
        # Within it: on top of it, the mount would hide the lock of the directory.
        root = directory / "root"
        root.mkdir()
        yield root


def run_mount(
    file_system: str, options: str, source: str, root: Path
) -> subprocess.CompletedProcess[str]:
    """Run mount(8), in a session of its own: an interruption waits until it is done.

    :raises OSError: if there is none.
    """
    options += ",nosuid,nodev"
    return subprocess.run(
        (_MOUNT, "-n", "-t", file_system, "-o", options, source, str(root)),
        check=False,
        capture_output=True,
        start_new_session=True,
        text=True,
        errors="replace",
    )


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
