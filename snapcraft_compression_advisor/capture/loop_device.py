"""Loop devices: a file as a block device, freed by the kernel itself.

``ioctl`` numbers and structures are those of ``include/uapi/linux/loop.h``. With
``LO_FLAGS_AUTOCLEAR`` the kernel frees the device as soon as nothing has it open, be
it us, a mount, or a process that still has a file of the mount open. As
``LOOP_CONFIGURE`` (Linux 5.8) sets file and flags in one step, there is no moment at
which the end of this process would leave a device behind.

squashfs uses the backing device of its block device (``setup_bdev_super`` in Linux's
``fs/super.c``), so the loop device's read-ahead governs files of the mount. Files take
it as they are opened (``file_ra_state_init`` in ``mm/readahead.c``): the image's own,
for reading it from its disk, is in force where it was set while the image was opened,
and need not stay on the disk.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from ..core.errors import ToolError

LOOP_CONTROL = Path("/dev/loop-control")
_LOOP_CTL_GET_FREE = 0x4C82
_LOOP_CONFIGURE = 0x4C0A
_READ_ONLY_AUTOCLEAR = 1 | 4
_CONFIG = struct.Struct("=2I 5Q4I 64s64s32s2Q 8Q")
"""``struct loop_config``: file and block size; ``loop_info64``; reserved."""
_ATTEMPTS = 16
"""Another process may take the device that we were told is free."""
_BACKING_DEVICES = Path("/sys/class/bdi")

OpenDevice = AbstractContextManager[tuple[Path, int]]
"""A device that is open: its path and its descriptor."""


@contextmanager
def free_loop_device(control_path: Path = LOOP_CONTROL) -> Iterator[tuple[Path, int]]:
    """Open a loop device that is free now; yield its path and descriptor.

    :raises OSError: if there is none to be had.
    """
    control = os.open(control_path, os.O_RDWR | os.O_CLOEXEC)
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
def loop_device(
    image: int, open_free: Callable[[], OpenDevice] = free_loop_device
) -> Iterator[Path]:
    """Make a file a read-only block device; it lives on while something has it open.

    :param image: descriptor of the file, which the kernel keeps open in its turn.
    :param open_free: opens a device that is free, until somebody else takes it.
    :raises OSError: if there is no device to be had.
    :raises ToolError: if the kernel is too old.
    """
    for _ in range(_ATTEMPTS):
        with open_free() as (path, device):
            if _configure(device, image, path):
                yield path
                return
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))


def _configure(device: int, image: int, path: Path) -> bool:
    """Configure a device; ``False`` where somebody was faster."""
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
def device_read_ahead(
    path: Path, wanted_kb: int | None, *, settings: Path = _BACKING_DEVICES
) -> Iterator[int | None]:
    """Set the read-ahead of a file system for files opened within.

    :param path: somewhere on the file system.
    :param wanted_kb: in KiB; ``None`` leaves it.
    :param settings: the kernel's directory of what can be set of each device.
    :return: what is in force then, ``None`` if the kernel doesn't tell.
    """
    device = path.stat().st_dev
    setting = settings / f"{os.major(device)}:{os.minor(device)}" / "read_ahead_kb"
    before_kb = _read(setting)
    if wanted_kb is None or before_kb is None or not _write(setting, wanted_kb):
        yield before_kb
        return
    try:
        yield _read(setting)
    finally:
        _write(setting, before_kb)


@contextmanager
def open_with_read_ahead(
    path: Path, read_ahead_kb: int, *, settings: Path = _BACKING_DEVICES
) -> Iterator[int]:
    """Open a file with a read-ahead other than that of its disk.

    :param settings: as in :func:`device_read_ahead`.
    :return: its descriptor, closed at the end.
    :raises OSError: if it can't be opened.
    """
    with device_read_ahead(path, read_ahead_kb, settings=settings):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(setting: Path) -> int | None:
    with suppress(OSError):
        return int(setting.read_text(encoding="ascii"))
    return None


def _write(setting: Path, read_ahead_kb: int) -> bool:
    with suppress(OSError):
        setting.write_text(f"{read_ahead_kb}\n", encoding="ascii")
        return True
    return False
