"""Kinds of files that a running snap has no use for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ..core.files import read_table
from ..core.units import KIB
from ..squashfs.entry import EntryKind
from .elf import ET_DYN, ET_EXEC, PT_LOAD, SHF_ALLOC, BrokenElfError, Elf, elf_of
from .references import referrer
from .source import Payload

NeedlessKind = Literal[
    "debug-symbols",
    "static-libraries",
    "development-files",
    "documentation",
    "package-caches",
]
MOST_MAGICS = 512
"""Files whose first bytes are read, the largest of a kind first."""
LONGEST_PATH = 1024
"""Longer ones aren't looked at: no package has any, and patterns take their time."""
_LEGAL = re.compile(
    r"copyright|licen[cs]es?|copying|notices?|eula|legal|authors|credits", re.IGNORECASE
)
_PAGES = (
    *(".html", ".htm", ".pdf", ".css", ".js", ".png", ".svg", ".gif"),
    *(".jpg", ".jpeg", ".epub", ".hlp", ".chm"),
)
_SHOWN = "the application may show such pages as its help"
MOST_FILES = 200
"""ELF files that are looked at, the largest first: of a browser, an office suite and a
game without their base they hold 99 % of all ELF bytes, of whole system trees 94 %."""
MOST_REMOTE_FILES = 50
"""The same of a snap in a store: each takes some 25 KB."""
LEAST_BYTES = 64 * 1024
"""Smaller ELF files aren't looked at."""
LEAST_UNLOADED_BYTES = KIB
"""Files with less behind what is loaded aren't looked at further. The names of sections
and the comments that ``strip`` leaves take half of it; symbols of the C start-up files
alone take more. In a snap, most of a block is to be decompressed to see the headers of
sections."""
_UNNAMED_BYTES = 64 * KIB
"""Loaded bytes that no section names; alignment leaves fewer (64 KiB pages)."""
_PATCHED_BYTES = 4 * KIB
"""The same, if segments are aligned differently."""
_LIBRARY = re.compile(r".*\.so(?:\.[\d.]+)?")
_SANITIZER = re.compile(r"(?:.*/)?lib(?:a|hwa|l|t|ub)san\.so[.\d]*")
_SANITIZED = "sanitizers are shipped with their symbols on purpose"
_NEEDLESS = re.compile(
    rb"\.z?debug_\w+|\.gnu_debugdata|\.gdb_index|\.stab(?:str)?"
    rb"|\.symtab|\.strtab|\.symtab_shndx"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedlessFile:
    """A file, or parts of one, that needn't ship.

    :param parts: start and end of each part in bytes, ascending; empty for all of it.
    :param size_bytes: of these parts, uncompressed.
    :param doubt: why the running snap may read it; ``None`` if nothing does.
    """

    path: str
    size_bytes: int
    parts: tuple[tuple[int, int], ...] = ()
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needless:
    """All files of a kind that needn't ship.

    :param files: the largest first.
    """

    kind: NeedlessKind
    files: tuple[NeedlessFile, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of them all, uncompressed."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pattern:
    """An entry of ``needless.yaml``."""

    kind: NeedlessKind
    paths: re.Pattern[str]
    magics: tuple[bytes, ...]
    readers: re.Pattern[str] | None


@cache
def _patterns() -> tuple[_Pattern, ...]:
    """Return the entries of ``needless.yaml``."""
    return tuple(
        _Pattern(
            kind=each["kind"],
            paths=re.compile("|".join(each["paths"])),
            magics=tuple(magic.encode() for magic in each.get("magics", ())),
            readers=re.compile("|".join(each["readers"]))
            if "readers" in each
            else None,
        )
        for each in read_table(__package__, "needless.yaml")["kinds"]
    )


def find_needless(
    payload: Payload, references: Mapping[str, str]
) -> Iterator[Needless]:
    """Yield the files that needn't ship, by kind, and symbols that needn't.

    :param references: what leads to files beside their own paths, by path.
    """
    by_kind = needless_by_name(payload)
    debug = by_kind["debug-symbols"]
    named = {file.path for file in debug}
    debug += [file for file in unstripped_files(payload) if file.path not in named]
    for kind, found in by_kind.items():
        referred = (
            file
            if file.doubt or file.parts
            else replace(file, doubt=referrer(file.path, references))
            for file in found
        )
        largest = sorted(referred, key=lambda file: (-file.size_bytes, file.path))
        if largest:
            yield Needless(kind=kind, files=tuple(largest))


def needless_by_name(payload: Payload) -> dict[NeedlessKind, list[NeedlessFile]]:
    """Return the files that needn't ship by their names, by kind.

    Licences are never among them.
    """
    filled = [
        entry
        for entry in payload.inventory.entries.values()
        if entry.kind is EntryKind.FILE
        and entry.size_bytes
        and len(entry.path) <= LONGEST_PATH
    ]
    found: dict[NeedlessKind, list[NeedlessFile]] = {}
    for pattern in _patterns():
        entries = [
            entry
            for entry in filled
            if pattern.paths.fullmatch(entry.path)
            and not _LEGAL.search(entry.path.rpartition("/")[2])
        ]
        if pattern.magics:
            entries.sort(key=lambda entry: (-entry.size_bytes, entry.path))
            length, read = max(map(len, pattern.magics)), payload.read
            entries = [
                each
                for each in entries[:MOST_MAGICS]
                if read(each.path, offset=0, length=length).startswith(pattern.magics)
            ]
        doubt = None
        if entries and pattern.readers:
            known = (
                path for path in payload.inventory.entries if len(path) <= LONGEST_PATH
            )
            reader = next(filter(pattern.readers.fullmatch, known), None)
            doubt = reader and f"the snap also ships {reader!r}, which reads such files"
        pages = _PAGES if pattern.kind == "documentation" else ()
        found.setdefault(pattern.kind, []).extend(
            NeedlessFile(
                path=entry.path,
                size_bytes=entry.size_bytes,
                doubt=_SHOWN
                if entry.path.removesuffix(".gz").endswith(pages)
                else doubt,
            )
            for entry in entries
        )
    return found


def unstripped_files(payload: Payload) -> Iterator[NeedlessFile]:
    """Yield the ELF files with debug information or symbols that nothing loads."""
    candidates = [
        entry
        for entry in payload.inventory.files()
        if entry.size_bytes >= LEAST_BYTES
        and (entry.executable or _LIBRARY.fullmatch(entry.path))
    ]
    candidates.sort(key=lambda entry: (-entry.size_bytes, entry.path))
    most = MOST_REMOTE_FILES if payload.is_remote else MOST_FILES
    for entry in candidates[:most]:
        try:
            elf = elf_of(payload, entry)
            if elf is None or elf.unloaded_bytes < LEAST_UNLOADED_BYTES:
                continue
            parts = needless_parts(elf)
        except BrokenElfError:
            continue
        if parts:
            yield NeedlessFile(
                path=entry.path,
                size_bytes=sum(end - start for start, end in parts),
                parts=parts,
                doubt=_SANITIZED if _SANITIZER.fullmatch(entry.path) else None,
            )


def needless_parts(elf: Elf) -> tuple[tuple[int, int], ...]:
    """Return where a file has sections that ``strip`` would take out.

    Objects are left alone, which need their symbols, and files that ``strip`` would
    break: with something behind their last section, or with loaded bytes that no
    section names (a program in a copy of its run time, a library after patchelf).

    :returns: start and end of each, ascending, neighbours joined.
    :raises BrokenElfError: if the file contradicts itself.
    """
    if elf.kind not in (ET_EXEC, ET_DYN) or not elf.sections:
        return ()
    last_end = max(section.end for section in elf.sections)
    if max(elf.headers_end, last_end) < elf.size_bytes or _breaks(elf):
        return ()
    return _joined(
        sorted(
            (section.start, section.end)
            for section in elf.sections
            if section.start < section.end <= elf.size_bytes
            and not section.flags & SHF_ALLOC
            and _NEEDLESS.fullmatch(section.name)
        )
    )


def _breaks(elf: Elf) -> bool:
    """Return whether ``strip`` would move or drop loaded bytes that no section names.

    It writes segments anew from their sections. Tried with binutils 2.40: programs of
    node (SEA) and bun lose what they run, and numpy's libraries, which patchelf has
    extended by segments with another alignment, can't be loaded any more.
    """
    segments = [each for each in elf.segments if each.kind == PT_LOAD]
    mixed = len({each.align for each in segments}) > 1
    sections = sorted(
        (each.start, each.end)
        for each in elf.sections
        if each.flags & SHF_ALLOC and each.start < each.end
    )
    unnamed = 0
    for segment in segments:
        at = segment.offset
        within = [each for each in sections if segment.offset <= each[0] < segment.end]
        for start, end in (*within, (segment.end, segment.end)):
            unnamed = max(unnamed, start - at if at else 0)
            at = max(at, end)
    return unnamed >= (_PATCHED_BYTES if mixed else _UNNAMED_BYTES)


def _joined(parts: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in parts:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
