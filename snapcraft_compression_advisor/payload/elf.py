"""The package's reader of ELF files: what loaders, ``strip`` and the guess look at.

By the System V ABI (elf.h): the file's header, its program and section headers, and of
the dynamic segment the few strings that name libraries and where to look for them. Each
is read at its first use: section headers stand at a file's end, where in an image
another block has to be decompressed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from .inventory import Entry
from .source import Payload

Read = Callable[[int, int], bytes]

ELF_MAGIC = b"\x7fELF"
ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
PF_X, PF_W = 1, 2
SHT_NOBITS, SHF_ALLOC = 8, 2
MAX_DYNAMIC_TAGS = 10_000
"""More than any library has; bounds what a broken one can cost."""
MAX_STRINGS = 1_000
"""Of names: a browser's and an office's programs have some 200."""
MAX_HEADERS = 1_000
"""Of program or section headers; the kernel takes no more than 64 KiB of the first."""
MAX_STRING_BYTES = 4_096
"""As long as paths get (PATH_MAX)."""
SECTION_NAMES_MAX_BYTES = 64 * 1024
NAMES_MAX_BYTES = 16 * 1024 * 1024
"""Of dynamic symbols; a browser's program has some 100 KiB, an engine's 10 MiB."""
CONSTANTS_MAX_BYTES = 4 * 1024 * 1024
"""Of a program's constants; a program of 47 MB in Pascal has 1 MiB."""

_BITS, _ORDERS = {1: 32, 2: 64}, {1: "<", 2: ">"}
"""By a file's class and byte order; the latter as :mod:`struct` names it."""
_HEADER = {32: "16xHH4x3I6x5H", 64: "16xHH4x3Q6x5H"}
"""By bits: type and machine, starts of program and section headers; of program headers,
then of section headers length and count; the names' section."""
_PROGRAM = {32: ("8I", (0, 6, 1, 2, 4, 7)), 64: ("2I6Q", (0, 1, 2, 3, 5, 7))}
"""A program header, and where in it the members of a :class:`Segment` are."""
_SECTION = {32: "10I", 64: "2I4Q2I2Q"}
"""Name, type, flags, address, offset, length, and what doesn't count."""
_DYNAMIC = {32: "iI", 64: "qQ"}
_HEADER_MAX_BYTES = 64
_IDENTITY_BYTES = 16
_CLASS_AT, _ORDER_AT = 4, 5
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5
_DT_STRSZ = 10
_DT_SONAME, _DT_RPATH, _DT_RUNPATH = 14, 15, 29
_STRINGS = (_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH)

TRIPLETS = {
    3: "i386-linux-gnu",
    21: "powerpc64le-linux-gnu",
    22: "s390x-linux-gnu",
    40: "arm-linux-gnueabihf",
    62: "x86_64-linux-gnu",
    183: "aarch64-linux-gnu",
    243: "riscv64-linux-gnu",
}
"""Debian's names of the machines that snaps are built for, by ``e_machine``; others
only have to differ."""


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
        """Where it ends in the file."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfLinkage:
    """An ELF file's needs.

    :param machine: class and machine, as ``(64, "x86_64-linux-gnu")``: a loader skips
        libraries of another.
    :param rpath: DT_RPATH, ignored by loaders if there is a runpath.
    """

    machine: tuple[int, str]
    interpreter: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    soname: str | None = None


def elf_of(payload: Payload, entry: Entry) -> Elf | None:
    """Return a payload's file, ``None`` if it isn't an ELF file.

    :raises BrokenElfError: if its header is broken.
    """

    def read(offset: int, length: int) -> bytes:
        return payload.read(entry.path, offset=offset, length=length)

    return read_elf(read, size_bytes=entry.size_bytes)


def readable_linkage(payload: Payload, entry: Entry) -> ElfLinkage | None:
    """Return a file's linkage, ``None`` for a broken ELF file or any other."""
    try:
        elf = elf_of(payload, entry)
        return elf.linkage() if elf else None
    except BrokenElfError:
        return None


def read_elf(read: Read, *, size_bytes: int) -> Elf | None:
    """Return an ELF file, ``None`` for any other file.

    :raises BrokenElfError: if its header is broken.
    """
    head = read(0, _HEADER_MAX_BYTES)
    return Elf(read, head, size_bytes) if head.startswith(ELF_MAGIC) else None


