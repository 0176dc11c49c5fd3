"""Owners, modes and kinds of entries that the store's review finds fault with.

The rules are those of ``check_squashfs_files`` in ``reviewtools/sr_security.py``.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcraft_compression_advisor.squashfs.entry import ImageEntry

_READABLE = ("", "meta")
"""Directories that everybody has to be able to list."""
_SET_IDS = stat.S_ISUID | stat.S_ISGID
_LISTABLE_MODE = 0o555
_LISTABLE_MASK = _LISTABLE_MODE | _SET_IDS | stat.S_ISVTX
_SYMLINK_MODE = 0o777
_TYPES = {
    EntryKind.FILE: stat.S_IFREG,
    EntryKind.DIRECTORY: stat.S_IFDIR,
    EntryKind.SYMLINK: stat.S_IFLNK,
}
_WORDS = {
    EntryKind.BLOCK_DEVICE: "block device",
    EntryKind.CHARACTER_DEVICE: "character device",
    EntryKind.FIFO: "FIFO",
    EntryKind.SOCKET: "socket",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFault:
    """An entry, and what is unusual about it.

    :param path: from the image's root, which is the empty path.
    :param text: what is unusual, as a phrase: ``owned by 1000/1000``.
    """

    path: str
    text: str


def find_owner_faults(entries: Iterable[ImageEntry]) -> tuple[EntryFault, ...]:
    """Return the entries whose user or group isn't root."""
    return tuple(
        EntryFault(path=entry.path, text=f"owned by {entry.uid}/{entry.gid}")
        for entry in entries
        if entry.uid or entry.gid
    )


def find_mode_faults(entries: Iterable[ImageEntry]) -> tuple[EntryFault, ...]:
    """Return the entries of a mode or kind that the review refuses in an app."""
    return tuple(
        EntryFault(path=entry.path, text=text)
        for entry in entries
        if (text := _mode_fault(entry)) is not None
    )


def _mode_fault(entry: ImageEntry) -> str | None:
    """Return what is unusual about an entry's mode or kind."""
    if entry.kind in _WORDS:
        return f"a {_WORDS[entry.kind]}"
    mode = stat.filemode(_TYPES[entry.kind] | entry.mode)
    if entry.kind is EntryKind.SYMLINK:
        return None if entry.mode == _SYMLINK_MODE else f"link of mode {mode}"
    if entry.path in _READABLE and entry.mode & _LISTABLE_MASK != _LISTABLE_MODE:
        return f"mode {mode}, which has to be of the form r.xr.xr.x"
    if entry.mode & _SET_IDS or _odd_sticky(entry):
        return f"mode {mode}"
    return None


def _odd_sticky(entry: ImageEntry) -> bool:
    """Tell whether the sticky bit is set elsewhere than on a directory open to all.

    The review takes ``t`` in a directory's mode, but neither ``T`` (no right to
    enter for others) nor a file's.
    """
    if not entry.mode & stat.S_ISVTX:
        return False
    return entry.kind is not EntryKind.DIRECTORY or not entry.mode & stat.S_IXOTH
