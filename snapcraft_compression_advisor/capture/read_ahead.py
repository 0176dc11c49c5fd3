"""How far the kernel reads on in a file, for a mount and for the image below it.

squashfs uses the backing device of its block device (``setup_bdev_super`` in Linux's
``fs/super.c``), so one setting, that of the loop device, governs files of the mount.
Files take it as they are opened (``file_ra_state_init`` in ``mm/readahead.c``): the
image's own, for reading it from its disk, is in force where it was set while the
image was opened, and need not stay on the disk.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BACKING_DEVICES = Path("/sys/class/bdi")


@contextmanager
def device_read_ahead(path: Path, wanted_kb: int | None) -> Iterator[int | None]:
    """Set the read-ahead of a file system for files opened within.

    :param path: somewhere on the file system.
    :param wanted_kb: in KiB; ``None`` leaves it.
    :return: what is in force then, ``None`` where the kernel doesn't tell.
    """
    setting = _setting(path)
    before_kb = _read(setting)
    if wanted_kb is None or before_kb is None or not _write(setting, wanted_kb):
        yield before_kb
        return
    try:
        yield _read(setting)
    finally:
        _write(setting, before_kb)


@contextmanager
def open_with_read_ahead(path: Path, read_ahead_kb: int) -> Iterator[int]:
    """Open a file with a read-ahead other than that of its disk.

    :return: its descriptor, closed at the end.
    :raises OSError: where it can't be opened.
    """
    with device_read_ahead(path, read_ahead_kb):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _setting(path: Path) -> Path:
    device = path.stat().st_dev
    return _BACKING_DEVICES / f"{os.major(device)}:{os.minor(device)}" / "read_ahead_kb"


def _read(setting: Path) -> int | None:
    try:
        return int(setting.read_text(encoding="ascii"))
    except OSError:
        return None


def _write(setting: Path, read_ahead_kb: int) -> bool:
    try:
        setting.write_text(f"{read_ahead_kb}\n", encoding="ascii")
    except OSError:
        return False
    return True
