"""Libraries that a snap has in several versions, or that another snap brings."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..squashfs.entry import EntryKind
from .elf import readable_linkage
from .inventory import Entry, PathResolver
from .linkage import LIBRARY_DIRECTORIES
from .reach import Reach, Replacement, place_of_supplier
from .source import Payload
from .stack import ROOT

_READ_BYTES = 1024 * 1024
_VERSIONED = re.compile(r"(?P<stem>lib[^/]+?)\.so\.(?P<version>\d+(?:\.\d+)*)")
_LIBRARY = re.compile(r"lib[^/]*\.so\.[\d.]+")
_SEARCH_PATHS = "the loader's search path decides which of them it loads"

_IN_ALL_BASES = """
libacl.so.1 libattr.so.1 libaudit.so.1 libblkid.so.1 libbz2.so.1.0 libcap-ng.so.0
libcom_err.so.2 libcrypt.so.1 libdbus-1.so.3 libe2p.so.2 libext2fs.so.2 libgcrypt.so.20
libgmp.so.10 libgnutls.so.30 libgpg-error.so.0 libidn2.so.0 libkmod.so.2 liblz4.so.1
liblzma.so.5 libmount.so.1 libncursesw.so.6 libp11-kit.so.0 libpam.so.0 libpcre2-8.so.0
libseccomp.so.2 libselinux.so.1 libsmartcols.so.1 libss.so.2 libsystemd.so.0
libtasn1.so.6 libtinfo.so.6 libudev.so.1 libuuid.so.1 libz.so.1 libzstd.so.1
"""
_IN_BASE = {
    "core20": "libcrypto.so.1.1 libffi.so.7 libhogweed.so.5 libnettle.so.7 "
    "libssl.so.1.1 libunistring.so.2",
    "core22": "libcrypto.so.3 libffi.so.8 libhogweed.so.6 libnettle.so.8 "
    "libssl.so.3 libunistring.so.2",
    "core24": "libcrypto.so.3 libffi.so.8 libhogweed.so.6 libnettle.so.8 "
    "libssl.so.3 libunistring.so.5",
}
BASE_LIBRARIES: Mapping[str, frozenset[str]] = {
    base: frozenset(f"{_IN_ALL_BASES} {sonames}".split())
    for base, sonames in _IN_BASE.items()
}
"""Sonames by base; nothing is known of other bases.

The names follow from packages: those of Ubuntu's smallest image of the release that a
base is made from (``ubuntu-base``: essential packages and what they need) and what
core-base's ``hooks/001-extra-packages.chroot`` names. A base has more than these, and
of its own versions, so a name alone decides nothing. The C and C++ run time is left
out: a newer one than the base's may be shipped on purpose.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A library that is shipped in another version, too.

    :param path: of the file that could go.
    :param like: of the one that would stay, which has the links if both lie together.
    :param doubt: why it may be needed; ``None`` if nothing says so.
    """

    path: str
    like: str
    size_bytes: int
    doubt: str | None = None


def find_copies(payload: Payload) -> Iterator[Copy]:
    """Yield libraries that are there in another version with the same soname."""
    linked = {
        posixpath.normpath(posixpath.join(directory, entry.link_target or ""))
        for directory, name, entry in _listed(payload)
        if entry.kind is EntryKind.SYMLINK and ".so" in name
    }
    for (soname, _), entries in _by_soname(payload).items():
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
                    yield _copy(entry, used[0])
        kept.sort(key=lambda entry: (-entry.size_bytes, entry.path))
        if len({posixpath.dirname(entry.path) for entry in kept}) == len(kept):
            for entry in kept[1:]:
                yield _copy(entry, kept[0], _SEARCH_PATHS)


def _copy(entry: Entry, like: Entry, doubt: str | None = None) -> Copy:
    return Copy(
        path=entry.path, like=like.path, size_bytes=entry.size_bytes, doubt=doubt
    )


def _listed(payload: Payload) -> Iterator[tuple[str, str, Entry]]:
    """Yield what is in the loader's directories: directory, name, entry."""
    for directory in LIBRARY_DIRECTORIES:
        for entry in payload.inventory.folders.get(directory, ()):
            yield directory, posixpath.basename(entry.path), entry


