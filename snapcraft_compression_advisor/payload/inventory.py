"""What a payload consists of, read from a prime directory or an image."""

from __future__ import annotations

import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NoReturn

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import BadDataError, NoInputError, StorageError
from ..core.units import MIB, format_bytes
from ..squashfs.entry import EntryKind, ImageEntry
from .beneath import directory_beneath

CONTENTS_FREE_BYTES = 16 * 1024 * MIB
"""What a payload's files may claim to hold, whatever they take."""
PACKED_FREE_BYTES = 512 * MIB
"""The same of files that are packed, unpacked or made deltas of, which reads all zeros:
three seconds a GiB."""
CONTENTS_GROWTH = 16
"""How much more they may claim for each byte that they take.

What is claimed beyond what is there is holes, and nobody ships many: a sparse file says
8 EiB as easily as one byte, and packing it would read as many zeros."""
PATH_LIMIT_BYTES = 4095
"""``PATH_MAX`` of linux/limits.h without the NUL at the end."""
_LISTED_PATHS = 10
_MODE_BITS = 0o7777
_KINDS = {
    stat.S_IFREG: EntryKind.FILE,
    stat.S_IFDIR: EntryKind.DIRECTORY,
    stat.S_IFLNK: EntryKind.SYMLINK,
    stat.S_IFCHR: EntryKind.CHARACTER_DEVICE,
    stat.S_IFBLK: EntryKind.BLOCK_DEVICE,
    stat.S_IFIFO: EntryKind.FIFO,
    stat.S_IFSOCK: EntryKind.SOCKET,
}
_TOP_LEVEL = (
    "DEBIAN .arch-ids .arch-inventory .bzr .bzr-builddeb .bzr.backup .bzr.tags "
    ".bzrignore .cvsignore .git .gitattributes .gitignore .gitmodules .hg .hgignore "
    ".hgsigs .hgtags .shelf .svn CVS DEADJOE RCS _MTN _darcs {arch} .snapignore"
)
TOP_LEVEL_NAMES = tuple(_TOP_LEVEL.split())
"""Names that ``snap pack`` leaves out in the root of the tree only.

snapd writes these names and patterns into a file that it passes to mksquashfs with
``-wildcards -ef`` (``snap/pack/pack.go``, since snapd 2.35).
"""
ANYWHERE_PATTERNS = (".[#~]*", "*.snap", "*.click", ".*.sw?", "*~", ",,*")
"""Shell patterns of names left out at any depth."""
_ANYWHERE = re.compile(
    "|".join(
        ("" if p[0] == "." else r"(?!\.)") + translate(p) for p in ANYWHERE_PATTERNS
    )
)
"""mksquashfs matches with ``FNM_PERIOD``: a wildcard never matches the dot that a name
starts with."""
_STARTS = tuple(pattern[0] for pattern in ANYWHERE_PATTERNS if pattern[0] != "*")
_ENDS = tuple(pattern[1:] for pattern in ANYWHERE_PATTERNS if pattern[0] == "*")
"""What starts or ends a name that one of them matches; few names do."""


class Entry(NamedTuple):
    """One name in the payload.

    :param path: relative to the root, ``/`` between names; names that are not
        UTF-8 carry surrogate escapes.
    :param size_bytes: a regular file's length, else 0.
    :param allocated_bytes: what the file occupies on the disk that it was read
        from; less than its size for a sparse file. Its size where unknown.
    :param modified_s: whole seconds since 1970.
    :param identity: equal for the names (hard links) of one file.
    :param link_target: where a symlink points.
    """

    path: str
    kind: EntryKind
    size_bytes: int
    allocated_bytes: int
    mode: int
    identity: int
    modified_s: int = 0
    link_target: str | None = None

    @property
    def executable(self) -> bool:
        """Whether somebody may run it."""
        return self.kind is EntryKind.FILE and bool(self.mode & 0o111)

    @property
    def sparse(self) -> bool:
        """Whether it has holes where it was read from."""
        return self.allocated_bytes < self.size_bytes


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """Every name of a payload but its root.

    :param entries: by path; parents before children, names in byte order.
    :param root_mode: that of a directory's root.
    """

    entries: Mapping[str, Entry]
    root_mode: int = 0o755

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Inventory:
        """Return the inventory of these entries."""
        return cls(entries={entry.path: entry for entry in entries})

    @cached_property
    def folders(self) -> Mapping[str, Sequence[Entry]]:
        """What is right in each directory that isn't empty; the root has no name."""
        folders: dict[str, list[Entry]] = defaultdict(list)
        for path, entry in self.entries.items():
            folders[path.rpartition("/")[0]].append(entry)
        return dict(folders)

    def files(self) -> Sequence[Entry]:
        """Return each regular file once, under the first of its names."""
        return self._files

    @cached_property
    def _files(self) -> tuple[Entry, ...]:
        firsts: dict[int, Entry] = {}
        for entry in self.entries.values():
            if entry.kind is EntryKind.FILE:
                firsts.setdefault(entry.identity, entry)
        return tuple(firsts.values())

    @property
    def file_count(self) -> int:
        """Regular files, hard links counted once."""
        return len(self._files)

    @cached_property
    def raw_bytes(self) -> int:
        """Length of all regular files, hard links counted once."""
        return sum(entry.size_bytes for entry in self.files())

    @cached_property
    def data_blocks(self) -> int:
        """Data blocks of all regular files, hard links counted once."""
        return sum(block_count(entry.size_bytes) for entry in self.files())


