"""ELF files: their headers and symbols."""

import ctypes
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from elf_files import elf_in, make_elf
from snapcraft_compression_advisor.payload import elf as elf_module
from snapcraft_compression_advisor.payload.elf import (
    BrokenElfError,
    Elf,
    ElfLinkage,
    read_elf,
)
from snapcraft_compression_advisor.payload.elf_symbols import exported_symbols

_PT_INTERP_AT = 64 + 2 * 56
_PROGRAM_COUNT_AT = 56


def parsed(content: bytes) -> Elf:
    elf = elf_in(content)
    assert elf is not None
    return elf


def linkage_of(content: bytes) -> ElfLinkage:
    return parsed(content).linkage()


def make_32_bit_big_endian_elf(needed: str) -> bytes:
    """Return a 32-bit file of a PowerPC that needs one library."""
    strings = b"\0" + needed.encode() + b"\0"
    strings_at = 52 + 2 * 32
    dynamic_at = strings_at + len(strings)
    dynamic = struct.pack(">6i", 1, 1, 5, 0x1000 + strings_at, 0, 0)
    end = dynamic_at + len(dynamic)
    header = b"\x7fELF" + bytes((1, 2, 1)) + bytes(9)
    header += struct.pack(">HHIIIIIHHHHHH", 3, 20, 1, 0, 52, 0, 0, 52, 32, 2, 40, 0, 0)
    programs = struct.pack(">8I", 1, 0, 0x1000, 0x1000, end, end, 5, 4)
    programs += struct.pack(
        ">8I", 2, dynamic_at, 0x1000 + dynamic_at, 0, len(dynamic), 0, 6, 4
    )
    return header + programs + strings + dynamic


def test_32_bits_and_the_other_byte_order_are_read() -> None:
    linkage = linkage_of(make_32_bit_big_endian_elf("liba.so.1"))
    assert linkage.machine[0] == 32
    assert linkage.needed == ("liba.so.1",)


def test_machines_have_debians_names_or_differ() -> None:
    machines = [linkage_of(make_elf(machine=each)).machine for each in (183, 8, 50)]
    assert machines[0] == (64, "aarch64-linux-gnu")
    assert len(set(machines)) == 3


def test_names_are_those_of_files_however_long() -> None:
    content = make_elf(needed=["lib?.so", "x" * 1000])
    linkage = linkage_of(content.replace(b"lib?.so", b"lib\xff.so"))
    assert linkage.needed == ("lib\udcff.so", "x" * 1000)


def test_object_file_needs_nothing() -> None:
    content = bytearray(make_elf())
    content[_PROGRAM_COUNT_AT : _PROGRAM_COUNT_AT + 2] = bytes(2)
    linkage = linkage_of(bytes(content))
    assert linkage.needed == ()


@pytest.mark.parametrize(
    ("offset", "value", "said"),
    [
        (4, b"\x07", "class"),
        (5, b"\x07", "byte order"),
        (_PROGRAM_COUNT_AT, b"\xff\xff", "65535 program headers"),
        (54, b"\x01", "of 1 bytes"),
        (32, b"\xff" * 8, "ends before byte"),
        (_PT_INTERP_AT + 32, b"\x03" + bytes(7), "isn't terminated"),
    ],
)
def test_file_that_contradicts_itself_is_broken(
    offset: int, value: bytes, said: str
) -> None:
    content = bytearray(make_elf(needed=["liba.so"], interpreter="/lib/ld.so"))
    content[offset : offset + len(value)] = value
    with pytest.raises(BrokenElfError, match=said):
        linkage_of(bytes(content))


@pytest.mark.parametrize(
    ("offset", "value", "said"),
    [
        (0, struct.pack("<q", 6), "no string table"),
        (8, struct.pack("<Q", 2**63), "no string table"),
    ],
)
def test_table_of_strings_that_is_nowhere_is_broken(
    offset: int, value: bytes, said: str
) -> None:
    content = make_elf(needed=["liba.so"])
    at = content.rindex(struct.pack("<q", 5)) + offset
    with pytest.raises(BrokenElfError, match=said):
        linkage_of(content[:at] + value + content[at + 8 :])


def test_section_headers_are_not_read() -> None:
    content = make_elf(needed=["liba.so"], padding_bytes=100_000)
    ends = []

    def read(offset: int, length: int) -> bytes:
        ends.append(offset + length)
        return content[offset : offset + length]

    elf = read_elf(read, size_bytes=len(content))
    assert elf is not None
    elf.linkage()
    assert max(ends) < 10_000


def test_dynamic_names_are_those_of_libraries_and_symbols() -> None:
    elf = parsed(make_elf(needed=["liba.so"], symbols=["glXCreateContext"]))
    assert elf.dynamic_names() == b"\0liba.so\0glXCreateContext\0"


def test_constants_are_the_end_of_what_stays_as_it_is(mocker: MockerFixture) -> None:
    content = make_elf(symbols=["libGL.so.1"])
    elf = parsed(content)
    assert elf.constants() == content
    mocker.patch.object(elf_module, "CONSTANTS_MAX_BYTES", 20)
    assert elf.constants() == content[-20:]
    written = content.replace(struct.pack("<II", 1, 5), struct.pack("<II", 1, 6))
    elf = parsed(written)
    assert elf.constants() == b""


def test_dynamic_names_beyond_the_end_are_refused() -> None:
    content = make_elf(symbols=["x"]).replace(
        struct.pack("<qQ", 10, 3), struct.pack("<qQ", 10, 1_000_000)
    )
    elf = parsed(content)
    with pytest.raises(BrokenElfError):
        elf.dynamic_names()


def libc() -> Path:
    """Return the C library that this process has loaded."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    found = re.search(r"/\S*/libc(?:\.so\.6|-[\d.]+\.so)$", maps, re.MULTILINE)
    if found is None:
        pytest.skip("this Python isn't linked with glibc")
    return Path(found[0])


def test_loader_finds_every_symbol_of_libc_in_its_version() -> None:
    path = libc()
    elf = parsed(path.read_bytes())
    library = ctypes.CDLL(str(path))
    find = ctypes.CDLL(None).dlvsym
    find.restype = ctypes.c_void_p
    find.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    exported = exported_symbols(elf)
    missing = [
        (name, version)
        for name, version in exported
        if name != version  # the versions themselves are symbols without a place
        and not find(
            library._handle, name.encode(), version.encode()
        )  # ctypes has no other name for it
    ]
    assert not missing
    names = {name for name, _ in exported}
    assert {"malloc", "printf", "memcpy"} <= names
    assert len(exported) > len(names)  # some have several versions


def test_names_without_versions_are_read() -> None:
    library = parsed(make_elf(soname="libfoo.so.1", exported=["foo", "bar"]))
    assert exported_symbols(library) == {("foo", ""), ("bar", "")}
    with pytest.raises(BrokenElfError, match="no table of symbols"):
        exported_symbols(parsed(make_elf(needed=["libc.so.6"])))


@given(
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=12),
    st.integers(4, 600),
)
def test_damaged_file_is_broken_or_read(
    damage: list[tuple[int, int]], length: int
) -> None:
    content = bytearray(
        make_elf(needed=["liba.so"], interpreter="/ld.so", rpath="/x", exported=["foo"])
    )
    for place, value in damage:
        content[place % len(content)] = value
    try:
        elf = elf_in(bytes(content[:length]))
        if elf is not None:
            exported_symbols(elf)
            elf.linkage()
    except BrokenElfError:
        pass