class Elf:
    """An ELF file; what can't be read raises :class:`BrokenElfError`.

    :ivar read: gives bytes at ``(offset, length)``, fewer at the end.
    :ivar kind: ``e_type``.
    :ivar bits: of an address: 32 or 64.
    :ivar order: of bytes, as :mod:`struct` names it.
    """

    def __init__(self, read: Read, head: bytes, size_bytes: int) -> None:
        self.read = read
        self.size_bytes = size_bytes
        if len(head) < _IDENTITY_BYTES:
            message = "it ends within its header"
            raise BrokenElfError(message)
        self.bits = _BITS.get(head[_CLASS_AT], 0)
        self.order = _ORDERS.get(head[_ORDER_AT], "")
        if not self.bits or not self.order:
            message = "its class or byte order is unknown"
            raise BrokenElfError(message)
        try:
            fields = struct.unpack_from(f"{self.order}{_HEADER[self.bits]}", head)
        except struct.error as error:
            raise BrokenElfError(str(error)) from error
        self.kind: int
        self._sections_at: int
        self.kind, self._machine, _, self._programs_at, self._sections_at = fields[:5]
        self._programs: tuple[int, int] = fields[5:7]
        self._sections: tuple[int, int] = fields[7:9]
        self._names_index: int = fields[9]

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The program headers; an object file has none."""
        layout, fields = _PROGRAM[self.bits]
        table = self._table("program", self._programs_at, layout, self._programs)
        return tuple(Segment(*[row[field] for field in fields]) for row in table)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The section headers."""
        layout = _SECTION[self.bits]
        rows = [*self._table("section", self._sections_at, layout, self._sections)]
        if not rows:
            return ()
        if self._names_index >= len(rows):
            message = f"it has no section {self._names_index}, which names the others"
            raise BrokenElfError(message)
        *_, start, size, _, _, _, _ = rows[self._names_index]
        names = self.read(start, min(size, SECTION_NAMES_MAX_BYTES))
        return tuple(
            Section(
                name=names[name:].partition(b"\0")[0],
                kind=kind,
                flags=flags,
                start=start,
                end=start if kind == SHT_NOBITS else start + size,
            )
            for name, kind, flags, _, start, size, *_ in rows
        )

    @property
    def headers_end(self) -> int:
        """Where the table of section headers ends."""
        length, count = self._sections
        return self._sections_at + length * count

    @property
    def unloaded_bytes(self) -> int:
        """Length of symbols and the like behind all loaded segments.

        Section headers are left out. Only the file's beginning is read.
        """
        length, count = self._sections
        return self.size_bytes - self.loaded_end - length * count

    @property
    def loaded_end(self) -> int:
        """Where the last loaded segment ends, 0 if there is none."""
        loaded = (each.end for each in self.segments if each.kind == PT_LOAD)
        return max(loaded, default=0)

    def linkage(self) -> ElfLinkage:
        """Return what links the file: interpreter, libraries, where to search them."""
        interpreter = None
        for segment in self.segments:
            if segment.kind == PT_INTERP:
                interpreter = self._string(segment.offset, segment.file_bytes)
        strings: dict[int, list[str]] = {tag: [] for tag in _STRINGS}
        for tag, text in self._dynamic_strings():
            strings[tag].append(text)
        machine = TRIPLETS.get(self._machine, f"machine {self._machine}")
        return ElfLinkage(
            machine=(self.bits, machine),
            interpreter=interpreter,
            needed=tuple(strings[_DT_NEEDED]),
            rpath=_split(strings[_DT_RPATH]),
            runpath=_split(strings[_DT_RUNPATH]),
            soname=next(iter(strings[_DT_SONAME]), None),
        )

    def dynamic_tags(self) -> Iterator[tuple[int, int]]:
        """Yield the dynamic segment's tags and values, none if there is none."""
        dynamic = [segment for segment in self.segments if segment.kind == PT_DYNAMIC]
        if not dynamic:
            return
        last = dynamic[-1]  # the one that glibc's loader takes
        layout = f"{self.order}{_DYNAMIC[self.bits]}"
        size = struct.calcsize(layout)
        wanted = min(last.file_bytes, MAX_DYNAMIC_TAGS * size)
        content = self._exactly(last.offset, wanted - wanted % size)
        for tag, value in struct.iter_unpack(layout, content):
            if tag == _DT_NULL:
                return
            yield tag, value

    def dynamic_names(self) -> bytes:
        """Return the string table of the dynamic segment, empty if there is none.

        The names of all symbols are in it, each between NULs; of a very large table, it
        is the beginning.
        """
        tags = dict(self.dynamic_tags())
        start = self.offset_of(tags.get(_DT_STRTAB, -1))
        if start is None:
            return b""
        length = min(tags.get(_DT_STRSZ, 0), NAMES_MAX_BYTES)
        return self._exactly(start, length)

    def constants(self) -> bytes:
        """Return the end of the last loaded segment without code that stays as it is.

        Texts of the program are there, each between NULs; older layouts have code
        before them in the segment.
        """
        parts = [
            segment
            for segment in self.segments
            if segment.kind == PT_LOAD and not segment.flags & PF_W
        ]
        if not parts:
            return b""
        part = max(parts, key=lambda each: (not each.flags & PF_X, each.offset))
        length = min(part.file_bytes, CONSTANTS_MAX_BYTES)
        return self._exactly(part.end - length, length)

    def contents(self, name: bytes, max_bytes: int) -> bytes:
        """Return what a section holds, nothing if there is none of that name.

        :raises BrokenElfError: if it is longer, or ends behind the file.
        """
        section = next((each for each in self.sections if each.name == name), None)
        if section is None:
            return b""
        length = section.end - section.start
        if length > max_bytes:
            message = f"its section {name!r} has {length} bytes"
            raise BrokenElfError(message)
        return self._exactly(section.start, length)

    def offset_of(self, address: int) -> int | None:
        """Return where in the file an address is, ``None`` if nothing is loaded."""
        for kind, _, offset, start, file_bytes, _ in self.segments:
            if kind == PT_LOAD and 0 <= address - start < file_bytes:
                return offset + address - start
        return None

    def _dynamic_strings(self) -> Iterator[tuple[int, str]]:
        tags = [*self.dynamic_tags()]
        named = [(tag, value) for tag, value in tags if tag in _STRINGS]
        if not named:
            return
        if len(named) > MAX_STRINGS:
            message = f"it names {len(named)} libraries and search paths"
            raise BrokenElfError(message)
        start = self.offset_of(dict(tags).get(_DT_STRTAB, -1))
        if start is None:
            message = "its dynamic segment has no string table"
            raise BrokenElfError(message)
        for tag, value in named:
            yield tag, self._string(start + value)

    def _table(
        self, name: str, start: int, layout: str, size: tuple[int, int]
    ) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a table of headers, none if there is none.

        :param size: length of each, and how many there are.
        """
        length, count = size
        if not count:
            return iter(())
        layout = f"{self.order}{layout}"
        if length != struct.calcsize(layout) or count > MAX_HEADERS:
            message = f"{count} {name} headers of {length} bytes"
            raise BrokenElfError(message)
        return struct.iter_unpack(layout, self._exactly(start, length * count))

    def _string(self, offset: int, max_bytes: int = MAX_STRING_BYTES) -> str:
        """Return the string up to its NUL, as names of files are decoded."""
        length = min(MAX_STRING_BYTES, max_bytes, self.size_bytes - offset)
        text, end, _ = self._exactly(offset, length).partition(b"\0")
        if end:
            return text.decode("utf-8", "surrogateescape")
        message = f"the string at {offset} isn't terminated"
        raise BrokenElfError(message)

    def _exactly(self, offset: int, length: int) -> bytes:
        if length < 0 or offset + length > self.size_bytes:
            message = f"it ends before byte {offset + length}"
            raise BrokenElfError(message)
        content = self.read(offset, length)
        if len(content) != length:
            message = f"it shrank below {offset + length} bytes while it was read"
            raise BrokenElfError(message)
        return content


def _split(values: list[str]) -> tuple[str, ...]:
    return tuple(part for value in values for part in value.split(":") if part)
