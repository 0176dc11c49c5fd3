"""What the dynamic loader reads of an ELF file.

By the System V ABI (elf.h): the file's header, its program headers, and of the dynamic
segment the few strings that name libraries and where to look for them. Section headers
are left alone, as the loader leaves them: they stand at a file's end, and in an image
another block would have to be decompressed for each file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Callable[[int, int], bytes]

ELF_MAGIC = b"\x7fELF"
MAX_DYNAMIC_TAGS = 10_000
"""More than any library has; bounds what a broken one can cost."""
MAX_STRINGS = 1_000
"""Likewise, of names: a browser's and an office's programs have some 200."""
MAX_PROGRAM_HEADERS = 1_000
"""Likewise; the kernel takes no program with more than 64 KiB of them."""
MAX_STRING_BYTES = 4_096
"""As long as paths get (PATH_MAX)."""

_HEADER_MAX_BYTES = 64
_IDENTITY_BYTES = 16
_CLASS_AT, _ORDER_AT = 4, 5
_FIRST_STRING_BYTES = 256
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB = 0, 1, 5
_DT_SONAME, _DT_RPATH, _DT_RUNPATH = 14, 15, 29
_STRINGS = (_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH)

_MACHINES = {
    3: "EM_386",
    21: "EM_PPC64",
    22: "EM_S390",
    40: "EM_ARM",
    62: "EM_X86_64",
    183: "EM_AARCH64",
    243: "EM_RISCV",
}
"""Those that snaps are built for; others only have to differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfLinkage:
    """An ELF file's needs.

    :param machine: class and machine, as ``(64, "EM_X86_64")``: a loader skips
        libraries of another.
    :param interpreter: PT_INTERP, the dynamic loader's path.
    :param needed: DT_NEEDED in order.
    :param rpath: DT_RPATH, ignored by loaders where there is a runpath.
    :param runpath: DT_RUNPATH.
    :param soname: DT_SONAME, by which others need it.
    """

    machine: tuple[int, str]
    interpreter: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]
    soname: str | None = None


class BrokenElfError(ValueError):
    """It starts like an ELF file but can't be read as one."""


