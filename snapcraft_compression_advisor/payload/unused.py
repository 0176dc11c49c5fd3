"""Libraries that nothing in a payload links, and whose name nothing in it has.

What loads a library by its name while it runs has that name among its bytes. A name put
together from parts escapes that, if neither part tells. So only libraries count that
have a version in their name, in the directories that the loader searches: programs that
load whatever they find in a directory keep it elsewhere.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ..core.units import MIB
from ..squashfs.entry import EntryKind
from .copies import LIBRARY_DIRECTORIES
from .elf import ELF_MAGIC, ElfLinkage, readable_linkage
from .inventory import Entry
from .linkage import BASE_LIBRARY
from .named import is_packed, names_in
from .needless import compiler_of
from .paths import MAX_LINKS
from .source import Payload, is_far
from .tree import Tree

MOST_BYTES = 1024 * MIB
"""Of a payload whose files are searched; a larger one takes a minute and more."""

_VERSIONED = re.compile(r"lib[^/]+\.so(?:\.\d+)+")
_INDEX = "etc/ld.so.cache"
"""It names all libraries, and the loader reads the base's instead."""

_CONTENT = "a snap that shares content with this one may load it"
_COMPILER = "the snap also ships {!r}, which links such files"
_PACKED = "{!r} is compressed, and may name it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """A library that nothing links or names.

    :param doubt: what may load it all the same; ``None`` if nothing does.
    """

    path: str
    size_bytes: int
    doubt: str | None


def find_unused(
    payload: Payload, *, ignored: Collection[str] = ()
) -> tuple[Unused, ...]:
    """Return the libraries that nothing links or names, by path.

    :param ignored: documentation and the like, which loads nothing.
    """
    inventory = payload.inventory
    if is_far(payload) or inventory.raw_bytes > MOST_BYTES:
        return ()
    files = [each for each in inventory.files() if each.size_bytes]
    links = _Links(payload, files)
    silent = {*ignored, _INDEX}
    counted = [each for each in files if each.path not in silent]
    searched = [each for each in counted if each.path not in links.left]
    while links.left and searched:
        stems = {path: _stem(path) for path in links.left}
        named = names_in(payload, searched, frozenset(stems.values()))
        reached = links.reach(path for path, stem in stems.items() if stem in named)
        searched = [each for each in counted if each.path in reached]
    doubt = _doubt(payload, counted) if links.left else None
    return tuple(
        Unused(path=path, size_bytes=entry.size_bytes, doubt=doubt)
        for path, entry in sorted(links.left.items())
    )


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".so")[0]


class _Links:
    """Which ELF files link which.

    :ivar left: libraries that nothing reached links so far, by path.
    """

    def __init__(self, payload: Payload, files: Iterable[Entry]) -> None:
        linkages = {
            each.path: (each, linkage)
            for each in files
            if payload.read(each.path, offset=0, length=4) == ELF_MAGIC
            for linkage in (readable_linkage(payload, each),)
            if linkage is not None
        }
        names = _names(payload)
        self._needed = {path: linkage.needed for path, (_, linkage) in linkages.items()}
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for path, (entry, linkage) in linkages.items():
            for name in (*names[entry.identity], linkage.soname or ""):
                self._by_name[posixpath.basename(name)].add(path)
        self.left = {
            path: entry
            for path, (entry, linkage) in linkages.items()
            if _may_go(linkage, names[entry.identity])
        }
        self.reach(linkages.keys() - self.left.keys())

    def reach(self, paths: Iterable[str]) -> frozenset[str]:
        """Take files, and all that they link, from those left; return what was."""
        reached: set[str] = set()
        pending = list(paths)
        while pending:
            path = pending.pop()
            if self.left.pop(path, None) is not None:
                reached.add(path)
            for name in self._needed[path]:
                found = self._by_name.get(posixpath.basename(name), set())
                pending.extend(found & self.left.keys())
        return frozenset(reached)


def _may_go(linkage: ElfLinkage, names: Collection[str]) -> bool:
    """Return whether a file is a library that only its name leads to.

    :param names: of the file, and of links that lead there.
    """
    bases = {posixpath.basename(name) for name in names}
    return (
        linkage.soname is not None
        and linkage.interpreter is None
        and {posixpath.dirname(name) for name in names} <= set(LIBRARY_DIRECTORIES)
        and any(map(_VERSIONED.fullmatch, bases))
        and not any(map(BASE_LIBRARY.fullmatch, bases))
    )


def _names(payload: Payload) -> Mapping[int, set[str]]:
    """Return each file's paths, and those of links that lead there in one step or more.

    A link leads from where it lies; what stands above it is taken as it is written.
    """
    entries = payload.inventory.entries
    found: dict[int, set[str]] = defaultdict(set)
    for path, entry in entries.items():
        at: Entry | None = entry
        for _ in range(MAX_LINKS):
            if at is None or at.kind is not EntryKind.SYMLINK:
                break
            target = posixpath.join(
                "/", posixpath.dirname(at.path), at.link_target or ""
            )
            at = entries.get(posixpath.normpath(target).lstrip("/"))
        if at is not None and at.kind is EntryKind.FILE:
            found[at.identity].add(path)
    return found


def _doubt(payload: Payload, files: Iterable[Entry]) -> str | None:
    """Return what may load libraries in a way that isn't seen."""
    snap = payload.snap
    if any(
        each.interface == "content"
        for each in (*snap.plugs.values(), *snap.slots.values())
    ):
        return _CONTENT
    if compiler := compiler_of(Tree(payload)):
        return _COMPILER.format(compiler)
    packed = (each.path for each in files if is_packed(payload, each))
    return next((_PACKED.format(path) for path in packed), None)
