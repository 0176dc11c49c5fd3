"""Which part of an ELF file each block holds."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from payloads import make_payload
from snapcraft_compression_advisor.launch.guess.block_classes import (
    ElfParts,
    parts_of,
)

BLOCK = 128 * 1024
READ, READ_EXECUTE, READ_WRITE = 4, 5, 6
PT_LOAD, PT_DYNAMIC = 1, 2
DT_RELA, DT_RELASZ = 7, 8


def parts_in(content: bytes) -> ElfParts | None:
    payload = make_payload({"file": content})
    return parts_of(payload, payload.inventory.entries["file"])


def elf(*segments: tuple[int, int, int, int], blocks: int) -> bytes:
    """Return an ELF file of so many blocks.

    :param segments: kind, flags, offset and length of each; the dynamic one's table is
        written where it says, with relocations from the first block to the third.
    """
    header = b"\x7fELF" + bytes((2, 1, 1, 0)) + bytes(8)
    header += struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 64, 0, 0
    )
    for kind, flags, offset, length in segments:
        header += struct.pack(
            "<IIQQQQQQ", kind, flags, offset, offset, offset, length, length, 8
        )
    content = bytearray(header.ljust(blocks * BLOCK, b"\0"))
    for kind, _, offset, _ in segments:
        if kind == PT_DYNAMIC:
            tags = (DT_RELA, 1000, DT_RELASZ, 2 * BLOCK)
            struct.pack_into("<qQqQ", content, offset, *tags)
    return bytes(content)


def test_blocks_are_told_apart_by_segment() -> None:
    found = parts_in(
        elf(
            (PT_LOAD, READ, 0, 4 * BLOCK),
            (PT_LOAD, READ_EXECUTE, 4 * BLOCK, 2 * BLOCK),
            (PT_LOAD, READ_WRITE, 6 * BLOCK, 10),
            blocks=8,
        )
    )
    assert found is not None
    assert found.parts == (
        "linking",
        *("constants",) * 3,
        *("text",) * 2,
        "data",
        "unmapped",
    )
    assert found.text_bytes == 2 * BLOCK


def test_relocations_are_read_to_their_end() -> None:
    found = parts_in(
        elf((PT_LOAD, READ, 0, 5 * BLOCK), (PT_DYNAMIC, READ, 4 * BLOCK, 32), blocks=5)
    )
    assert found is not None
    assert found.parts == (*("linking",) * 3, *("constants",) * 2)


def test_other_files_have_no_parts() -> None:
    assert parts_in(b"#!/bin/sh\n") is None
    assert parts_in(b"") is None


@pytest.mark.parametrize("length", [4, 20, 63, 64, 80])
def test_file_that_ends_too_early_has_no_parts(length: int) -> None:
    assert parts_in(make_elf(padding_bytes=BLOCK)[:length]) is None


def test_segments_beyond_the_end_of_the_file_are_cut_off() -> None:
    found = parts_in(elf((PT_LOAD, READ_EXECUTE, 0, 1 << 60), blocks=2))
    assert found == ElfParts(parts=("linking", "text"), text_bytes=2 * BLOCK)


@given(st.binary(max_size=300), st.integers(0, 400))
def test_broken_headers_are_no_error(noise: bytes, at: int) -> None:
    content = make_elf(needed=["liba.so"], padding_bytes=2 * BLOCK)
    found = parts_in(content[:at] + noise + content[at + len(noise) :])
    assert found is None or found.parts
