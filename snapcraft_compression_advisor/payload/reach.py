"""Whether apps find libraries of the base and of content snaps without their own.

The loader looks in the folders of ``LD_LIBRARY_PATH`` and of a file's RUNPATH, then in
the base's (ld.so(8)). A content snap is in none of these by itself: snap.yaml, a
wrapper, or the linker has to name a folder below the plug's target.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..core.units import MIB
from .elf import ElfLinkage, readable_linkage
from .inventory import Entry
from .linkage import TRIPLETS, expand_tokens
from .named import library_names
from .paths import PathResolver
from .source import Payload, is_far
from .stack import ROOT, place_of, provides
from .wrappers import TRIPLET, LibraryPath, library_path_of, scripts

SEARCHED_MAX_BYTES = 1024 * MIB
"""Of a payload whose files are searched for libraries' names."""

_SDK = re.compile(r".*-sdk(?:-.*)?")

_CLASSIC = "the loader of a classic snap doesn't look in its base"
_NOT_SEARCHED = "the library path of app {} doesn't lead to {!r}"
_ANEW = "{!r} may replace LD_LIBRARY_PATH"
_NAMED = "{} has no {!r}, which {!r} may load"
_UNREAD = "{} has no {!r}, which some file may load"


def place_of_supplier(payload: Payload, other: Payload) -> str | None:
    """Return where a snap's apps see another one; None if it is no provider.

    :returns: ``/`` for the base, else a plug's target, relative to ``$SNAP``. An SDK,
        which only builds use, is one only if a plug names it.
    """
    snap = payload.snap
    if other.snap.name == snap.base_name:
        return ROOT
    for name, plug in snap.plugs.items():
        wanted = (plug.default_provider or "").partition(":")[0]
        is_sdk = _SDK.fullmatch(other.snap.name) is not None
        if provides(other.snap, name, plug) and (
            not is_sdk or wanted == other.snap.name
        ):
            return place_of(plug)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A library of another snap.

    :param place: where the apps see that snap.
    :param folder: in there, of the name by which the loader finds the file.
    """

    snap: Payload
    place: str
    folder: str
    file: Entry


class Reach:
    """Finds why an app may not find a library in another snap."""

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        self._resolver = PathResolver(payload.inventory, snap_name=payload.snap.name)
        self._paths: dict[str, Mapping[str, LibraryPath]] = {}

    def doubt(
        self, own: Entry, names: Collection[str], found: Replacement
    ) -> str | None:
        """Return why an app may not find a library that replaces its own.

        :param own: the payload's.
        :param names: of it and of links to it, in the loader's folders.
        :returns: None if each app finds it.
        """
        linkage = readable_linkage(self._payload, own)
        soname = (linkage and linkage.soname) or posixpath.basename(found.file.path)
        if found.place != ROOT:
            doubt = self._doubt_of_path(soname, found)
        else:
            classic = self._payload.snap.confinement == "classic"
            doubt = _CLASSIC if classic else None
        return doubt or self._doubt_of_names(own, names, found)

    def _doubt_of_path(self, soname: str, found: Replacement) -> str | None:
        """Return which app's loader doesn't look where a content snap has a library."""
        snap = found.snap
        resolver = PathResolver(snap.inventory, snap_name=snap.snap.name)
        triplet = next((each for each in TRIPLETS.values() if each in found.folder), "")

        def leads_there(folders: Iterable[str]) -> bool:
            return any(
                resolver.locate(posixpath.join(rest, soname)).entry is found.file
                for folder in folders
                if (rest := self._below(found.place, folder.replace(TRIPLET, triplet)))
            )

        for app, path in self._library_paths(found).items():
            if leads_there(path.folders):
                anew = path.anew or self._setting_anew
                if anew is not None:
                    return _ANEW.format(anew)
            elif not self._all_link(soname, leads_there):
                where = posixpath.join(found.place, found.folder)
                return _NOT_SEARCHED.format(app, where)
        return None

    def _below(self, place: str, folder: str) -> str | None:
        """Return a folder as a path of the snap at a place; None if it isn't there."""
        inside = self._resolver.in_payload(folder) if folder[:1] in "/$" else None
        start = f"{place}/" if place else ""
        within = inside is not None and f"{inside}/".startswith(start)
        return f"{inside}/"[len(start) :].rstrip("/") or "." if within else None

    def _library_paths(self, found: Replacement) -> Mapping[str, LibraryPath]:
        name = found.snap.snap.name
        if name not in self._paths:
            others = {found.place: found.snap}
            self._paths[name] = {
                app: library_path_of(self._payload, each, others)
                for app, each in self._payload.snap.apps.items()
            }
        return self._paths[name]

    @cached_property
    def _setting_anew(self) -> str | None:
        """A script in another language than shell that may set the library path."""
        for entry, text in scripts(self._payload):
            if "LD_LIBRARY_PATH" in text and "sh" not in text.partition("\n")[0]:
                return entry.path
        return None

    def _all_link(
        self, soname: str, leads_there: Callable[[Iterable[str]], bool]
    ) -> bool:
        """Return whether all that names a library has its folder as a RUNPATH.

        A file that the other snap may replace as well has none there.
        """
        users = {
            entry.path: (entry, linkage)
            for entry, linkage in self._linkages
            if soname in linkage.needed
        }
        stem = soname.partition(".so")[0]
        naming = {
            path
            for name, paths in self._naming.items()
            if name.partition(".so")[0] == stem
            for path in paths
            if posixpath.basename(path).partition(".so")[0] != stem
        }
        return (
            bool(users)
            and naming <= users.keys()
            and all(
                linkage.soname is None
                and leads_there(expand_tokens(entry, linkage, linkage.runpath))
                for entry, linkage in users.values()
            )
        )

    @cached_property
    def _linkages(self) -> tuple[tuple[Entry, ElfLinkage], ...]:
        found = (
            (entry, readable_linkage(self._payload, entry))
            for entry in self._payload.inventory.files()
        )
        return tuple((entry, linkage) for entry, linkage in found if linkage)

    def _doubt_of_names(
        self, own: Entry, names: Collection[str], found: Replacement
    ) -> str | None:
        """Return a name of our library that the other snap lacks and a file has."""
        entries = found.snap.inventory.entries
        for name in names:
            if posixpath.join(found.folder, name) in entries:
                continue
            if not self._is_searched:
                return _UNREAD.format(found.snap.snap.name, name)
            for path in self._naming.get(name, ()):
                if path != own.path:
                    return _NAMED.format(found.snap.snap.name, name, path)
        return None

    @property
    def _is_searched(self) -> bool:
        raw_bytes = self._payload.inventory.raw_bytes
        return not is_far(self._payload) and raw_bytes <= SEARCHED_MAX_BYTES

    @cached_property
    def _naming(self) -> Mapping[str, set[str]]:
        """By each library's name that files have among their bytes, these files."""
        naming: dict[str, set[str]] = defaultdict(set)
        for entry in self._payload.inventory.files():
            for name in library_names(self._payload, entry):
                naming[name].add(entry.path)
        return naming
