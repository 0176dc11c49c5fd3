"""Which part of an ELF file each of its data blocks holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.payload.elf import (
    PF_W,
    PF_X,
    PT_LOAD,
    BrokenElfError,
    Elf,
    Segment,
    elf_of,
)
from snapcraft_compression_advisor.payload.inventory import block_count

if TYPE_CHECKING:
    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

Part = Literal["linking", "data", "text", "constants", "unmapped"]
"""What a block is for, the first that applies:

- ``linking``: headers, symbols, relocations: the dynamic loader reads them from the
  first to the last byte;
- ``data``: writable segments: the loader relocates them;
- ``text``: code;
- ``constants``: read-only segments without code, unwind tables among them;
- ``unmapped``: outside of every segment: symbol tables and debug sections.
"""

_RELOCATIONS = ((7, 8), (17, 18), (23, 2), (36, 35))
"""Tags of address and length: DT_RELA, DT_REL, DT_JMPREL, DT_RELR (elf.h)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfParts:
    """An ELF file's blocks by what they are for.

    :param parts: of every data block of the file.
    :param text_bytes: code in the file.
    """

    parts: tuple[Part, ...]
    text_bytes: int


def parts_of(payload: Payload, entry: Entry) -> ElfParts | None:
    """Return what an ELF file's blocks hold, ``None`` for what can't be told.

    That is any other file, and one whose headers are broken.
    """
    try:
        elf = elf_of(payload, entry)
        return read_parts(elf) if elf else None
    except BrokenElfError:
        return None


def read_parts(elf: Elf) -> ElfParts | None:
    """Return what an ELF file's blocks hold, ``None`` where nothing is loaded.

    :raises BrokenElfError: where its headers are broken.
    """
    loaded = [segment for segment in elf.segments if segment.kind == PT_LOAD]
    return _parts(loaded, _linking_end(elf), elf.size_bytes) if loaded else None


def _linking_end(elf: Elf) -> int:
    """Return where in the file the last relocation table ends, 0 without one."""
    tags: dict[int, int] = {}
    for tag, value in elf.dynamic_tags():
        tags.setdefault(tag, value)
    return max(
        (
            (elf.offset_of(tags[address]) or 0) + tags.get(length, 0)
            for address, length in _RELOCATIONS
            if address in tags
        ),
        default=0,
    )


def _parts(loaded: list[Segment], linking_end: int, size_bytes: int) -> ElfParts:
    parts: list[Part] = ["unmapped"] * block_count(size_bytes)
    layers: tuple[tuple[Part, list[tuple[int, int]]], ...] = (
        ("constants", [(s.offset, s.end) for s in loaded if not s.flags & PF_X]),
        ("text", [(s.offset, s.end) for s in loaded if s.flags & PF_X]),
        ("data", [(s.offset, s.end) for s in loaded if s.flags & PF_W]),
        ("linking", [(0, max(1, linking_end))]),
    )
    for part, ranges in layers:
        for start, end in ranges:
            stop = min(block_count(end), len(parts)) if end > start else 0
            for number in range(start // DATA_BLOCK_BYTES, stop):
                parts[number] = part
    text = sum(s.file_bytes for s in loaded if s.flags & PF_X)
    return ElfParts(parts=tuple(parts), text_bytes=min(text, size_bytes))
