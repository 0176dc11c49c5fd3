"""Blocks of files that a guessed launch reads."""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from made_blocks import stored_block
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.guess.block_classes import ElfParts, parts_of
from snapcraft_compression_advisor.launch.guess.guess import (
    static_launch_set,
    without_holes,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile, LaunchSet
from snapcraft_compression_advisor.launch.model import BlockSums, expect_blocks
from snapcraft_compression_advisor.squashfs.entry import ImageBlock
from snapcraft_compression_advisor.trial.result import blocks_of_files

SHARES = st.sampled_from([0.125, 0.5, 0.75, 1.0])
BLOCKS = st.builds(
    lambda raw, stored: stored_block(raw_bytes=raw, stored_bytes=min(raw, stored)),
    st.integers(1, 131_072),
    st.sampled_from([0, 1, 700, 131_072]),
)


@st.composite
def files(draw: st.DrawFn) -> tuple[LaunchFile, tuple[ImageBlock, ...]]:
    """Draw a file of some blocks, and ranges of them that may reach behind its end."""
    blocks = tuple(draw(st.lists(BLOCKS, max_size=8)))
    ends = draw(st.lists(st.integers(0, 9), unique=True, max_size=6).map(sorted))
    ranges = tuple(zip(ends[::2], ends[1::2], strict=False))
    return (
        LaunchFile(
            path="",
            size_bytes=sum(block.raw_bytes for block in blocks),
            blocks=ranges,
            shares=tuple(draw(SHARES) for _ in ranges),
        ),
        blocks,
    )


def reads(*read: LaunchFile) -> LaunchSet:
    certain = Interval.exactly(1)
    return LaunchSet(
        app="app",
        source="static",
        files=read,
        read_share=certain,
        seek_share=certain,
        waited_share=certain,
    )


def named(number: int, file: LaunchFile) -> LaunchFile:
    return LaunchFile(
        path=str(number),
        size_bytes=file.size_bytes,
        blocks=file.blocks,
        shares=file.shares,
    )


def one_by_one(
    pairs: list[tuple[LaunchFile, tuple[ImageBlock, ...]]],
) -> tuple[BlockSums, list[float]]:
    """Sum up block by block; what is stored of each file as well."""
    listed: list[tuple[ImageBlock, float, float]] = []
    by_file = []
    for file, blocks in pairs:
        before, end, first_of_file = 0.0, None, len(listed)
        for first, last, share in file.ranges():
            before = before if first == end else 0.0
            end = last + 1
            for block in blocks[first:end]:
                if block.stored_bytes:
                    listed.append((block, share, before))
                    before = share
        by_file.append(sum(s * b.stored_bytes for b, s, _ in listed[first_of_file:]))
    packed = [(block, share) for block, share, _ in listed if block.compressed]
    fewest = sum(max(0.0, share - before) for _, share, before in listed)
    most = sum(share * (1 - before) for _, share, before in listed)
    sums = BlockSums(
        runs=math.sqrt(fewest * most),
        blocks=sum(share for _, share, _ in listed),
        raw_bytes=sum(share * block.raw_bytes for block, share, _ in listed),
        stored_bytes=sum(by_file),
        compressed_blocks=sum(share for _, share in packed),
        compressed_raw_bytes=sum(share * block.raw_bytes for block, share in packed),
        compressed_stored_bytes=sum(
            share * block.stored_bytes for block, share in packed
        ),
    )
    return sums, by_file


@given(st.lists(files(), max_size=5))
def test_sums_are_those_of_the_blocks_one_by_one(
    drawn: list[tuple[LaunchFile, tuple[ImageBlock, ...]]],
) -> None:
    pairs = [(named(number, file), each) for number, (file, each) in enumerate(drawn)]
    blocks = blocks_of_files({file.path: each for file, each in pairs})
    expected = expect_blocks(reads(*(file for file, _ in pairs)), blocks.places)
    sums, by_file = one_by_one(pairs)
    assert expected.sums(blocks) == sums
    assert expected.stored_bytes_by_file(blocks) == by_file


def test_files_that_are_not_there_have_no_blocks() -> None:
    launch_set = reads(LaunchFile(path="lost", size_bytes=9, blocks=((0, 3),)))
    expected = expect_blocks(launch_set, blocks_of_files({}).places)
    assert expected.sums(blocks_of_files({})) == BlockSums()
    assert expected.stored_bytes_by_file(blocks_of_files({})) == [0.0]


HOLEY_BLOCKS = 12


@dataclass
class HoleyPayload(MemoryPayload):
    """A payload in which one file has holes."""

    filled: list[tuple[int, int]] = field(default_factory=list)

    def data_ranges(self, path: str) -> list[tuple[int, int]]:
        return self.filled if path == "file" else super().data_ranges(path)


def holey(filled: list[tuple[int, int]]) -> HoleyPayload:
    plain = make_payload({"file": make_elf()}, apps={"hello": {"command": "file"}})
    return HoleyPayload(files=plain.files, snap=plain.snap, filled=filled)


def numbers(ranges: Sequence[tuple[int, int]]) -> list[int]:
    return [n for first, last in ranges for n in range(first, last + 1)]


@st.composite
def ranges_below(draw: st.DrawFn, length: int) -> list[tuple[int, int]]:
    """Return ranges in ascending order that don't touch, ends left out."""
    ends = sorted(draw(st.sets(st.integers(0, length), max_size=10)))
    return list(zip(ends[::2], ends[1::2], strict=False))


@given(
    filled=ranges_below(HOLEY_BLOCKS * DATA_BLOCK_BYTES),
    named=ranges_below(HOLEY_BLOCKS),
)
def test_blocks_without_a_byte_of_data_are_dropped(
    filled: list[tuple[int, int]], named: list[tuple[int, int]]
) -> None:
    blocks = tuple((first, last - 1) for first, last in named)
    file = LaunchFile(
        path="file", size_bytes=HOLEY_BLOCKS * DATA_BLOCK_BYTES, blocks=blocks
    )
    with_data = {
        n
        for n in range(HOLEY_BLOCKS)
        for start, end in filled
        if start < (n + 1) * DATA_BLOCK_BYTES and end > n * DATA_BLOCK_BYTES
    }
    kept = without_holes(holey(filled), file)
    expected = [n for n in numbers(blocks) if n in with_data]
    assert (numbers(kept.blocks) if kept else []) == expected


def test_program_that_is_one_hole_is_not_expected() -> None:
    assert not static_launch_set(holey([]), "hello").files


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