def read_linkage(read: Read, *, size_bytes: int) -> ElfLinkage | None:
    """Return an ELF file's needs, ``None`` for any other file.

    :param read: gives bytes at ``(offset, length)``, fewer at the end.
    :param size_bytes: the file's length.
    :raises BrokenElfError: where its headers are broken.
    """
    head = read(0, _HEADER_MAX_BYTES)
    if not head.startswith(ELF_MAGIC):
        return None
    try:
        return _Loader(read, head, size_bytes=size_bytes).linkage()
    except struct.error as error:
        raise BrokenElfError(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How an ELF file's headers are written.

    :param bits: of its class.
    :param header: machine, start of the program headers, their length and count.
    :param program: a program header; ``fields`` tells which of its members are the
        segment's type, offset, address and length.
    :param dynamic: a tag and its value.
    """

    bits: int
    header: struct.Struct
    program: struct.Struct
    fields: tuple[int, int, int, int]
    dynamic: struct.Struct

    @classmethod
    def of(cls, identity: bytes) -> _Form:
        """Return the form that a file's first bytes name.

        :raises BrokenElfError: where they name none.
        """
        if len(identity) < _IDENTITY_BYTES:
            message = "it ends within its header"
            raise BrokenElfError(message)
        order = {1: "<", 2: ">"}.get(identity[_ORDER_AT])
        bits = {1: 32, 2: 64}.get(identity[_CLASS_AT])
        if order is None or bits is None:
            message = "its class or byte order is unknown"
            raise BrokenElfError(message)
        wide = bits == 64  # noqa: PLR2004 # the class's bits
        return cls(
            bits=bits,
            header=struct.Struct(
                f"{order}18xH12xQ14xHH" if wide else f"{order}18xH8xI10xHH"
            ),
            program=struct.Struct(f"{order}2I6Q" if wide else f"{order}8I"),
            fields=(0, 2, 3, 5) if wide else (0, 1, 2, 4),
            dynamic=struct.Struct(f"{order}qQ" if wide else f"{order}iI"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A program header: where a part of the file goes in memory."""

    kind: int
    offset: int
    address: int
    size_bytes: int


class _Loader:
    """Reads one file's headers.

    :param head: its first bytes.
    """

    def __init__(self, read: Read, head: bytes, *, size_bytes: int) -> None:
        self._read = read
        self._size_bytes = size_bytes
        self._form = _Form.of(head)
        self._machine, start, length, count = self._form.header.unpack_from(head)
        self._segments = tuple(self._program_headers(start, length, count))

    def linkage(self) -> ElfLinkage:
        """Return what the program headers and the dynamic section say."""
        interpreter = None
        dynamic = None
        strings: dict[int, list[str]] = {tag: [] for tag in _STRINGS}
        for segment in self._segments:
            if segment.kind == _PT_INTERP:
                interpreter = self._string(segment.offset, segment.size_bytes)
            elif segment.kind == _PT_DYNAMIC:
                dynamic = segment  # of several, glibc's loader takes the last
        if dynamic is not None:
            for tag, text in self._dynamic_strings(dynamic):
                strings[tag].append(text)
        machine = _MACHINES.get(self._machine, f"machine {self._machine}")
        return ElfLinkage(
            machine=(self._form.bits, machine),
            interpreter=interpreter,
            needed=tuple(strings[_DT_NEEDED]),
            rpath=_split(strings[_DT_RPATH]),
            runpath=_split(strings[_DT_RUNPATH]),
            soname=next(iter(strings[_DT_SONAME]), None),
        )

    def _program_headers(
        self, start: int, length: int, count: int
    ) -> Iterator[_Segment]:
        if not count:  # an object file
            return
        if length != self._form.program.size or count > MAX_PROGRAM_HEADERS:
            message = f"{count} program headers of {length} bytes"
            raise BrokenElfError(message)
        table = self._exactly(start, length * count)
        for fields in self._form.program.iter_unpack(table):
            kind, offset, address, size_bytes = (fields[i] for i in self._form.fields)
            yield _Segment(
                kind=kind, offset=offset, address=address, size_bytes=size_bytes
            )

    def _dynamic_strings(self, segment: _Segment) -> Iterator[tuple[int, str]]:
        tags = [*self._dynamic_tags(segment)]
        table = next((value for tag, value in tags if tag == _DT_STRTAB), None)
        count = sum(tag in _STRINGS for tag, _ in tags)
        if count > MAX_STRINGS:
            message = f"it names {count} libraries and places"
            raise BrokenElfError(message)
        for tag, value in tags:
            if tag not in _STRINGS:
                continue
            if table is None:
                message = "its dynamic segment names no table of strings"
                raise BrokenElfError(message)
            yield tag, self._string(self._offset(table) + value)

    def _dynamic_tags(self, segment: _Segment) -> Iterator[tuple[int, int]]:
        size = self._form.dynamic.size
        wanted = min(segment.size_bytes, MAX_DYNAMIC_TAGS * size)
        content = self._exactly(segment.offset, wanted - wanted % size)
        for tag, value in self._form.dynamic.iter_unpack(content):
            if tag == _DT_NULL:
                return
            yield tag, value

    def _offset(self, address: int) -> int:
        """Return where in the file an address is."""
        for segment in self._segments:
            inside = 0 <= address - segment.address < segment.size_bytes
            if segment.kind == _PT_LOAD and inside:
                return segment.offset + address - segment.address
        message = f"nothing is loaded to address {address:#x}"
        raise BrokenElfError(message)

    def _string(self, offset: int, max_bytes: int = MAX_STRING_BYTES) -> str:
        """Return the string up to its NUL, as names of files are decoded."""
        for most in (_FIRST_STRING_BYTES, MAX_STRING_BYTES):
            length = min(most, max_bytes, self._size_bytes - offset)
            text, end, _ = self._exactly(offset, length).partition(b"\0")
            if end:
                return text.decode("utf-8", "surrogateescape")
        message = f"the string at {offset} doesn't end"
        raise BrokenElfError(message)

    def _exactly(self, offset: int, length: int) -> bytes:
        if length < 0 or offset + length > self._size_bytes:
            message = f"it ends before byte {offset + length}"
            raise BrokenElfError(message)
        content = self._read(offset, length)
        if len(content) != length:
            message = f"it became shorter than byte {offset + length}"
            raise BrokenElfError(message)
        return content


def _split(values: list[str]) -> tuple[str, ...]:
    return tuple(part for value in values for part in value.split(":") if part)
