"""The classes that a file's data blocks are counted by, from wide to narrow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...codecs.codec import DATA_BLOCK_BYTES
from ...payload.elf import PF_W, PF_X, PT_LOAD, BrokenElfError, Elf, elf_of
from ...payload.elf_symbols import carried_parts, gpu_code, language_of
from ...payload.inventory import block_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...payload.inventory import Entry
    from ...payload.source import Payload
    from .candidates import Candidate

MEMBER, NO_MEMBER = "archive, loaded", "archive, not loaded"
"""Classes of an archive's blocks: with and without a member that is known to be loaded;
that of the header is among the former."""

LONG_FILE_BLOCKS = 16
DATA_STRETCHES = 64
"""Parts that a long file of data is told apart in, where its name is known."""

STRETCHES = 32
"""Parts of equal length that code and constants of a library known by its name are told
apart in; from version to version its functions keep about their places."""

EDGE_BLOCKS = 3
"""Blocks behind the relocations that are told apart: the kernel reads 64 KiB to both
sides of a page fault on a mapping (``do_sync_mmap_readahead``, mm/filemap.c)."""

_TEXT_SIZES = (8, 32, 128)
MOST_DOUBLINGS = 9
"""Of one block of code, in which programs of a language are told apart."""

_LIBRARY_NAME = re.compile(
    r"(lib[A-Za-z_+][\w+.-]*?)(?:-[\da-f]{8})*(?:[-.]\d[\d._]*|(?<=[A-Za-z])\d[\d.]*)?"
    r"\.so(?:\.\d.*)?"
)
"""Those of Python's wheels have the beginning of a hash behind their names."""

_MODULE_NAME = re.compile(r"(.+)\.(?:cpython-[\w-]+|abi3)\.so(?:\.\d.*)?")
"""Of an extension module for one Python (PEP 3149), or for several (PEP 384)."""


