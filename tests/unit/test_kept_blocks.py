"""Blocks' contents, kept for the next small read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.squashfs import contents
from snapcraft_compression_advisor.squashfs.contents import LEAST_BYTES, KeptBlocks
from snapcraft_compression_advisor.squashfs.entry import ImageBlock

RAW = 20 * LEAST_BYTES
CONTENTS = bytes(number % 251 for number in range(RAW))


class Block:
    """A block that counts how often it is read, and how far."""

    def __init__(self, position: int = 96) -> None:
        self.block = ImageBlock(
            position=position, stored_bytes=9, raw_bytes=RAW, is_stored=False
        )
        self.lengths: list[int] = []

    def beginning(self, kept: KeptBlocks, wanted: int) -> bytes:
        return kept.beginning(self.block, wanted, read=self._read)

    def _read(self, length: int) -> bytes:
        self.lengths.append(length)
        return CONTENTS[:length]


def test_beginning_is_read_once_and_further_where_more_is_wanted() -> None:
    kept, block = KeptBlocks(), Block()
    for wanted in (10, LEAST_BYTES, LEAST_BYTES + 1, 2 * LEAST_BYTES, 3):
        assert block.beginning(kept, wanted)[:wanted] == CONTENTS[:wanted]
    assert block.lengths == [LEAST_BYTES, 2 * LEAST_BYTES]


def test_block_is_read_as_far_as_it_is_wanted_at_first_then_whole() -> None:
    kept, block = KeptBlocks(), Block()
    block.beginning(kept, RAW // 2 + 1)
    block.beginning(kept, RAW // 2 + 2)
    block.beginning(kept, RAW)
    assert block.lengths == [RAW // 2 + 1, RAW]


def test_what_was_not_wanted_for_longest_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contents, "KEPT_BYTES", 2 * LEAST_BYTES)
    kept = KeptBlocks()
    first, second, third = (Block(position) for position in (1, 2, 3))
    for block in (first, second, first, third, first, second):
        block.beginning(kept, 1)
    assert [len(each.lengths) for each in (first, second, third)] == [1, 2, 1]


@given(st.lists(st.integers(1, RAW), max_size=20))
def test_any_order_of_reads_gives_the_contents(wanted: list[int]) -> None:
    kept, block = KeptBlocks(), Block()
    for length in wanted:
        assert block.beginning(kept, length)[:length] == CONTENTS[:length]
    assert sum(block.lengths) <= 5 * max([*wanted, LEAST_BYTES])


@given(st.binary(min_size=1, max_size=5000), st.integers(1, 6000))
def test_some_of_an_xz_block_is_its_beginning(contents: bytes, length: int) -> None:
    stored = Xz().compress(contents * 3)
    if len(stored) < 3 * len(contents):
        assert Xz().decompress_some(stored, length) == (contents * 3)[:length]


@given(st.binary(min_size=1, max_size=5000), st.integers(1, 6000), st.floats(0, 1))
def test_some_of_a_truncated_block_is_its_beginning(
    contents: bytes, length: int, share: float
) -> None:
    if not Lzo().available:
        pytest.skip(Lzo().implementation)
    for codec in (Xz(), Lzo()):
        stored = codec.compress(contents * 3)
        if len(stored) < 3 * len(contents):
            part = stored[: round(share * len(stored))]
            some = codec.decompress_some(part, length)
            assert some == (contents * 3)[: len(some)]
            assert codec.decompress_some(stored, length) == (contents * 3)[:length]


def test_what_is_no_lzo_block_is_an_error_in_part_as_well() -> None:
    if not Lzo().available:
        pytest.skip(Lzo().implementation)
    with pytest.raises(BadDataError):
        Lzo().decompress_some(b"\x20" + b"a" * 15 + b"\xff" * 3, 100)


def test_of_a_far_block_no_more_is_read_than_is_wanted() -> None:
    kept, block = KeptBlocks(sparing=True), Block()
    for wanted in (10, LEAST_BYTES + 1, 2 * LEAST_BYTES, RAW // 2 + 1, RAW):
        assert block.beginning(kept, wanted)[:wanted] == CONTENTS[:wanted]
    steps = [1, 2, 11, 20]
    assert block.lengths == [step * LEAST_BYTES for step in steps]
