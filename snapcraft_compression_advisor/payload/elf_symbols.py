"""What an ELF file exports, what it carries, and the language that it is from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .elf import MAX_STRING_BYTES, NAMES_MAX_BYTES, SHF_ALLOC, BrokenElfError, Elf

MAX_SYMBOLS = 200_000
"""More than any library that a base brings has; bounds what a broken one can cost."""

LEAST_CARRIED_BYTES = 256 * 1024
"""Two data blocks; signatures and the like are far smaller."""

_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 4, 5, 6, 10
_DT_VERSYM, _DT_VERDEF, _DT_VERDEFNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD
_DT_GNU_HASH = 0x6FFFFEF5
_ROWS = {32: ("3I2BH", (0, 3, 5)), 64: ("I2BH2Q", (0, 1, 3))}
"""Of the symbol table by bits: the row, and where name, type and section are in it."""
_VERDEF = "4H3I"
_LOCAL, _HIDDEN_VERSION = 0, 0x8000
_TYPE_BITS = 4

_NODE = b"\0_ZN4node5Start"  # its main function, which programs that embed it call
_COMPILERS = ((b"rustc version", "Rust"), (b"GHC ", "Haskell"))
_CARRIERS = (
    (b"DOTNET_BUNDLE_EXTRACT_BASE_DIR", ".NET"),
    (b"PAYLOAD_POSITION", "Node"),
    (b"_MEIPASS", "PyInstaller"),
)
"""Names in the constants of programs that carry their files."""
_BUN = b"\0BUN_1."  # the version of its symbols, in its own programs and others'

_UNLOADED = re.compile(
    rb"\.(z?debug|symtab|strtab|shstrtab|comment|note|gnu|stab|gdb|line|SUNW|llvm)"
)
"""Beginnings of names of sections with symbols and the like."""

Symbol = tuple[str, str]
"""A name and its version, which is empty if it has none."""


def exported_symbols(elf: Elf) -> frozenset[Symbol]:
    """Return the exports of a library: names with their versions.

    By the System V ABI, and by the Linux Standard Base (chapter "Symbol Versioning").

    :raises BrokenElfError: if a table can't be read.
    """
    tags = dict(elf.dynamic_tags())
    count = _symbol_count(elf, tags)
    if not count or _DT_SYMTAB not in tags or _DT_STRTAB not in tags:
        return frozenset()
    names = elf.bytes_at(tags[_DT_STRTAB], min(tags.get(_DT_STRSZ, 0), NAMES_MAX_BYTES))
    numbers = [0] * count
    if _DT_VERSYM in tags:
        numbers = [row[0] for row in elf.rows_at(tags[_DT_VERSYM], "H", count)]
    versions = dict(_versions(elf, tags, names))
    layout, (name, kind, section) = _ROWS[elf.bits]
    table = elf.rows_at(tags[_DT_SYMTAB], layout, count)
    return frozenset(
        (_string(names, row[name]), versions.get(number & ~_HIDDEN_VERSION, ""))
        for row, number in zip(table, numbers, strict=True)
        if row[section] and row[kind] >> _TYPE_BITS != _LOCAL
    )


def _symbol_count(elf: Elf, tags: Mapping[int, int]) -> int:
    """Return the number of symbols in the table, which only its hash tables have."""
    count = 0
    if _DT_HASH in tags:
        ((_, count),) = elf.rows_at(tags[_DT_HASH], "2I")
    elif _DT_GNU_HASH in tags:
        count = _gnu_symbol_count(elf, tags[_DT_GNU_HASH])
    if count > MAX_SYMBOLS:
        message = f"it names {count} symbols"
        raise BrokenElfError(message)
    return count


def _gnu_symbol_count(elf: Elf, address: int) -> int:
    """Return the end of the longest chain of the hash table."""
    head = "4I"
    ((buckets, first, bloom_words, _),) = elf.rows_at(address, head)
    if max(buckets, bloom_words) > MAX_SYMBOLS:
        message = f"its hash table has {buckets} buckets"
        raise BrokenElfError(message)
    table = address + 16 + bloom_words * elf.bits // 8
    last = max((row[0] for row in elf.rows_at(table, "I", buckets)), default=0)
    if last < first:
        return first
    chains = table + 4 * buckets
    for number in range(last, MAX_SYMBOLS):
        ((value,),) = elf.rows_at(chains + 4 * (number - first), "I")
        if value & 1:
            return number + 1
    return MAX_SYMBOLS + 1


def _versions(
    elf: Elf, tags: Mapping[int, int], names: bytes
) -> Iterator[tuple[int, str]]:
    """Yield the numbers of the versions that it defines, with their names."""
    address = tags.get(_DT_VERDEF, 0)
    for _ in range(min(tags.get(_DT_VERDEFNUM, 0), MAX_SYMBOLS) if address else 0):
        ((_, _, number, _, _, name_at, next_at),) = elf.rows_at(address, _VERDEF)
        ((name,),) = elf.rows_at(address + name_at, "I")
        yield number, _string(names, name)
        if not next_at:
            return
        address += next_at


def _string(names: bytes, start: int) -> str:
    return names[start:].partition(b"\0")[0].decode("utf-8", "surrogateescape")


def carried_parts(elf: Elf) -> tuple[tuple[int, int], ...]:
    """Return where a file carries data that nothing loads and that aren't symbols.

    What lies behind all sections, or in large ones of other names, is read by the
    program itself: the files of .NET, Node, PyInstaller and others in one program.
    """
    if elf.unloaded_bytes < LEAST_CARRIED_BYTES:
        return ()
    ends = (elf.loaded_end, elf.headers_end, *(each.end for each in elf.sections))
    parts = [(max(ends), elf.size_bytes)]
    parts += [
        (each.start, min(each.end, elf.size_bytes))
        for each in elf.sections
        if not each.flags & SHF_ALLOC and not _UNLOADED.match(each.name)
    ]
    return tuple(
        sorted(part for part in parts if part[1] - part[0] >= LEAST_CARRIED_BYTES)
    )


def language_of(elf: Elf) -> str:
    """Return ``Go``, ``Rust``, ``Haskell``, ``Node`` or ``Bun``, read alike each.

    Or what carries a program's files, ``.NET`` or ``PyInstaller``; empty if it is
    none of them. Node and Bun are there under another name if a program was put
    into them.
    """
    names = elf.dynamic_names()
    if _NODE in names:
        return "Node"
    if _BUN in names:
        return "Bun"
    constants = elf.constants() if carried_parts(elf) else b""
    for mark, carrier in _CARRIERS:
        if mark in constants:
            return carrier
    for section in elf.sections:
        if section.name in (b".gopclntab", b".go.buildinfo"):
            return "Go"
        if section.name == b".comment":
            length = min(section.end - section.start, MAX_STRING_BYTES)
            comment = elf.read(section.start, length)
            for mark, language in _COMPILERS:
                if mark in comment:
                    return language
    return ""
