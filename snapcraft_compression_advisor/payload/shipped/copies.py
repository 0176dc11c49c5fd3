"""Contents that an image holds more than once, or nearly.

mksquashfs stores equal files once, so they cost nothing but names. What costs is an
image that was packed without that, and libraries in several versions.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from snapcraft_compression_advisor.payload.elf import (
    BrokenElfError,
    ElfLinkage,
    elf_of,
)
from snapcraft_compression_advisor.payload.shipped.library_places import (
    LIBRARY_DIRECTORIES,
)
from snapcraft_compression_advisor.payload.source import SnapPayload
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.tree import Tree

COMPARED_MAX_BYTES = 64 * 1024 * 1024
"""How much is read in all to compare files of a built snap."""

LEAST_BYTES = 4096
"""Stored bytes of files that are worth comparing; smaller ones weigh nothing."""

_READ_BYTES = 1024 * 1024
_VERSIONED = re.compile(r"(?P<stem>lib[^/]+?)\.so\.(?P<version>\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A file whose like is shipped too.

    :param kind: ``stored twice``: of equal content, but not shared in the image;
        ``older version``: a library beside another version of it, which has its links;
        ``other version``: the same library in another directory.
    :param path: of the file that could go.
    :param like: of the one that would stay.
    :param doubt: why it may be needed; ``None`` where nothing says so.
    """

    kind: Literal["stored twice", "older version", "other version"]
    path: str
    like: str
    size_bytes: int
    doubt: str | None = None


def find_copies(tree: Tree) -> Iterator[Copy]:
    """Yield files that are shipped more than once, or in several versions.

    :raises StorageError: where a file changes meanwhile.
    :raises BadDataError: where an image is broken.
    """
    if isinstance(tree.payload, SnapPayload):
        yield from _stored_twice(tree.payload)
    yield from _versions(tree)


def _stored_twice(payload: SnapPayload) -> Iterator[Copy]:
    """Yield files of equal content with blocks of their own."""
    alike: dict[tuple[int, bytes], list[tuple[int, Entry]]] = defaultdict(list)
    for entry in payload.inventory.files():
        blocks = payload.stored_blocks(entry.path)
        if blocks is None or blocks.fragment or blocks.stored_bytes < LEAST_BYTES:
            continue
        key = (entry.size_bytes, blocks.size_words.tobytes())
        alike[key].append((blocks.start, entry))
    left_bytes = COMPARED_MAX_BYTES
    for (size_bytes, _), entries in sorted(alike.items(), key=lambda item: -item[0][0]):
        first_start, first = entries[0]
        for start, entry in entries[1:]:
            left_bytes -= 2 * size_bytes
            if left_bytes < 0:
                return
            if start != first_start and _equal(payload, first, entry):
                yield Copy(
                    kind="stored twice",
                    path=entry.path,
                    like=first.path,
                    size_bytes=size_bytes,
                )


def _equal(payload: SnapPayload, first: Entry, second: Entry) -> bool:
    return all(
        payload.read(first.path, offset=offset, length=_READ_BYTES)
        == payload.read(second.path, offset=offset, length=_READ_BYTES)
        for offset in range(0, first.size_bytes, _READ_BYTES)
    )


def _versions(tree: Tree) -> Iterator[Copy]:
    """Yield libraries that are there in another version with the same soname."""
    linked = frozenset(_link_targets(tree))
    for (soname, _), entries in _by_soname(tree).items():
        by_directory: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            by_directory[posixpath.dirname(entry.path)].append(entry)
        kept = []
        for together in by_directory.values():
            used = [
                entry
                for entry in together
                if entry.path in linked or posixpath.basename(entry.path) == soname
            ]
            if len(used) != 1:
                kept += together
                continue
            kept += used
            for entry in together:
                if entry is not used[0]:
                    yield _copy("older version", entry, used[0], None)
        kept.sort(key=lambda entry: (-entry.size_bytes, entry.path))
        if len({posixpath.dirname(entry.path) for entry in kept}) == len(kept):
            for entry in kept[1:]:
                doubt = "which of them the loader takes depends on its search path"
                yield _copy("other version", entry, kept[0], doubt)


def _copy(
    kind: Literal["older version", "other version"],
    entry: Entry,
    like: Entry,
    doubt: str | None,
) -> Copy:
    return Copy(
        kind=kind,
        path=entry.path,
        like=like.path,
        size_bytes=entry.size_bytes,
        doubt=doubt,
    )


def _link_targets(tree: Tree) -> Iterator[str]:
    """Yield where the links of the loader's directories lead, one step each."""
    for directory in LIBRARY_DIRECTORIES:
        for entry in tree.listing(directory):
            if entry.kind is EntryKind.SYMLINK and ".so" in entry.path:
                target = posixpath.join(directory, entry.link_target or "")
                yield posixpath.normpath(target)


def _by_soname(tree: Tree) -> Mapping[tuple[str, tuple[int, str]], list[Entry]]:
    """Return the libraries that the loader finds by name, several of a soname."""
    stems: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for directory in LIBRARY_DIRECTORIES:
        for entry in tree.listing(directory):
            match = _VERSIONED.fullmatch(posixpath.basename(entry.path))
            if match and entry.kind is EntryKind.FILE:
                stems[match["stem"], match["version"].partition(".")[0]].append(entry)
    found: dict[tuple[str, tuple[int, str]], list[Entry]] = defaultdict(list)
    for entries in stems.values():
        for entry in entries if len(entries) > 1 else ():
            linkage = _linkage(tree, entry)
            if linkage is not None and linkage.soname is not None:
                found[linkage.soname, linkage.machine].append(entry)
    return {soname: entries for soname, entries in found.items() if len(entries) > 1}


def _linkage(tree: Tree, entry: Entry) -> ElfLinkage | None:
    try:
        elf = elf_of(tree.payload, entry)
        return elf.linkage() if elf else None
    except BrokenElfError:
        return None
