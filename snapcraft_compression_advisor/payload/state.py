"""What names a payload's contents, as long as they don't change.

As git's index does (``racy-git`` in git's documentation): a file's device, inode
number, length and times of change name its contents, unless it was changed so lately
that the next change could have the same times. Unlike the time of modification, that of
the last change of the inode can't be set by programs.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

SETTLED_NS = 2_000_000_000
"""A file that was changed less than this before it is listed may change again with the
same times. File systems count in steps of some milliseconds, FAT in steps of 2 s."""

_TRUSTED = "bcachefs btrfs ext2 ext3 ext4 f2fs overlay tmpfs xfs zfs"
TRUSTED_FILE_SYSTEMS = frozenset(_TRUSTED.split())
"""Those whose times are this kernel's. A server has a clock of its own, and a read-only
image has the times that its maker chose."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_MOUNTS = Path("/proc/self/mountinfo")


class PayloadState:
    """Collects the states of a payload's files."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before_ns = time.time_ns() - SETTLED_NS
        self._digest = hashlib.sha256()
        self._is_known = True
        try:
            status = root.stat()
            self._device = status.st_dev
            # At the next start of the kernel, devices may have other numbers.
            self._add(_BOOT.read_bytes(), status.st_dev, status.st_ino)
        except OSError:
            self._is_known = False

    def note(self, path: str, status: os.stat_result) -> None:
        """Note a regular file as it is listed."""
        modified_ns, changed_ns = status.st_mtime_ns, status.st_ctime_ns
        if max(modified_ns, changed_ns) >= self._before_ns:
            self._is_known = False
        if self._is_known and status.st_dev != self._device:
            self._is_known = False
        self._add(path, status.st_ino, status.st_size, modified_ns, changed_ns)

    def name(self, entries: Iterable[object] = ()) -> str | None:
        """Return what names the contents; None if nothing does for sure.

        :param entries: of a directory: paths, modes, links.
        """
        if not self._is_known or not _is_trusted(self._root):
            return None
        self._add(*entries)
        return self._digest.hexdigest()

    def _add(self, *values: object) -> None:
        for value in values:
            self._digest.update(f"{value!r}\n".encode("utf-8", "surrogateescape"))


def _is_trusted(root: Path) -> bool:
    """Whether the mount that a path is on is writable and keeps times itself.

    Of mounts on one place (proc_pid_mountinfo(5)), the last counts.
    """
    place = os.path.realpath(root)
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return False
    longest, trusted = -1, False
    for line in mounts.splitlines():
        mount, _, file_system = line.partition(" - ")
        fields = mount.split()
        point = fields[4]
        for code in ("040", "011", "012", "134"):
            point = point.replace(f"\\{code}", chr(int(code, 8)))
        below = place == point or place.startswith(point.rstrip("/") + "/")
        if below and len(point) >= longest:
            longest = len(point)
            writable = "rw" in fields[5].split(",")
            trusted = writable and file_system.split()[0] in TRUSTED_FILE_SYSTEMS
    return trusted