def block_keys(
    candidate: Candidate, parts: ElfParts | None, block_count: int
) -> tuple[tuple[str, ...], ...]:
    """Return for every block of a file its classes, from wide to narrow.

    :param parts: of an ELF file, ``None`` for any other.
    """
    if (reached := candidate.reached) is not None:
        held = (MEMBER if n in reached else NO_MEMBER for n in range(block_count))
        return tuple((place,) for place in held)
    if parts is None:
        return tuple(_data_keys(candidate, block_count))
    limits = (x for x in _TEXT_SIZES if parts.text_bytes < x * DATA_BLOCK_BYTES)
    size = f"<{limit}" if (limit := next(limits, None)) else f">={_TEXT_SIZES[-1]}"
    name = file_name_class(candidate.entry.path)
    if parts.language in ("Node", "Bun"):  # under whichever name
        name = parts.language.lower()
    language = parts.language
    if language and candidate.role != "program":  # other parts of it may be in use
        language += " module"
    places = _places(parts)

    def keys(number: int, place: str) -> Iterator[str]:
        yield from (place, f"{place} {size}", f"{place} {size} {candidate.role}")
        if language:  # a large program of a language reads no more code
            doublings = (parts.text_bytes // DATA_BLOCK_BYTES).bit_length()
            yield f"{place} {language}"
            yield f"{place} {language} {min(doublings, MOST_DOUBLINGS)}"
        yield f"{place} {name}"
        if place.startswith(("text", "constants")):
            yield f"{place} {name} {number * STRETCHES // len(places)}"

    return tuple(tuple(keys(*each)) for each in enumerate(places))


def _data_keys(candidate: Candidate, block_count: int) -> Iterator[tuple[str, ...]]:
    way = candidate.way
    name = candidate.entry.path.rpartition("/")[2]
    if way.startswith("java-"):  # linked modules are put together otherwise
        name = way
    long = not way.startswith("own-") and block_count >= LONG_FILE_BLOCKS
    for number in range(block_count):
        place = "data" if number else "data-first"
        keys: tuple[str, ...] = (place, f"{place} {way}")
        if long:
            stretch = number * DATA_STRETCHES // block_count
            keys = (*keys, f"data {name} {stretch} of {DATA_STRETCHES}")
        yield keys


def file_name_class(path: str) -> str:
    """Return the name that a library or extension module has in every version.

    All of Mesa's drivers have one; other files keep their own.
    """
    folder, _, name = path.rpartition("/")
    if folder.endswith("/dri") or name.startswith("libgallium"):
        return "mesa-driver"
    match = _MODULE_NAME.fullmatch(name) or _LIBRARY_NAME.fullmatch(name)
    return match[1] if match else name


def _places(parts: ElfParts) -> tuple[str, ...]:
    """Return each block's part, told apart near the relocations."""
    places: list[str] = []
    behind = 0
    for part in parts.parts:
        if part == LINKING:
            places.append(part)
            continue
        behind += 1
        near = behind <= EDGE_BLOCKS and part != "data"
        places.append(f"{part} {behind} behind linking" if near else part)
    for number in range(len(places) - 1):
        if places[number] in ("text", "constants") and places[number + 1] == "data":
            places[number] += " before data"
    return tuple(places)


LINKING = "linking"
"""The part of an ELF file that says how it is linked: its head, and tables behind."""

Part = Literal["linking", "data", "text", "constants", "carried", "unmapped"]
"""What a block is for, the first that applies:

- ``linking``: headers, symbols, relocations: the dynamic loader reads them from the
  first to the last byte;
- ``data``: writable segments: the loader relocates them;
- ``text``: code;
- ``constants``: read-only segments without code, unwind tables among them;
- ``carried``: behind all of them, or in a section of its own: the program reads it
  (:func:`.carried_parts`);
- ``unmapped``: code for GPUs, and what is outside of every segment: symbol tables and
  debug sections.
"""

_RELOCATIONS = ((7, 8), (17, 18), (23, 2), (36, 35))
"""Tags of address and length: DT_RELA, DT_REL, DT_JMPREL, DT_RELR (elf.h)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfParts:
    """An ELF file's blocks by what they are for.

    :param language: that a program is written in; empty of libraries, or if unknown.
    """

    parts: tuple[Part, ...]
    text_bytes: int
    language: str = ""


def parts_of(
    payload: Payload, entry: Entry, *, program: bool = False
) -> ElfParts | None:
    """Return the part of an ELF file that each block holds; None if it is unknown.

    That is any other file, one whose headers are broken, and one of which nothing is
    loaded.

    :param program: whether it is one that is started.
    """
    try:
        elf = elf_of(payload, entry)
        return _parts(elf, program=program) if elf else None
    except BrokenElfError:
        return None


def _parts(elf: Elf, *, program: bool) -> ElfParts | None:
    loaded = [segment for segment in elf.segments if segment.kind == PT_LOAD]
    if not loaded:
        return None
    # The first block is for linking anyway; the tags are near the file's end.
    linking_end = 0 if elf.size_bytes <= DATA_BLOCK_BYTES else _linking_end(elf)
    parts: list[Part] = ["unmapped"] * block_count(elf.size_bytes)
    layers: tuple[tuple[Part, Iterable[tuple[int, int]]], ...] = (
        ("carried", carried_parts(elf) if program else ()),
        ("constants", ((s.offset, s.end) for s in loaded if not s.flags & PF_X)),
        ("unmapped", gpu_code(elf)),
        ("text", ((s.offset, s.end) for s in loaded if s.flags & PF_X)),
        ("data", ((s.offset, s.end) for s in loaded if s.flags & PF_W)),
        ("linking", ((0, max(1, linking_end)),)),
    )
    for part, ranges in layers:
        for start, end in ranges:
            stop = min(block_count(end), len(parts)) if end > start else 0
            for number in range(start // DATA_BLOCK_BYTES, stop):
                parts[number] = part
    text = sum(s.file_bytes for s in loaded if s.flags & PF_X)
    return ElfParts(
        parts=tuple(parts),
        text_bytes=min(text, elf.size_bytes),
        language=language_of(elf) if program and len(parts) > EDGE_BLOCKS else "",
    )


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
