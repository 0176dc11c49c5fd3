"""Symbols that libraries export, with the loader as the oracle."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import elf_in, make_elf
from snapcraft_compression_advisor.payload.elf_form import BrokenElfError
from snapcraft_compression_advisor.payload.elf_symbols import exported_symbols


def libc() -> Path:
    """Return the C library that this process has loaded."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    found = re.search(r"/\S*/libc(?:\.so\.6|-[\d.]+\.so)$", maps, re.MULTILINE)
    if found is None:
        pytest.skip("this Python isn't linked with glibc")
    return Path(found[0])


def test_loader_finds_every_symbol_of_libc_in_its_version() -> None:
    path = libc()
    elf = elf_in(path.read_bytes())
    assert elf is not None
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
    elf = elf_in(make_elf(soname="libfoo.so.1", exported=["foo", "bar"]))
    assert elf is not None
    assert exported_symbols(elf) == {("foo", ""), ("bar", "")}


def test_file_without_symbols_exports_nothing() -> None:
    elf = elf_in(make_elf(needed=["libc.so.6"]))
    assert elf is not None
    assert not exported_symbols(elf)


@given(place=st.integers(0, 400), value=st.integers(0, 255))
def test_damaged_library_is_broken_or_read(place: int, value: int) -> None:
    content = bytearray(make_elf(soname="libfoo.so.1", exported=["foo", "bar"]))
    content[place % len(content)] = value
    try:
        elf = elf_in(bytes(content))
        if elf is not None:
            exported_symbols(elf)
    except BrokenElfError:
        pass