def block_count(size_bytes: int) -> int:
    """Return the data blocks of a file, its tail counted as one."""
    return -(-size_bytes // DATA_BLOCK_BYTES)


def block_bytes(size_bytes: int, number: int) -> int:
    """Return the length of one data block of a file.

    :param number: 0 for the first.
    """
    last = block_count(size_bytes) - 1
    return size_bytes - last * DATA_BLOCK_BYTES if number == last else DATA_BLOCK_BYTES


def check_contents_size(
    inventory: Inventory,
    *,
    taken_bytes: int,
    where: str,
    free_bytes: int = CONTENTS_FREE_BYTES,
) -> None:
    """Refuse files that claim to be far longer than what they take.

    :param taken_bytes: what they take on the disk or in the image.
    :param where: the payload, for errors.
    :param free_bytes: what they may claim, whatever they take.
    :raises BadDataError: if they exceed what the constants above allow.
    """
    claimed_bytes = inventory.raw_bytes
    limit_bytes = free_bytes + CONTENTS_GROWTH * taken_bytes
    if claimed_bytes <= limit_bytes:
        return
    largest = max(inventory.files(), key=lambda entry: entry.size_bytes)
    message = (
        f"The files of {where!r} claim {format_bytes(claimed_bytes)} and take "
        f"{format_bytes(taken_bytes)}; at most {format_bytes(limit_bytes)} are read"
    )
    raise BadDataError(
        message,
        details=f"the largest is {largest.path!r}, {largest.size_bytes:,} bytes",
        resolution="Remove the sparse file, or make it as short as its contents.",
    )


def scan_directory(
    root: Path, *, noted: Callable[[str, os.stat_result], None] | None = None
) -> Inventory:
    """List what ``snap pack`` would ship of a directory; no link is followed.

    :param noted: called with the path and the status of each regular file.
    :raises NoInputError: if files or directories can't be read (all that were
        met are named, up to ten).
    :raises BadDataError: if a path is longer than programs can open, or holes are
        far larger than the files' contents (:func:`check_contents_size`).
    :raises StorageError: if the directory changes meanwhile, or the disk fails.
    """
    listing = _Listing(root, noted)
    listing.add_tree()
    if listing.unreadable:
        _raise_unreadable(root, listing.unreadable)
    root_mode = stat.S_IMODE(root.stat().st_mode)
    inventory = replace(Inventory.of(listing.entries), root_mode=root_mode)
    taken_bytes = sum(entry.allocated_bytes for entry in inventory.files())
    check_contents_size(inventory, taken_bytes=taken_bytes, where=str(root))
    return inventory


def list_image(entries: Iterable[ImageEntry]) -> Inventory:
    """List what an image holds."""
    return Inventory.of(
        Entry(
            entry.path,
            entry.kind,
            size := entry.size_bytes if entry.kind is EntryKind.FILE else 0,
            size,
            entry.mode,
            entry.inode,
            entry.modified_s,
            entry.link_target,
        )
        for entry in entries
        if entry.path
    )


class _Listing:
    """The entries of a directory, as far as they were listed.

    :ivar unreadable: paths of those that can't be read.
    """

    def __init__(
        self, root: Path, noted: Callable[[str, os.stat_result], None] | None
    ) -> None:
        self._root = root
        self._noted = noted
        self._identities: dict[tuple[int, int], int] = {}
        self._user = os.geteuid()
        self.entries: list[Entry] = []
        self.unreadable: list[str] = []

    def add_tree(self) -> None:
        """List the root, and each directory after the one that it is in."""
        pending = [""]
        while pending:
            directory = pending.pop()
            try:
                subdirectories = self._add_directory(directory)
            except PermissionError:
                self.unreadable.append(directory or ".")
            except OSError as error:
                _raise_changed(f"{self._root}/{directory}", error)
            else:
                pending.extend(reversed(subdirectories))

    def _add_directory(self, directory: str) -> list[str]:
        """List what is in a directory; return the directories in it."""
        subdirectories = []
        prefix = f"{directory}/" if directory else ""
        with (
            directory_beneath(self._root, directory) as descriptor,
            os.scandir(descriptor) as items,
        ):
            named = {item.name: item for item in items}
            for name in _in_byte_order(named):
                if is_excluded(name, top_level=not directory):
                    continue
                status = named[name].stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    self._add_file(prefix + name, name, status, descriptor)
                    continue
                entry = self._other_entry(prefix + name, name, status, descriptor)
                self.entries.append(entry)
                if entry.kind is EntryKind.DIRECTORY:
                    subdirectories.append(entry.path)
        return subdirectories

    def _add_file(
        self, path: str, name: str, status: os.stat_result, directory: int
    ) -> None:
        """Add a regular file; note it where it can't be read."""
        size_bytes, mode = status.st_size, status.st_mode
        self.entries.append(
            Entry(
                _openable(path),
                EntryKind.FILE,
                size_bytes,
                status.st_blocks * 512,
                mode & _MODE_BITS,
                self._identity(status),
                int(status.st_mtime),
            )
        )
        own = mode & stat.S_IRUSR and status.st_uid == self._user
        if not own and size_bytes and not _may_read(name, directory):
            self.unreadable.append(path)
        elif self._noted is not None:
            self._noted(path, status)

    def _other_entry(
        self, path: str, name: str, status: os.stat_result, directory: int
    ) -> Entry:
        kind = _KINDS[stat.S_IFMT(status.st_mode)]
        link = kind is EntryKind.SYMLINK
        return Entry(
            _openable(path),
            kind,
            0,
            0,
            status.st_mode & _MODE_BITS,
            self._identity(status),
            int(status.st_mtime),
            os.readlink(name, dir_fd=directory) if link else None,
        )

    def _identity(self, status: os.stat_result) -> int:
        number = len(self.entries)
        if status.st_nlink == 1:
            return number
        return self._identities.setdefault((status.st_dev, status.st_ino), number)


def _in_byte_order(names: Iterable[str]) -> list[str]:
    by_name = sorted(names)
    if not "".join(by_name).isascii():
        by_name.sort(key=os.fsencode)
    return by_name


def _may_read(name: str, directory: int) -> bool:
    """Return whether this process may read a file of an open directory."""
    return os.access(name, os.R_OK, dir_fd=directory, effective_ids=True)


def _openable(path: str) -> str:
    """Return a path that isn't longer than any program could open.

    :raises BadDataError: if it is.
    """
    if len(path) >= PATH_LIMIT_BYTES // 4 and len(os.fsencode(path)) > PATH_LIMIT_BYTES:
        raise _too_long(path)
    return path


def _too_long(path: str) -> BadDataError:
    length = len(os.fsencode(path))
    return BadDataError(
        f"The payload has a path of {length:,} bytes: {path[:64]!r}…",
        details=f"Linux opens paths of {PATH_LIMIT_BYTES:,} bytes at most (PATH_MAX)",
        resolution="Remove it: 'snap pack' cannot ship it.",
    )


def _raise_unreadable(root: Path, paths: list[str]) -> NoReturn:
    listed = "\n".join(paths[:_LISTED_PATHS])
    more = len(paths) - _LISTED_PATHS
    count = "1 entry" if len(paths) == 1 else f"{len(paths)} entries"
    message = f"Cannot read {count} of {str(root)!r}: {paths[0]!r}"
    raise NoInputError(
        message + (", …" if len(paths) > 1 else ""),
        details=listed + (f"\nand {more} more" if more > 0 else ""),
        resolution="'snap pack' refuses them as well: make them readable, for "
        "instance with 'chmod -R u+rX'.",
    )


def _raise_changed(path: str, error: OSError) -> NoReturn:
    message = f"Cannot read {path!r}: {error.strerror or error}"
    raise StorageError(
        message,
        resolution="If a build is still writing to the directory, wait until it ends "
        "and try again.",
    ) from error


def is_excluded(name: str, *, top_level: bool) -> bool:
    """Return whether ``snap pack`` leaves out an entry, and all below it.

    :param name: the entry's own name, without its directory.
    :param top_level: whether it lies in the root of the tree.
    """
    if top_level and name in TOP_LEVEL_NAMES:
        return True
    if name.startswith(_STARTS) or name.endswith(_ENDS):
        return _ANYWHERE.match(name) is not None
    return False


def exclude_file_text() -> str:
    """Return the patterns as mksquashfs's ``-wildcards -ef`` file."""
    anywhere = (f"... {pattern}" for pattern in ANYWHERE_PATTERNS)
    return "\n".join((*TOP_LEVEL_NAMES, *anywhere, ""))
