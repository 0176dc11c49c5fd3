"""Loop devices: a file as a block device, freed by the kernel itself.

``ioctl`` numbers and structures are those of ``include/uapi/linux/loop.h``. With
``LO_FLAGS_AUTOCLEAR`` the kernel frees the device as soon as nothing has it open, be
it us, a mount, or a process that still has a file of the mount open. As
``LOOP_CONFIGURE`` (Linux 5.8) sets file and flags in one step, there is no moment at
which the end of this process would leave a device behind.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOP_CONTROL = Path("/dev/loop-control")
_LOOP_CTL_GET_FREE = 0x4C82
_LOOP_CONFIGURE = 0x4C0A
_READ_ONLY_AUTOCLEAR = 1 | 4
_CONFIG = struct.Struct("=2I 5Q4I 64s64s32s2Q 8Q")
"""``struct loop_config``: file and block size; ``loop_info64``; reserved."""
_ATTEMPTS = 16
"""Another process may take the device that we were told is free."""


@contextmanager
def free_loop_device() -> Iterator[tuple[Path, int]]:
    """Open a loop device that is free now; yield its path and descriptor.

    :raises OSError: where there is none to be had.
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
    :raises OSError: where there is no device to be had.
    :raises ToolError: where the kernel is too old.
    """
    for _ in range(_ATTEMPTS):
        with free_loop_device() as (path, device):
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
                resolution="Use a kernel from Linux 5.8 on.",
            ) from error
        raise
    return True
