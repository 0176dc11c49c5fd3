"""What a payload consists of, read from a prime directory or an image."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.errors import NoInputError, StorageError
from snapcraft_compression_advisor.payload.excludes import is_excluded
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from snapcraft_compression_advisor.squashfs.entry import ImageEntry

_LISTED_PATHS = 10
_KINDS = {
    stat.S_IFREG: EntryKind.FILE,
    stat.S_IFDIR: EntryKind.DIRECTORY,
    stat.S_IFLNK: EntryKind.SYMLINK,
    stat.S_IFCHR: EntryKind.CHARACTER_DEVICE,
    stat.S_IFBLK: EntryKind.BLOCK_DEVICE,
    stat.S_IFIFO: EntryKind.FIFO,
    stat.S_IFSOCK: EntryKind.SOCKET,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in the payload.

    :param path: relative to the root, ``/`` between names; names that are not
        UTF-8 carry surrogate escapes.
    :param kind: regular file, directory, symlink, device, FIFO or socket.
    :param size_bytes: a regular file's length, else 0.
    :param allocated_bytes: what the file occupies on the disk that it was read
        from; less than its size for a sparse file. Its size where unknown.
    :param mode: permission bits.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Every name of a payload but its root.

    :param entries: by path; parents before children, names in byte order.
    """

    entries: Mapping[str, Entry]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Inventory:
        """Return the inventory of these entries."""
        return cls(entries={entry.path: entry for entry in entries})

    def files(self) -> Iterator[Entry]:
        """Yield each regular file once, under the first of its names."""
        seen: set[int] = set()
        for entry in self.entries.values():
            if entry.kind is EntryKind.FILE and entry.identity not in seen:
                seen.add(entry.identity)
                yield entry

    @property
    def file_count(self) -> int:
        """Regular files, hard links counted once."""
        return sum(1 for _ in self.files())

    @property
    def raw_bytes(self) -> int:
        """Length of all regular files, hard links counted once."""
        return sum(entry.size_bytes for entry in self.files())

    @property
    def data_blocks(self) -> int:
        """Data blocks of all regular files, hard links counted once."""
        return sum(block_count(entry.size_bytes) for entry in self.files())


def block_count(size_bytes: int) -> int:
    """Return the data blocks of a file, its tail counted as one."""
    return -(-size_bytes // DATA_BLOCK_BYTES)


def scan_directory(root: Path) -> Inventory:
    """List what ``snap pack`` would ship of a directory; no link is followed.

    :param root: a prime directory.
    :raises NoInputError: where files or directories can't be read (all that were
        met are named, up to ten).
    :raises StorageError: where the directory changes meanwhile, or the disk fails.
    """
    unreadable: list[str] = []
    entries = list(_scan(root, unreadable))
    if unreadable:
        _raise_unreadable(root, unreadable)
    return Inventory.of(entries)


def list_image(entries: Iterable[ImageEntry]) -> Inventory:
    """List what an image holds.

    :param entries: as :meth:`Image.walk` yields them.
    :raises BadDataError: where the image is broken.
    """
    return Inventory.of(
        Entry(
            path=entry.path,
            kind=entry.kind,
            size_bytes=entry.size_bytes if entry.kind is EntryKind.FILE else 0,
            allocated_bytes=entry.size_bytes if entry.kind is EntryKind.FILE else 0,
            mode=entry.mode,
            identity=entry.inode,
            modified_s=entry.modified_s,
            link_target=entry.link_target,
        )
        for entry in entries
        if entry.path
    )


def _scan(root: Path, unreadable: list[str]) -> Iterator[Entry]:
    pending = [""]
    identities: dict[tuple[int, int], int] = {}
    while pending:
        directory = pending.pop()
        subdirectories: list[str] = []
        for item in _list_directory(root, directory, unreadable):
            path = f"{directory}/{item.name}" if directory else item.name
            if is_excluded(item.name, top_level=not directory):
                continue
            entry = _entry(path, item, identities)
            if entry.kind is EntryKind.DIRECTORY:
                subdirectories.append(path)
            elif entry.size_bytes and not os.access(
                item.path, os.R_OK, effective_ids=True
            ):
                unreadable.append(path)
            yield entry
        pending.extend(reversed(subdirectories))


def _list_directory(
    root: Path, directory: str, unreadable: list[str]
) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(root / directory) as items:
            return sorted(items, key=lambda item: os.fsencode(item.name))
    except PermissionError:
        unreadable.append(directory or ".")
        return []
    except OSError as error:
        _raise_changed(f"{root}/{directory}", error)


def _entry(
    path: str, item: os.DirEntry[str], identities: dict[tuple[int, int], int]
) -> Entry:
    try:
        status = item.stat(follow_symlinks=False)
        kind = _KINDS[stat.S_IFMT(status.st_mode)]
        target = _link_target(item) if kind is EntryKind.SYMLINK else None
    except OSError as error:
        _raise_changed(item.path, error)
    size_bytes = status.st_size if kind is EntryKind.FILE else 0
    identity = (status.st_dev, status.st_ino)
    return Entry(
        path=path,
        kind=kind,
        size_bytes=size_bytes,
        allocated_bytes=status.st_blocks * 512 if kind is EntryKind.FILE else 0,
        mode=stat.S_IMODE(status.st_mode),
        identity=identities.setdefault(identity, len(identities)),
        modified_s=int(status.st_mtime),
        link_target=target,
    )


def _link_target(item: os.DirEntry[str]) -> str:
    # Path.readlink would normalise the target, which mksquashfs ships as it is.
    return os.readlink(item.path)  # noqa: PTH115


def _raise_unreadable(root: Path, paths: list[str]) -> NoReturn:
    listed = "\n".join(paths[:_LISTED_PATHS])
    more = len(paths) - _LISTED_PATHS
    message = f"Cannot read {len(paths)} of the entries of {str(root)!r}: {paths[0]!r}"
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
        resolution="If the directory was changing (a build that still runs?), "
        "wait until it is complete and try again.",
    ) from error
