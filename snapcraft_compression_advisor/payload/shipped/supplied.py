"""Libraries that a snap ships although its base or a content snap brings them."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.paths import PathResolver
from snapcraft_compression_advisor.payload.shipped.base_libraries import BASE_LIBRARIES
from snapcraft_compression_advisor.payload.shipped.library_places import (
    LIBRARY_DIRECTORIES,
)
from snapcraft_compression_advisor.payload.tree import Tree
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

_READ_BYTES = 1024 * 1024
_LIBRARY = re.compile(r"lib[^/]*\.so\.[\d.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """A library that another snap brings.

    :param path: of the snap's own.
    :param supplier: the other snap's name.
    :param same: whether contents are equal; ``None`` where only the name is known.
    """

    path: str
    size_bytes: int
    supplier: str
    same: bool | None


def find_supplied(tree: Tree, suppliers: Sequence[Payload]) -> Iterator[Supplied]:
    """Yield the payload's libraries that others bring.

    A classic snap doesn't run on its base's files, so only what is given counts.

    :param suppliers: the base and content snaps, where they are at hand.
    :raises StorageError: where a file changes meanwhile.
    :raises BadDataError: where an image is broken.
    """
    places = [(other, _libraries(Tree(other))) for other in suppliers]
    snap = tree.payload.snap
    named = {other.snap.name for other in suppliers}
    known: frozenset[str] = frozenset()
    if snap.confinement != "classic" and snap.base_name not in named:
        known = BASE_LIBRARIES.get(snap.base_name, known)
    for name, entry in _libraries(tree).items():
        found = _find(tree.payload, name, entry, places)
        if found is not None:
            yield found
        elif _is_known(name, known):
            yield Supplied(
                path=entry.path,
                size_bytes=entry.size_bytes,
                supplier=snap.base_name,
                same=None,
            )


def _find(
    payload: Payload,
    name: str,
    entry: Entry,
    places: Sequence[tuple[Payload, Mapping[str, Entry]]],
) -> Supplied | None:
    """Return who brings a library, one with the same contents first."""
    candidates = [
        Supplied(
            path=entry.path,
            size_bytes=entry.size_bytes,
            supplier=other.snap.name,
            same=_equal(payload, entry, other, libraries[name]),
        )
        for other, libraries in places
        if name in libraries
    ]
    return max(candidates, key=lambda each: bool(each.same), default=None)


def _libraries(tree: Tree) -> dict[str, Entry]:
    """Return the files that the loader finds, by each of their names."""
    resolver = PathResolver(tree.payload.inventory, snap_name=tree.payload.snap.name)
    found: dict[str, Entry] = {}
    for directory in LIBRARY_DIRECTORIES:
        for listed in tree.listing(directory):
            name = posixpath.basename(listed.path)
            if not _LIBRARY.fullmatch(name) or name in found:
                continue
            entry = resolver.locate(listed.path).entry
            if entry is not None and entry.kind is EntryKind.FILE:
                found[name] = entry
    return found


def _is_known(name: str, sonames: frozenset[str]) -> bool:
    """Tell whether a base has a library, its file's name or its soname given."""
    return any(name == soname or name.startswith(f"{soname}.") for soname in sonames)


def _equal(payload: Payload, entry: Entry, other: Payload, theirs: Entry) -> bool:
    if entry.size_bytes != theirs.size_bytes:
        return False
    return all(
        payload.read(entry.path, offset=offset, length=_READ_BYTES)
        == other.read(theirs.path, offset=offset, length=_READ_BYTES)
        for offset in range(0, entry.size_bytes, _READ_BYTES)
    )
