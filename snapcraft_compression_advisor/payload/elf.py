"""What the dynamic loader reads of an ELF file."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ELF_MAGIC = b"\x7fELF"
MAX_DYNAMIC_TAGS = 10_000
"""More than any library has; bounds what a broken one can cost."""

# What pyelftools lets out where an ELF file is broken, beside its own errors.
_BROKEN = (
    ELFError,
    DWARFError,
    ConstructError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
    struct.error,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfLinkage:
    """An ELF file's needs.

    :param machine: class and machine, as ``(64, "EM_X86_64")``: a loader skips
        libraries of another.
    :param interpreter: PT_INTERP, the dynamic loader's path.
    :param needed: DT_NEEDED in order.
    :param rpath: DT_RPATH, ignored by loaders where there is a runpath.
    :param runpath: DT_RUNPATH.
    """

    machine: tuple[int, str]
    interpreter: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...]


class BrokenElfError(ValueError):
    """It starts like an ELF file but can't be read as one."""


def read_linkage(
    read: Callable[[int, int], bytes], *, size_bytes: int
) -> ElfLinkage | None:
    """Return an ELF file's needs, ``None`` for any other file.

    :param read: gives bytes at ``(offset, length)``, fewer at the end.
    :param size_bytes: the file's length.
    :raises BrokenElfError: where its headers are broken.
    """
    if read(0, len(ELF_MAGIC)) != ELF_MAGIC:
        return None
    stream = io.BufferedReader(_RangeReader(read, size_bytes), buffer_size=4096)
    try:
        return _parse(ELFFile(stream))
    except _BROKEN as error:
        raise BrokenElfError(str(error) or type(error).__name__) from error


def _parse(elf: ELFFile) -> ElfLinkage:
    interpreter = None
    dynamic: dict[str, list[str]] = {"DT_NEEDED": [], "DT_RPATH": [], "DT_RUNPATH": []}
    for segment in elf.iter_segments():
        if isinstance(segment, InterpSegment):
            interpreter = str(segment.get_interp_name())
        elif isinstance(segment, DynamicSegment):
            for name, value in _dynamic_strings(segment):
                dynamic[name].append(value)
    return ElfLinkage(
        machine=(int(elf.elfclass), str(elf["e_machine"])),
        interpreter=interpreter,
        needed=tuple(dynamic["DT_NEEDED"]),
        rpath=_split(dynamic["DT_RPATH"]),
        runpath=_split(dynamic["DT_RUNPATH"]),
    )


def _dynamic_strings(segment: DynamicSegment) -> Iterator[tuple[str, str]]:
    attributes = {"DT_NEEDED": "needed", "DT_RPATH": "rpath", "DT_RUNPATH": "runpath"}
    for tag in islice(segment.iter_tags(), MAX_DYNAMIC_TAGS):
        name = tag.entry.d_tag
        if name in attributes:
            yield name, str(getattr(tag, attributes[name]))


def _split(values: list[str]) -> tuple[str, ...]:
    return tuple(part for value in values for part in value.split(":") if part)


class _RangeReader(io.RawIOBase):
    """A seekable stream over a function that reads ranges."""

    def __init__(self, read: Callable[[int, int], bytes], size_bytes: int) -> None:
        super().__init__()
        self._read = read
        self._size_bytes = size_bytes
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {
            io.SEEK_SET: 0,
            io.SEEK_CUR: self._offset,
            io.SEEK_END: self._size_bytes,
        }
        self._offset = start[whence] + offset
        if self._offset < 0:
            message = f"offset {self._offset} before the start"
            raise ValueError(message)
        return self._offset

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # typeshed wants collections.abc.Buffer, Python 3.12 on
        wanted = min(len(buffer), max(0, self._size_bytes - self._offset))
        data = self._read(self._offset, wanted) if wanted else b""
        buffer[: len(data)] = data
        self._offset += len(data)
        return len(data)
