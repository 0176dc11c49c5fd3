"""The libraries that a dynamic loader brings in: an ELF closure."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from ..squashfs.entry import EntryKind
from .elf import TRIPLETS, BrokenElfError, ElfLinkage, elf_of
from .inventory import Entry, PathResolver
from .source import Payload

MOST_REMOTE_FILES = 100
"""Of a snap in a store, as many files are asked what they need: of a desktop
application, each takes some 40 KB. What the others need isn't known then."""

LIBRARY_PATH = "LD_LIBRARY_PATH"
LIBRARY_DIRECTORIES = tuple(
    f"{prefix}{directory}"
    for prefix in ("", "usr/")
    for directory in ("lib", *(f"lib/{triplet}" for triplet in TRIPLETS.values()))
)
"""What snapcraft puts on a snap's library path by itself, and what bases have."""

BASE_LIBRARY = re.compile(
    r"ld-linux.*|ld64\.so.*|lib(c|m|dl|rt|pthread|util|resolv|anl|nss_\w+)\.so\.\d+"
    r"|libgcc_s\.so\.\d+|libstdc\+\+\.so\.\d+"
)
"""The C and C++ run time, which every base snap carries."""

_CONDITIONAL = re.compile(r"\$\{\w+:[^}]*\}")
_ORIGIN = re.compile(r"\$(?:ORIGIN|\{ORIGIN\})")
_LIB = re.compile(r"\$(?:LIB|\{LIB\})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """What a launch needs and the payload doesn't hold.

    :param supplier: ``base``, ``base or content snap``, ``missing`` or
        ``unreadable``.
    """

    name: str
    needed_by: str
    supplier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The files that a loader maps, breadth first, and libraries that are missing."""

    files: tuple[Entry, ...]
    unresolved: tuple[Unresolved, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """An ELF file on its way through the loader."""

    entry: Entry
    linkage: ElfLinkage
    inherited_rpath: tuple[str, ...]

    @property
    def rpath(self) -> tuple[str, ...]:
        """DT_RPATH of the file and of those that loaded it, ``$ORIGIN`` expanded.

        A file that has a runpath ignores its own rpath (ld.so(8)).
        """
        own = () if self.linkage.runpath else self.expanded(self.linkage.rpath)
        return own + self.inherited_rpath

    def expanded(self, directories: Iterable[str]) -> tuple[str, ...]:
        """Return search directories with the loader's own tokens replaced."""
        origin = "$SNAP/" + posixpath.dirname(self.entry.path)
        return tuple(
            _LIB.sub(
                f"lib/{self.linkage.machine[1]}",
                _ORIGIN.sub(lambda _: origin, directory),
            )
            for directory in directories
        )


def library_path(environment_value: str) -> tuple[str, ...]:
    """Return the directories of an ``LD_LIBRARY_PATH`` of snap.yaml.

    Those of other variables than ``$SNAP`` are dropped: they lie outside.
    """
    parts = _CONDITIONAL.sub("", environment_value).split(":")
    return tuple(part for part in parts if part.startswith(("$SNAP/", "${SNAP}/", "/")))


class LibraryFinder:
    """Finds the libraries of programs as the dynamic loader does in a snap.

    :param search: directories of ``LD_LIBRARY_PATH``.
    :param elsewhere: who supplies what the payload doesn't hold.
    :ivar unread: paths of the files that aren't asked what they need.
    """

    def __init__(
        self,
        payload: Payload,
        resolver: PathResolver,
        *,
        search: tuple[str, ...],
        elsewhere: str,
    ) -> None:
        self._payload = payload
        self._resolver = resolver
        self._search = search
        self._elsewhere = elsewhere
        self._linkages: dict[str, ElfLinkage | None] = {}
        self._found: dict[object, tuple[Entry, ElfLinkage] | str] = {}
        self._most = MOST_REMOTE_FILES if payload.is_remote else None
        self.unread: dict[str, None] = {}

    def linkage(self, entry: Entry) -> ElfLinkage | None:
        """Return a file's linkage, ``None`` if it isn't an ELF file or isn't read.

        :raises BrokenElfError: if its headers are broken.
        """
        if entry.path not in self._linkages:
            if self._most is not None and len(self._linkages) >= self._most:
                self.unread[entry.path] = None
                return None
            elf = elf_of(self._payload, entry)
            self._linkages[entry.path] = elf.linkage() if elf else None
        return self._linkages[entry.path]

    def readable_linkage(self, entry: Entry) -> ElfLinkage | None:
        """Return a file's linkage, ``None`` for a broken ELF file or any other."""
        try:
            return self.linkage(entry)
        except BrokenElfError:
            return None

    def closure(self, program: Entry) -> Closure:
        """Return a program with all that its loader brings in, alone if not ELF."""
        files: dict[str, Entry] = {program.path: program}
        unresolved: dict[str, Unresolved] = {}
        pending: deque[_Loaded] = deque()
        try:
            linkage = self.linkage(program)
        except BrokenElfError:
            broken = Unresolved(
                name=program.path, needed_by=program.path, supplier="unreadable"
            )
            return Closure(files=(program,), unresolved=(broken,))
        if linkage is not None:
            pending.append(_Loaded(entry=program, linkage=linkage, inherited_rpath=()))
        names: set[str] = set()
        while pending:
            loader = pending.popleft()
            linkage = loader.linkage
            interpreter = (linkage.interpreter,) if linkage.interpreter else ()
            for name in interpreter + linkage.needed:
                if name in names:
                    continue
                names.add(name)
                found = self._load(name, loader)
                if isinstance(found, Unresolved):
                    unresolved[name] = found
                elif found.entry.path not in files:
                    files[found.entry.path] = found.entry
                    pending.append(found)
        return Closure(
            files=tuple(files.values()), unresolved=tuple(unresolved.values())
        )

    def _load(self, name: str, loader: _Loaded) -> _Loaded | Unresolved:
        machine = loader.linkage.machine
        directories = () if "/" in name else self._directories(loader)
        # Most of a payload's files look for the same few libraries in the same places.
        key = (name, machine, directories)
        if key not in self._found:
            self._found[key] = self._find(name, machine, directories)
        found = self._found[key]
        if isinstance(found, str):
            return Unresolved(name=name, needed_by=loader.entry.path, supplier=found)
        entry, linkage = found
        return _Loaded(entry=entry, linkage=linkage, inherited_rpath=loader.rpath)

    def _find(
        self, name: str, machine: tuple[int, str], directories: tuple[str, ...]
    ) -> tuple[Entry, ElfLinkage] | str:
        """Return the file that a loader finds, else its supplier."""
        supplier = "base" if BASE_LIBRARY.fullmatch(posixpath.basename(name)) else ""
        places = [posixpath.join(directory, name) for directory in directories]
        for place in places or [name]:
            location = self._resolver.locate(place)
            if location.outside is not None and "/" in name:
                supplier = "base"
            entry = location.entry
            if entry is None or entry.kind is not EntryKind.FILE:
                continue
            try:
                linkage = self.linkage(entry)
            except BrokenElfError:
                supplier = "unreadable"
                continue
            if entry.path in self.unread:  # by its name, the right one
                linkage = ElfLinkage(machine=machine)
            if linkage is not None and linkage.machine == machine:
                return entry, linkage
        return supplier or self._elsewhere

    def _directories(self, loader: _Loaded) -> tuple[str, ...]:
        """Return where a loader looks, in its order (ld.so(8))."""
        linkage = loader.linkage
        folders = ["lib", "usr/lib"]
        folders += [f"{folder}/{linkage.machine[1]}" for folder in folders]
        directories = (
            *loader.rpath,
            *self._search,
            *loader.expanded(linkage.runpath),
            # What snapcraft puts on LD_LIBRARY_PATH by itself, then the base's.
            *(f"{root}/{folder}" for root in ("$SNAP", "") for folder in folders),
        )
        return tuple(dict.fromkeys(directories))
