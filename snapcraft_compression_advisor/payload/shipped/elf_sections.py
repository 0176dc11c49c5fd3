"""Sections of ELF files that ``strip`` would take out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.elf import (
    ET_DYN,
    ET_EXEC,
    SHF_ALLOC,
    BrokenElfError,
    Elf,
    elf_of,
)
from snapcraft_compression_advisor.payload.shipped.needless import NeedlessFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.tree import Tree

MOST_FILES = 200
"""ELF files that are looked at, the largest first: of a browser, an office suite and a
game without their base they hold 99 % of all ELF bytes, of whole system trees 94 %."""

LEAST_BYTES = 64 * 1024
"""Smaller files aren't looked at."""

_LIBRARY = re.compile(r".*\.so(?:\.[\d.]+)?")
_SANITIZER = re.compile(r"(?:.*/)?lib(?:a|hwa|l|t|ub)san\.so[.\d]*")
_SANITIZED = "sanitizers are shipped with their symbols on purpose"
_NEEDLESS = re.compile(
    rb"\.z?debug_\w+|\.gnu_debugdata|\.gdb_index|\.stab(?:str)?"
    rb"|\.symtab|\.strtab|\.symtab_shndx"
)


def unstripped_files(tree: Tree) -> Iterator[NeedlessFile]:
    """Yield the ELF files with debug information or symbols that nothing loads.

    :raises StorageError: where a file changes meanwhile.
    """
    candidates = sorted(
        (entry for entry in tree.payload.inventory.files() if _may_be_elf(entry)),
        key=lambda entry: (-entry.size_bytes, entry.path),
    )
    for entry in candidates[:MOST_FILES]:
        try:
            elf = elf_of(tree.payload, entry)
            parts = needless_parts(elf) if elf else ()
        except BrokenElfError:
            continue
        if parts:
            yield NeedlessFile(
                path=entry.path,
                size_bytes=sum(end - start for start, end in parts),
                parts=parts,
                doubt=_SANITIZED if _SANITIZER.fullmatch(entry.path) else None,
            )


def _may_be_elf(entry: Entry) -> bool:
    return entry.size_bytes >= LEAST_BYTES and (
        entry.executable or _LIBRARY.fullmatch(entry.path) is not None
    )


def needless_parts(elf: Elf) -> tuple[tuple[int, int], ...]:
    """Return where a file has sections that ``strip`` would take out.

    Objects are left alone, which need their symbols, and files with something behind
    their last section, which stripping would cut off.

    :returns: start and end of each, ascending, neighbours joined.
    :raises BrokenElfError: where the file contradicts itself.
    """
    if elf.kind not in (ET_EXEC, ET_DYN) or not elf.sections:
        return ()
    last_end = max(section.end for section in elf.sections)
    if max(elf.headers_end, last_end) < elf.size_bytes:
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


def _joined(parts: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for start, end in parts:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
