"""Small ELF files with the loader's headers and nothing else."""

import struct
from collections.abc import Mapping, Sequence

from snapcraft_compression_advisor.payload.elf import Elf, read_elf

EM_X86_64 = 62
EM_AARCH64 = 183

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 5, 14, 15, 29
_DT_STRSZ = 10
_SYMBOL_BYTES, _GLOBAL_FUNCTION = 24, 0x12
_HEADER_BYTES, _PROGRAM_HEADER_BYTES, _DYNAMIC_BYTES = 64, 56, 16


def make_elf(  # noqa: PLR0913 # one argument a header field
    *,
    needed: Sequence[str] = (),
    interpreter: str | None = None,
    rpath: str | None = None,
    runpath: str | None = None,
    soname: str | None = None,
    machine: int = EM_X86_64,
    padding_bytes: int = 0,
    symbols: Sequence[str] = (),
    exported: Sequence[str] = (),
) -> bytes:
    """Return a 64-bit little-endian ELF file that needs these libraries.

    :param symbols: names among its strings, without the table of symbols.
    :param exported: functions of its table of symbols, without versions.
    """
    strings = b"\0"
    tags: list[tuple[int, int]] = []
    named = [(_DT_NEEDED, name) for name in needed]
    named += [(_DT_RPATH, rpath)] if rpath else []
    named += [(_DT_RUNPATH, runpath)] if runpath else []
    named += [(_DT_SONAME, soname)] if soname else []
    for tag, text in named:
        tags.append((tag, len(strings)))
        strings += text.encode() + b"\0"
    table = bytes(_SYMBOL_BYTES)  # the first one stands for none
    for name in exported:
        table += struct.pack("<IBBHQQ", len(strings), _GLOBAL_FUNCTION, 0, 1, 0, 0)
        strings += name.encode() + b"\0"
    strings += b"".join(symbol.encode() + b"\0" for symbol in symbols)
    interp = interpreter.encode() + b"\0" if interpreter else b""
    headers = 3 if interp else 2
    strings_at = _HEADER_BYTES + headers * _PROGRAM_HEADER_BYTES
    interp_at = strings_at + len(strings)
    symbols_at = interp_at + len(interp)
    texts = (strings_at, len(strings))
    tables = _tables(table, symbols_at, texts) if exported else b""
    dynamic_at = symbols_at + len(tables)
    tags += [(_DT_STRTAB, strings_at), (_DT_STRSZ, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    end = dynamic_at + len(dynamic) + padding_bytes
    programs = _program(_PT_LOAD, 0, end)
    programs += _program(_PT_DYNAMIC, dynamic_at, len(dynamic))
    programs += _program(_PT_INTERP, interp_at, len(interp)) if interp else b""
    return (
        _header(machine, headers, sections_end=dynamic_at if exported else 0)
        + programs
        + strings
        + interp
        + tables
        + dynamic
        + bytes(padding_bytes)
    )


def _tables(symbols: bytes, at: int, texts: tuple[int, int]) -> bytes:
    """Return a table of symbols, names of sections, and the sections' headers.

    :param at: where the result is to be.
    :param texts: start and length of the symbols' names.
    """
    names = b".dynsym\0.dynstr\0.shstrtab\0"
    sections = (
        (0, at, len(symbols)),
        (8, *texts),
        (16, at + len(symbols), len(names)),
    )
    headers = (
        struct.pack("<IIQQQQ24x", name, 1, 2, start, start, size)
        for name, start, size in sections
    )
    return b"".join((symbols, names, *headers))


def elf_in(content: bytes) -> Elf | None:
    """Return the ELF file that some bytes are."""
    return read_elf(
        lambda offset, length: content[offset : offset + length],
        size_bytes=len(content),
    )


def _header(machine: int, program_headers: int, *, sections_end: int = 0) -> bytes:
    """Return a header; three section headers end at a place if it isn't 0."""
    identity = b"\x7fELF" + bytes((2, 1, 1, 0)) + bytes(8)
    sections = 3 if sections_end else 0
    fields = (
        3, machine, 1, 0, _HEADER_BYTES, sections_end and sections_end - 3 * 64, 0,
        _HEADER_BYTES, _PROGRAM_HEADER_BYTES, program_headers, 64, sections,
        max(0, sections - 1),
    )  # fmt: skip
    return identity + struct.pack("<HHIQQQIHHHHHH", *fields)


def _program(kind: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQQQ", kind, 5, offset, offset, offset, size, size, 8)


SHARED, OBJECT = 3, 1
_ALLOCATED = 2
_HEADER_BYTES, _SECTION_BYTES = 64, 64


def make_sections(
    sections: Mapping[str, bytes],
    *,
    kind: int = SHARED,
    behind: bytes = b"",
    big_endian: bool = False,
) -> bytes:
    """Return a 64-bit ELF file of these sections, one after the other.

    :param sections: contents by name; those that begin with a dot and ``text`` or
        ``data`` are loaded, the others aren't.
    :param kind: of the file, ``e_type``.
    :param behind: what follows the section headers.
    """
    order = ">" if big_endian else "<"
    names, body, headers = b"\0", b"", bytes(_SECTION_BYTES)
    for name, contents in sections.items():
        flags = _ALLOCATED if name.startswith((".text", ".data")) else 0
        headers += struct.pack(
            f"{order}IIQQQQIIQQ",
            len(names), 1, flags, 0, _HEADER_BYTES + len(body), len(contents), 0, 0, 1,
            0,
        )  # fmt: skip
        names += name.encode() + b"\0"
        body += contents
    names += b".shstrtab\0"
    headers += struct.pack(
        f"{order}IIQQQQIIQQ",
        len(names) - 10, 3, 0, 0, _HEADER_BYTES + len(body), len(names), 0, 0, 1, 0,
    )  # fmt: skip
    count = len(sections) + 2
    table_start = _HEADER_BYTES + len(body) + len(names)
    header = b"\x7fELF" + bytes((2, 2 if big_endian else 1, 1)) + bytes(9)
    header += struct.pack(
        f"{order}HHIQQQIHHHHHH",
        kind, 62, 1, 0, 0, table_start, 0, _HEADER_BYTES, 56, 0, _SECTION_BYTES, count,
        count - 1,
    )  # fmt: skip
    return header + body + names + headers + behind
