"""Holes of files: nothing reads them, so no launch is expected to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from elf_files import make_elf
from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.launch.guess.guess import (
    static_launch_set,
    without_holes,
)
from snapcraft_compression_advisor.launch.launch_set import LaunchFile

if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKS = 12


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


@given(filled=ranges_below(BLOCKS * DATA_BLOCK_BYTES), named=ranges_below(BLOCKS))
def test_blocks_without_a_byte_of_data_are_dropped(
    filled: list[tuple[int, int]], named: list[tuple[int, int]]
) -> None:
    blocks = tuple((first, last - 1) for first, last in named)
    file = LaunchFile(path="file", size_bytes=BLOCKS * DATA_BLOCK_BYTES, blocks=blocks)
    with_data = {
        n
        for n in range(BLOCKS)
        for start, end in filled
        if start < (n + 1) * DATA_BLOCK_BYTES and end > n * DATA_BLOCK_BYTES
    }
    kept = without_holes(holey(filled), file)
    expected = [n for n in numbers(blocks) if n in with_data]
    assert (numbers(kept.blocks) if kept else []) == expected


def test_program_that_is_one_hole_is_not_expected() -> None:
    assert not static_launch_set(holey([]), "hello").files
