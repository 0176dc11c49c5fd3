"""How ELF files are written: the forms of their headers (System V ABI, elf.h)."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import NamedTuple

ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
PF_X, PF_W = 1, 2
SHT_NOBITS, SHF_ALLOC = 8, 2


class Segment(NamedTuple):
    """A program header: where a part of the file goes in memory."""

    kind: int
    flags: int
    offset: int
    address: int
    file_bytes: int
    align: int

    @property
    def end(self) -> int:
        """If it ends in the file."""
        return self.offset + self.file_bytes


class Section(NamedTuple):
    """A section header; ``end`` is where its bytes end in the file."""

    name: bytes
    kind: int
    flags: int
    start: int
    end: int


class BrokenElfError(ValueError):
    """It starts like an ELF file but can't be read as one."""


class Form(NamedTuple):
    """How an ELF file's headers are written.

    :param order: of the bytes of a number, as :mod:`struct` names it.
    :param header: type and machine, starts of program and section headers; of program
        headers, then of section headers length and count; the names' section.
    :param program: a program header; ``fields`` tells which of its members are those of
        a :class:`Segment`.
    :param section: name, type, flags, address, offset, length, and what doesn't count.
    """

    order: str
    bits: int
    header: struct.Struct
    program: struct.Struct
    fields: tuple[int, ...]
    section: struct.Struct
    dynamic: struct.Struct


@lru_cache(maxsize=4)
def form_of(file_class: int, byte_order: int) -> Form:
    """Return the form that a file's identity names.

    :raises BrokenElfError: if it names none.
    """
    order = {1: "<", 2: ">"}.get(byte_order)
    bits = {1: 32, 2: 64}.get(file_class)
    if order is None or bits is None:
        message = "its class or byte order is unknown"
        raise BrokenElfError(message)
    wide = bits == 64  # noqa: PLR2004 # the class's bits
    word = "Q" if wide else "I"
    return Form(
        order=order,
        bits=bits,
        header=struct.Struct(f"{order}16xHH4x{word}{word}{word}4x2x5H"),
        program=struct.Struct(f"{order}2I6Q" if wide else f"{order}8I"),
        fields=(0, 1, 2, 3, 5, 7) if wide else (0, 6, 1, 2, 4, 7),
        section=struct.Struct(f"{order}2I4{word}2I2{word}"),
        dynamic=struct.Struct(f"{order}qQ" if wide else f"{order}iI"),
    )
