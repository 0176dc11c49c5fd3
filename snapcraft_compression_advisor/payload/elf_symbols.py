"""What an ELF file exports, what it carries, and the language that it is from."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from .elf import MAX_STRING_BYTES, NAMES_MAX_BYTES, SHF_ALLOC, BrokenElfError, Elf

LEAST_CARRIED_BYTES = 256 * 1024
"""Two data blocks; signatures and the like are far smaller."""

_ROWS = {32: ("3I2BH", (0, 3, 5)), 64: ("I2BH2Q", (0, 1, 3))}
"""Of the symbol table by bits: the row, and where name, type and section are in it."""
_VERDEF = "4H3I"
VERSIONS_MAX_BYTES = 64 * 1024
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

_GPU_CODE = frozenset((b".nv_fatbin", b"__nv_relfatbin", b".hip_fatbin"))
"""Sections of CUDA and HIP with code for GPUs, which isn't read before one runs it."""

Symbol = tuple[str, str]
"""A name and its version, which is empty if it has none."""


def exported_symbols(elf: Elf) -> frozenset[Symbol]:
    """Return the exports of a library: names with their versions.

    By the System V ABI, and by the Linux Standard Base (chapter "Symbol Versioning").

    :raises BrokenElfError: if it has no table of symbols that can be read.
    """
    symbols, names, numbers = (
        elf.contents(name, NAMES_MAX_BYTES)
        for name in (b".dynsym", b".dynstr", b".gnu.version")
    )
    layout, (name, kind, section) = _ROWS[elf.bits]
    try:
        rows = [*struct.iter_unpack(f"{elf.order}{layout}", symbols)]
        numbers = numbers or bytes(2 * len(rows))
        versions = dict(_versions(elf, names))
        found = zip(rows, struct.iter_unpack(f"{elf.order}H", numbers), strict=True)
        exported = frozenset(
            (_string(names, row[name]), versions.get(number & ~_HIDDEN_VERSION, ""))
            for row, (number,) in found
            if row[section] and row[kind] >> _TYPE_BITS != _LOCAL
        )
    except (struct.error, ValueError) as error:
        raise BrokenElfError(str(error)) from error
    if not rows:
        message = "it has no table of symbols"
        raise BrokenElfError(message)
    return exported


def _versions(elf: Elf, names: bytes) -> Iterator[tuple[int, str]]:
    """Yield the numbers of the versions that it defines, with their names."""
    table = elf.contents(b".gnu.version_d", VERSIONS_MAX_BYTES)
    at = 0
    while at < len(table):
        row = struct.unpack_from(f"{elf.order}{_VERDEF}", table, at)
        _, _, number, _, _, name_at, next_at = row
        (name,) = struct.unpack_from(f"{elf.order}I", table, at + name_at)
        yield number, _string(names, name)
        at += next_at or len(table)


def _string(names: bytes, start: int) -> str:
    name = names[start : start + MAX_STRING_BYTES].partition(b"\0")[0]
    return name.decode("utf-8", "surrogateescape")


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


def gpu_code(elf: Elf) -> tuple[tuple[int, int], ...]:
    """Return where a file has code for GPUs."""
    return tuple(
        (each.start, min(each.end, elf.size_bytes))
        for each in elf.sections
        if each.name in _GPU_CODE
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
