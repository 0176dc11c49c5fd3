"""Listing, opening and naming what lies in a directory, and nothing else.

No name of a path may be a symbolic link. So a directory that is swapped for a link
after it was listed leads to an error, never out of the payload. ``O_NOFOLLOW`` by
itself guards a path's last name only (``open(2)``), so each is opened by itself.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fnmatch import translate
from itertools import groupby
from pathlib import Path
from typing import NoReturn

import psutil

from ..core.errors import BadDataError, NoInputError, StorageError
from ..squashfs.entry import EntryKind
from .inventory import Entry, Inventory, check_contents_size

PATH_LIMIT_BYTES = 4095
"""``PATH_MAX`` of linux/limits.h without the NUL at the end."""
SETTLED_NS = 2_000_000_000
"""A file that was changed less than this before it is listed may change again with the
same times. File systems count in steps of some milliseconds, FAT in steps of 2 s."""

_TRUSTED = "bcachefs btrfs ext2 ext3 ext4 f2fs overlay tmpfs xfs zfs"
TRUSTED_FILE_SYSTEMS = frozenset(_TRUSTED.split())
"""Those whose times are this kernel's. A server has a clock of its own, and a read-only
image has the times that its maker chose."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")

_LISTED_PATHS = 10
_MODE_BITS = 0o7777
# O_PATH: to pass through a directory takes no right to list it.
_PASSED = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO for reading would wait for its writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
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


@contextmanager
def file_beneath(root: str | Path, path: str) -> Iterator[int]:
    """Open a regular file for reading; as :func:`_open`."""
    with _closing(_open(root, path)) as descriptor:
        _check_regular(descriptor)
        yield descriptor


def read_beneath(root: str | Path, path: str, *, offset: int, length: int) -> bytes:
    """Return bytes of a regular file, fewer at its end; as :func:`file_beneath`."""
    with file_beneath(root, path) as descriptor:
        return os.pread(descriptor, length, offset)