def _by_soname(payload: Payload) -> Mapping[tuple[str, tuple[int, str]], list[Entry]]:
    """Return the libraries that the loader finds by name, several of a soname."""
    stems: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for _, name, entry in _listed(payload):
        match = _VERSIONED.fullmatch(name)
        if match and entry.kind is EntryKind.FILE:
            stems[match["stem"], match["version"].partition(".")[0]].append(entry)
    found: dict[tuple[str, tuple[int, str]], list[Entry]] = defaultdict(list)
    for entries in stems.values():
        for entry in entries if len(entries) > 1 else ():
            linkage = readable_linkage(payload, entry)
            if linkage is not None and linkage.soname is not None:
                found[linkage.soname, linkage.machine].append(entry)
    return {soname: entries for soname, entries in found.items() if len(entries) > 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """A library that another snap brings.

    :param same: whether contents are equal; ``None`` if only the name is known.
    :param doubt: why an app may not find it there; ``None`` if each finds it.
    """

    path: str
    size_bytes: int
    supplier: str
    same: bool | None
    doubt: str | None = None


def find_supplied(payload: Payload, suppliers: Sequence[Payload]) -> Iterator[Supplied]:
    """Yield the payload's libraries that others bring, each once.

    A classic snap doesn't run on its base's files, so only what is given counts.

    :param suppliers: the base and content snaps, if they are at hand.
    """
    placed = [
        (other, place, loader_libraries(other))
        for other in suppliers
        if (place := place_of_supplier(payload, other)) is not None
    ]
    # As the loader looks: content before the base.
    placed.sort(key=lambda each: each[1] == ROOT)
    snap = payload.snap
    named = {other.snap.name for other in suppliers}
    known: frozenset[str] = frozenset()  # sonames, which files' names begin with
    if snap.confinement != "classic" and snap.base_name not in named:
        known = BASE_LIBRARIES.get(snap.base_name, known)
    reach = Reach(payload)
    for entry, names in _names_by_file(payload).items():
        found = [
            Supplied(
                path=entry.path,
                size_bytes=entry.size_bytes,
                supplier=other.snap.name,
                same=_equal(payload, entry, other, theirs),
                doubt=reach.doubt(
                    entry,
                    names,
                    Replacement(snap=other, place=place, folder=folder, file=theirs),
                ),
            )
            for other, place, libraries in placed
            for folder, theirs in [
                libraries[name] for name in sorted(names, key=len) if name in libraries
            ][:1]
        ]
        if found:
            yield max(found, key=lambda each: each.doubt is None)
        elif any(f"{name}.".startswith(f"{each}.") for name in names for each in known):
            yield Supplied(
                path=entry.path,
                size_bytes=entry.size_bytes,
                supplier=snap.base_name,
                same=None,
            )


def _names_by_file(payload: Payload) -> Mapping[Entry, list[str]]:
    """Return the libraries in the loader's directories, with all their names there."""
    found: dict[Entry, list[str]] = defaultdict(list)
    for _, name, entry in _reached(payload):
        if ".so" in name and posixpath.dirname(entry.path) in LIBRARY_DIRECTORIES:
            found[entry].append(name)
    return found


def _reached(payload: Payload) -> Iterator[tuple[str, str, Entry]]:
    """Yield the names in the loader's directories, with the files they lead to."""
    resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
    for directory, name, listed in _listed(payload):
        entry = resolver.locate(listed.path).entry
        if entry is not None and entry.kind is EntryKind.FILE:
            yield directory, name, entry


def loader_libraries(payload: Payload) -> dict[str, tuple[str, Entry]]:
    """Return the files that the loader finds, by each name, with the name's folder."""
    found: dict[str, tuple[str, Entry]] = {}
    for directory, name, entry in _reached(payload):
        if _LIBRARY.fullmatch(name):
            found.setdefault(name, (directory, entry))
    return found


def _equal(payload: Payload, entry: Entry, other: Payload, theirs: Entry) -> bool:
    if entry.size_bytes != theirs.size_bytes:
        return False
    return all(
        payload.read(entry.path, offset=offset, length=_READ_BYTES)
        == other.read(theirs.path, offset=offset, length=_READ_BYTES)
        for offset in range(0, entry.size_bytes, _READ_BYTES)
    )
