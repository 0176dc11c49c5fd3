"""Whether a file is as it was, by what the kernel notes of it.

As git's index does (``racy-git`` in git's documentation): a file's device, inode
number, length and times of change name its contents, as long as it wasn't changed so
lately that the next change could have the same times. Unlike the time of modification,
that of the last change of the inode can't be set by programs.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

SETTLED_NS = 2_000_000_000
"""A file that was changed less than this before it is listed may change again with the
same times. File systems count in steps of some milliseconds, FAT in steps of 2 s."""

TRUSTED_FILE_SYSTEMS = frozenset(
    (
        "bcachefs",
        "btrfs",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "overlay",
        "tmpfs",
        "xfs",
        "zfs",
    )
)
"""Those whose times are this kernel's. A server has a clock of its own, and a read-only
image has the times that its maker chose."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MOUNTS = Path("/proc/self/mountinfo")
_STATE = struct.Struct("<QQqq")
STATE_BYTES = _STATE.size


class StatesOfFiles:
    """Names what files of a directory contain, as long as they don't change.

    :param root: the directory, about to be listed: files that are changed from now on
        have no state.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before_ns = time.time_ns() - SETTLED_NS
        self._known: dict[str, bytes] = {}

    def note(self, path: str, status: os.stat_result) -> None:
        """Note a regular file's state as it is listed."""
        state = self._state(status)
        if state is not None:
            self._known[path] = state

    def of(self, path: str) -> bytes | None:
        """Return what names a file's contents, ``None`` where nothing does.

        :param path: of the file, relative to the root.
        """
        return self._known.get(path)

    def all(self) -> Collection[bytes]:
        """Return what names the contents of those files that have a state."""
        return self._known.values()

    @cached_property
    def where(self) -> bytes | None:
        """What tells this directory's files from those of others with equal states.

        ``None`` where they have no states.
        """
        if self._device is None or not self._boot:
            return None
        try:
            inode = self._root.stat().st_ino
        except OSError:
            return None
        return b"%s %d %d" % (self._boot, self._device, inode)

    def check(self, path: str, descriptor: int) -> None:
        """Take a file's state back where what was just read of it is newer."""
        known = self._known.get(path)
        if known is not None and known != self._state(os.fstat(descriptor)):
            self._known.pop(path, None)

    def _state(self, status: os.stat_result) -> bytes | None:
        if status.st_dev != self._device:
            return None
        modified_ns, changed_ns = status.st_mtime_ns, status.st_ctime_ns
        if changed_ns >= self._before_ns or modified_ns >= self._before_ns:
            return None
        return _STATE.pack(status.st_ino, status.st_size, modified_ns, changed_ns)

    @cached_property
    def _device(self) -> int | None:
        """The directory's device, where its file system is trusted."""
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
            device = self._root.stat().st_dev
        except OSError:
            return None
        return device if _is_trusted(mounts, os.path.realpath(self._root)) else None

    @cached_property
    def _boot(self) -> bytes:
        """The kernel's name for this start: devices have other numbers at the next."""
        try:
            return _BOOT.read_bytes().strip()
        except OSError:
            return b""


def _is_trusted(mounts: str, place: str) -> bool:
    """Tell whether the mount that a path is on keeps times itself.

    :param mounts: of proc_pid_mountinfo(5); of those on one place, the last counts.
    """
    longest, trusted = -1, False
    for line in mounts.splitlines():
        mount, _, file_system = line.partition(" - ")
        fields = mount.split()
        point = _unescaped(fields[4])
        if len(point) >= longest and _is_below(place, point):
            writable = "rw" in fields[5].split(",")
            longest = len(point)
            trusted = writable and file_system.split()[0] in TRUSTED_FILE_SYSTEMS
    return trusted


def _is_below(place: str, point: str) -> bool:
    return place == point or place.startswith(point.rstrip("/") + "/")


def _unescaped(point: str) -> str:
    for code in ("040", "011", "012", "134"):
        point = point.replace(f"\\{code}", chr(int(code, 8)))
    return point