def _open(root: str | Path, path: str, flags: int = 0) -> int:
    """Open what a path in the root leads to for reading; return its descriptor.

    :param root: may itself be a symbolic link.
    :raises OSError: if there is nothing, or a link is on the way.
    """
    *directories, name = path.split("/")
    if ".." in directories or name == "..":
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.open(root, _PASSED)
    try:
        for directory in directories:
            above = here
            here = os.open(directory, _PASSED | os.O_NOFOLLOW, dir_fd=above)
            os.close(above)
        return os.open(name, _READ | flags, dir_fd=here)
    finally:
        os.close(here)


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _check_regular(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(0, "it is no longer a regular file")


def scan_directory(root: Path, *, state: PayloadState | None = None) -> Inventory:
    """List what ``snap pack`` would ship of a directory; no link is followed.

    :raises NoInputError: if files or directories can't be read (all that were
        met are named, up to ten).
    :raises BadDataError: if a path is longer than programs can open, or holes are
        far larger than the files' contents (:func:`.check_contents_size`).
    :raises StorageError: if the directory changes meanwhile, or the disk fails.
    """
    listing = _Listing(root, state)
    listing.add_tree()
    if listing.unreadable:
        _raise_unreadable(root, listing.unreadable)
    root_mode = stat.S_IMODE(root.stat().st_mode)
    inventory = replace(Inventory.of(listing.entries), root_mode=root_mode)
    taken_bytes = sum(entry.allocated_bytes for entry in inventory.files())
    check_contents_size(inventory, taken_bytes=taken_bytes, where=str(root))
    return inventory


class _Listing:
    """The entries of a directory, as far as they were listed.

    :ivar unreadable: paths of those that can't be read.
    """

    def __init__(self, root: Path, state: PayloadState | None) -> None:
        self._root = root
        self._state = state
        self._identities: dict[tuple[int, int], int] = {}
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
                raise _unreadable(self._root / directory, error) from error
            else:
                pending.extend(reversed(subdirectories))

    def _add_directory(self, directory: str) -> list[str]:
        """List what is in a directory; return the directories in it."""
        subdirectories = []
        prefix = f"{directory}/" if directory else ""
        with (
            _closing(_open(self._root, directory or ".", os.O_DIRECTORY)) as descriptor,
            os.scandir(descriptor) as items,
        ):
            for item in sorted(items, key=lambda item: os.fsencode(item.name)):
                if not is_excluded(item.name, top_level=not directory):
                    path = _openable(prefix + item.name)
                    status = item.stat(follow_symlinks=False)
                    entry = self._entry(path, item.name, status, descriptor)
                    self.entries.append(entry)
                    if entry.kind is EntryKind.DIRECTORY:
                        subdirectories.append(path)
        return subdirectories

    def _entry(
        self, path: str, name: str, status: os.stat_result, directory: int
    ) -> Entry:
        """Return the entries of an open directory; note it if it can't be read."""
        kind = _KINDS[stat.S_IFMT(status.st_mode)]
        size_bytes = allocated_bytes = 0
        if kind is EntryKind.FILE:
            size_bytes, allocated_bytes = status.st_size, status.st_blocks * 512
            if size_bytes and not os.access(
                name, os.R_OK, dir_fd=directory, effective_ids=True
            ):
                self.unreadable.append(path)
            elif self._state is not None:
                self._state.note(path, status)
        link = kind is EntryKind.SYMLINK
        return Entry(
            path,
            kind,
            size_bytes,
            allocated_bytes,
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


def _openable(path: str) -> str:
    """Return a path that isn't longer than any program could open."""
    length = len(os.fsencode(path))
    if length > PATH_LIMIT_BYTES:
        message = f"The payload has a path of {length:,} bytes: {path[:64]!r}…"
        raise BadDataError(
            message,
            details=f"Linux opens paths of {PATH_LIMIT_BYTES:,} bytes at most "
            "(PATH_MAX)",
            resolution="Remove it: 'snap pack' cannot ship it.",
        )
    return path


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


def _unreadable(path: Path, error: OSError) -> StorageError:
    """Return the error of a directory that changes, or a disk that fails."""
    message = f"Cannot read {str(path)!r}: {error.strerror or error}"
    return StorageError(
        message,
        resolution="If a build is still writing to the directory, wait until it ends; "
        "otherwise check the disk.",
    )


def is_excluded(name: str, *, top_level: bool) -> bool:
    """Return whether ``snap pack`` leaves out an entry, and all below it."""
    if top_level and name in TOP_LEVEL_NAMES:
        return True
    return _ANYWHERE.match(name) is not None


def exclude_file_text() -> str:
    """Return the patterns as mksquashfs's ``-wildcards -ef`` file."""
    anywhere = (f"... {pattern}" for pattern in ANYWHERE_PATTERNS)
    return "\n".join((*TOP_LEVEL_NAMES, *anywhere, ""))


class Directory:
    """A directory that was listed, to be read from.

    :ivar state: names its contents; None if nothing does for sure.
    """

    def __init__(self, path: Path) -> None:
        state = PayloadState(path)
        self.path = path
        self.inventory = scan_directory(path, state=state)
        self.state = state.name(self.inventory.entries.values())

    def read(self, path: str, *, offset: int, length: int) -> bytes:
        """Return bytes of a regular file, fewer at its end."""
        try:
            return read_beneath(self.path, path, offset=offset, length=length)
        except OSError as error:
            raise _unreadable(self.path / path, error) from error

    def heads(self, paths: Iterable[str], length: int) -> Iterator[bytes]:
        """Yield the first bytes of regular files; each directory is opened once."""
        for directory, inside in groupby(paths, lambda path: path.rpartition("/")[0]):
            path = directory or "."
            try:
                with _closing(_open(self.path, path, os.O_DIRECTORY)) as parent:
                    for path in inside:  # which an error names
                        name = path.rpartition("/")[2]
                        with _closing(os.open(name, _READ, dir_fd=parent)) as file:
                            _check_regular(file)
                            yield os.pread(file, length, 0)
            except OSError as error:
                raise _unreadable(self.path / path, error) from error

    def data_ranges(self, path: str) -> Sequence[tuple[int, int]]:
        """Return the parts of a regular file that aren't holes, start and end."""
        entry = self.inventory.entries[path]
        if not entry.sparse:
            return [(0, entry.size_bytes)]
        try:
            with file_beneath(self.path, path) as descriptor:
                return list(_data_ranges(descriptor, entry.size_bytes))
        except OSError as error:
            raise _unreadable(self.path / path, error) from error


def _data_ranges(descriptor: int, size_bytes: int) -> Iterator[tuple[int, int]]:
    end = 0
    while end < size_bytes:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole follows
                return
            raise
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end


class PayloadState:
    """Collects what names a payload's contents, as long as they don't change.

    As git's index does (``racy-git`` in git's documentation): a file's device, inode
    number, length and times of change name its contents, unless it was changed so
    lately that the next change could have the same times. Unlike the time of
    modification, that of the last change of the inode can't be set by programs.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before_ns = time.time_ns() - SETTLED_NS
        self._digest = hashlib.sha256()
        self._device, self._is_known = -1, False
        with suppress(OSError):
            status = root.stat()
            # At the next start of the kernel, devices may have other numbers.
            self._add(_BOOT.read_bytes(), status.st_dev, status.st_ino)
            self._device, self._is_known = status.st_dev, True

    def note(self, path: str, status: os.stat_result) -> None:
        """Note a regular file as it is listed."""
        modified_ns, changed_ns = status.st_mtime_ns, status.st_ctime_ns
        is_settled = max(modified_ns, changed_ns) < self._before_ns
        self._is_known &= is_settled and status.st_dev == self._device
        self._add(path, status.st_ino, status.st_size, modified_ns, changed_ns)

    def name(self, entries: Iterable[object] = ()) -> str | None:
        """Return a key of the contents; None if none is certain.

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

    Of mounts on one place, the last counts.
    """
    place = root.resolve()
    above = [
        mount
        for mount in psutil.disk_partitions(all=True)
        if place.is_relative_to(mount.mountpoint)
    ]
    if not above:
        return False
    *_, own = sorted(above, key=lambda mount: len(mount.mountpoint))
    return own.fstype in TRUSTED_FILE_SYSTEMS and "rw" in own.opts.split(",")
