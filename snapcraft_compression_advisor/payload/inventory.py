"""What a payload consists of, what its files belong to, and where its paths lead."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.errors import BadDataError
from ..core.files import read_table
from ..core.units import MIB, format_bytes
from ..squashfs.entry import EntryKind, ImageEntry

CONTENTS_FREE_BYTES = 16 * 1024 * MIB
"""What a payload's files may claim to hold, however little they take."""
PACKED_FREE_BYTES = 512 * MIB
"""The same of files that are packed, unpacked or made deltas of, which reads all zeros:
three seconds a GiB."""
CONTENTS_GROWTH = 16
"""How much more they may claim for each byte that they take.

What is claimed beyond what is there is holes, and nobody ships many: a sparse file says
8 EiB as easily as one byte, and packing it would read as many zeros."""


class Entry(NamedTuple):
    """One name in the payload.

    :param path: relative to the root, ``/`` between names; names that are not
        UTF-8 carry surrogate escapes.
    :param size_bytes: a regular file's length, else 0.
    :param allocated_bytes: what the file occupies on the disk that it was read
        from; less than its size for a sparse file. Its size where unknown.
    :param modified_s: whole seconds since 1970.
    :param identity: equal for the names (hard links) of one file.
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
        """The entries right in each directory that has any; the root has no name."""
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
        """Number of regular files, hard links counted once."""
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
    """Return the length of one data block of a file."""
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

    :param taken_bytes: on the disk or in the image.
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


@lru_cache(maxsize=2**16)  # a page and its JSON ask twice for each file
def file_group(path: str) -> str:
    """Return the group of a file by its path: a toolkit, a package or a folder.

    For tables and pictures, not for decisions: a launch reads hundreds of files, and
    people think of them as Qt, fonts or a Python package.

    >>> file_group("usr/lib/x86_64-linux-gnu/libgtk-4.so.1")
    'GTK'
    >>> file_group("usr/lib/python3/dist-packages/meld/filediff.py")
    'Python: meld'
    >>> file_group("usr/share/meld/ui/app.ui")
    'meld'
    """
    for name, pattern in _groups().items():
        if found := pattern.search(path):
            return name.format(*(each.removesuffix(".py") for each in found.groups()))
    return path.rpartition("/")[0] or "/"


@cache
def _groups() -> Mapping[str, re.Pattern[str]]:
    """Return the groups of ``file_groups.yaml``, in their order."""
    table = read_table(__package__, "file_groups.yaml")
    patterns = dict(table["packages"])
    for name, group in table["groups"].items():
        patterns[name] = group["paths"]
        if libraries := group.get("libraries"):
            patterns[name] += rf"|(?:^|/)lib(?:{libraries})[-._0-9a-zA-Z]*\.so"
    patterns |= table["others"]
    return {name: re.compile(pattern) for name, pattern in patterns.items()}


MAX_LINKS = 40
"""Symlinks followed in one path: the kernel's MAXSYMLINKS (linux/namei.h)."""

# DOTALL and \Z: a name may have a new line in it, or at its end.
_OWN_MOUNT = re.compile(r"/snap/(?P<name>[^/]+)/[^/]+(?P<rest>/.*|\Z)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?SNAP\}?(?=/|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a path leads.

    :param entry: what it leads to inside of the payload, links followed.
    :param outside: the absolute path that it leads to in the base or another
        snap; ``None`` if it stays inside.
    """

    entry: Entry | None = None
    outside: str | None = None


@dataclass(eq=False)
class PathResolver:
    """Follows paths and symlinks of one payload without leaving it.

    :param snap_name: ``/snap/NAME/REVISION`` is the payload itself.
    :param layout: absolute paths, and those below ``$SNAP`` that they lead to.
    :param is_root: whether all others are the payload's, but those below ``/snap``.
    """

    inventory: Inventory
    _: KW_ONLY
    snap_name: str
    layout: Mapping[str, str] = field(default_factory=dict)
    is_root: bool = False

    def in_payload(self, path: str) -> str | None:
        """Return a path relative to the payload, ``None`` if it lies outside.

        ``$SNAP/…``, ``/snap/NAME/current/…``, relative paths and those of the layout
        lie inside; other absolute ones are the base's, other variables the user's. No
        link is looked at.
        """
        mount = f"/snap/{self.snap_name}/current"
        expanded = _VARIABLE.sub(lambda _: mount, path, count=1)
        if expanded.startswith("$"):
            return None
        if not expanded.startswith("/"):
            return _normal(expanded)
        normal = posixpath.normpath(expanded)
        own = _OWN_MOUNT.match(normal)
        if own is not None and own["name"] == self.snap_name:
            return _normal(own["rest"].lstrip("/"))
        if path.startswith("$"):  # and out of the payload again
            return None
        for place, source in self.layout.items():
            if normal == place or normal.startswith(place + "/"):
                return self.in_payload(source + normal[len(place) :])
        is_own = self.is_root and not normal.startswith("/snap/")
        return normal.lstrip("/") if is_own else None

    def locate(self, path: str) -> Location:
        """Follow a path and all links in it.

        A path that leads nowhere, out through ``..`` or round in a loop has
        neither entry nor outside.
        """
        names = self._names(path)
        if names is None:
            return Location(outside=path)
        reached: list[str] = []
        links = 0
        while names:
            name = names.pop()
            if name == "..":
                if not reached:
                    return Location()
                reached.pop()
                continue
            entry = self.inventory.entries.get("/".join((*reached, name)))
            if entry is None:
                return Location()
            if entry.kind is not EntryKind.SYMLINK:
                reached.append(name)
                continue
            links += 1
            target = entry.link_target or ""
            if links > MAX_LINKS:
                return Location()
            following = self._names(target)
            if following is None:
                rest = "/".join(reversed(names))
                return Location(outside=posixpath.join(target, rest).rstrip("/"))
            if target.startswith("/"):
                reached.clear()
            names.extend(following)
        return Location(entry=self.inventory.entries.get("/".join(reached)))

    def _names(self, path: str) -> list[str] | None:
        """Return a path's names last first, ``None`` if it is the base's."""
        if path.startswith(("/", "$")):
            inside = self.in_payload(path)
            if inside is None:
                return None
            path = inside
        return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def _normal(path: str) -> str:
    normal = posixpath.normpath(path) if path else ""
    return "" if normal == "." else normal
