"""Which part of an ELF file each of its data blocks holds."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.payload.elf import ELF_MAGIC, MAX_DYNAMIC_TAGS
from snapcraft_compression_advisor.payload.inventory import block_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Part = Literal["linking", "data", "text", "constants", "unmapped"]
"""What a block is for, the first that applies:

- ``linking``: headers, symbols, relocations: the dynamic loader reads them from the
  first to the last byte;
- ``data``: writable segments: the loader relocates them;
- ``text``: code;
- ``constants``: read-only segments without code, unwind tables among them;
- ``unmapped``: outside of every segment: symbol tables and debug sections.
"""

MAX_PROGRAM_HEADERS = 1024
"""More than any file has; bounds what a broken one can cost."""

_PT_LOAD, _PT_DYNAMIC = 1, 2
_PF_X, _PF_W = 1, 2
_RELOCATIONS = ((7, 8), (17, 18), (23, 2), (36, 35))
"""Tags of address and length: DT_RELA, DT_REL, DT_JMPREL, DT_RELR (elf.h)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A program header, as far as it counts here."""

    kind: int
    flags: int
    offset: int
    address: int
    file_bytes: int

    @property
    def end(self) -> int:
        return self.offset + self.file_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfParts:
    """An ELF file's blocks by what they are for.

    :param parts: of every data block of the file.
    :param text_bytes: code in the file.
    """

    parts: tuple[Part, ...]
    text_bytes: int


def read_parts(
    read: Callable[[int, int], bytes], *, size_bytes: int
) -> ElfParts | None:
    """Return what an ELF file's blocks hold, ``None`` for what can't be told.

    That is any other file, and one whose headers are broken.

    :param read: gives bytes at ``(offset, length)``, fewer at the end.
    :param size_bytes: the file's length.
    """
    header = read(0, 64)
    if header[: len(ELF_MAGIC)] != ELF_MAGIC:
        return None
    try:
        order = {1: "<", 2: ">"}[header[5]]
        wide = {1: False, 2: True}[header[4]]
        segments = list(_segments(read, header, order, wide=wide))
        linking_end = _linking_end(read, segments, order, wide=wide)
    except (struct.error, KeyError, IndexError):
        return None
    if not any(segment.kind == _PT_LOAD for segment in segments):
        return None
    return _parts(segments, linking_end, size_bytes)


def _segments(
    read: Callable[[int, int], bytes], header: bytes, order: str, *, wide: bool
) -> Iterator[_Segment]:
    if wide:
        (start,) = struct.unpack_from(order + "Q", header, 32)
        size, count = struct.unpack_from(order + "HH", header, 54)
    else:
        (start,) = struct.unpack_from(order + "I", header, 28)
        size, count = struct.unpack_from(order + "HH", header, 42)
    count = min(count, MAX_PROGRAM_HEADERS)
    table = read(start, size * count)
    for number in range(count):
        if wide:
            kind, flags, offset, address, _, file_bytes = struct.unpack_from(
                order + "IIQQQQ", table, number * size
            )
        else:
            kind, offset, address, _, file_bytes, _, flags = struct.unpack_from(
                order + "IIIIIII", table, number * size
            )
        yield _Segment(
            kind=kind,
            flags=flags,
            offset=offset,
            address=address,
            file_bytes=file_bytes,
        )


def _linking_end(
    read: Callable[[int, int], bytes],
    segments: list[_Segment],
    order: str,
    *,
    wide: bool,
) -> int:
    """Return where in the file the last relocation table ends, 0 without one."""
    tags: dict[int, int] = {}
    entry = struct.Struct(order + ("qQ" if wide else "iI"))
    for segment in segments:
        if segment.kind == _PT_DYNAMIC:
            length = min(segment.file_bytes, MAX_DYNAMIC_TAGS * entry.size)
            table = read(segment.offset, length - length % entry.size)
            whole = len(table) - len(table) % entry.size
            for tag, value in entry.iter_unpack(table[:whole]):
                tags.setdefault(tag, value)
    return max(
        (
            _file_offset(tags[address], segments) + tags.get(length, 0)
            for address, length in _RELOCATIONS
            if address in tags
        ),
        default=0,
    )


def _file_offset(address: int, segments: list[_Segment]) -> int:
    for segment in segments:
        if segment.kind == _PT_LOAD:
            within = address - segment.address
            if 0 <= within < segment.file_bytes:
                return segment.offset + within
    return 0


def _parts(segments: list[_Segment], linking_end: int, size_bytes: int) -> ElfParts:
    parts: list[Part] = ["unmapped"] * block_count(size_bytes)
    loaded = [segment for segment in segments if segment.kind == _PT_LOAD]
    layers: tuple[tuple[Part, list[tuple[int, int]]], ...] = (
        ("constants", [(s.offset, s.end) for s in loaded if not s.flags & _PF_X]),
        ("text", [(s.offset, s.end) for s in loaded if s.flags & _PF_X]),
        ("data", [(s.offset, s.end) for s in loaded if s.flags & _PF_W]),
        ("linking", [(0, max(1, linking_end))]),
    )
    for part, ranges in layers:
        for start, end in ranges:
            stop = min(block_count(end), len(parts)) if end > start else 0
            for number in range(start // DATA_BLOCK_BYTES, stop):
                parts[number] = part
    text = sum(s.file_bytes for s in loaded if s.flags & _PF_X)
    return ElfParts(parts=tuple(parts), text_bytes=min(text, size_bytes))
