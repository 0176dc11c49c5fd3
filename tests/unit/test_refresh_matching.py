"""What xdelta3 would find of one run of bytes in another."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.refresh.matching import (
    Compressed,
    Sections,
    compressed,
    find_matches,
    joined,
    section_rates,
)

NOISE = random.Random(1).randbytes(20_000)
OTHER = random.Random(2).randbytes(500)


def test_equal_bytes_are_one_copy() -> None:
    sections = find_matches(NOISE, NOISE)
    assert sections.literals == b""
    assert len(sections.instructions) + len(sections.addresses) < 8


def test_inserted_bytes_are_all_that_is_sent() -> None:
    new = NOISE[:9_000] + OTHER + NOISE[9_000:]
    assert find_matches(NOISE, new).literals == OTHER


def test_swapped_halves_are_found() -> None:
    new = NOISE[10_000:] + NOISE[:10_000]
    assert len(find_matches(NOISE, new).literals) == 0


def test_changed_byte_is_sent_alone() -> None:
    new = bytearray(NOISE)
    new[5_000] ^= 0xFF
    sections = find_matches(NOISE, bytes(new))
    assert sections.literals == bytes(new[5_000:5_001])


@pytest.mark.parametrize(("old", "new"), [(b"", NOISE), (OTHER, NOISE), (b"abc", b"")])
def test_what_the_old_bytes_lack_is_sent(old: bytes, new: bytes) -> None:
    assert find_matches(old, new).literals == new


@given(st.binary(max_size=400), st.binary(max_size=400), st.integers(0, 400))
def test_no_more_is_sent_than_there_is(old: bytes, new: bytes, place: int) -> None:
    sections = find_matches(old, new[:place] + old + new[place:])
    assert len(sections.literals) <= len(old) + len(new)


def test_section_that_does_not_compress_stays_as_it_is() -> None:
    assert compressed(OTHER, level=3) == Compressed(len(OTHER), 0)
    assert compressed(bytes(5_000), level=3).length < 100


def test_only_chunks_that_lzma_makes_shorter_are_decoded() -> None:
    noise = random.Random(3).randbytes(1 << 20)
    mixed = compressed(noise + bytes(1 << 20), level=3)
    assert len(noise) < mixed.length < len(noise) + 10_000
    assert 0 < mixed.coded < 64 * 1024  # no more than a chunk


def test_rates_are_those_of_each_section() -> None:
    part = Sections(literals=OTHER, instructions=bytes(1_000), addresses=b"")
    rates, coded_rates = section_rates(joined([part, part]), level=7)
    literals, instructions, addresses = rates
    assert 0.5 <= literals <= 0.6  # the second half repeats the first
    assert 0 < instructions < 0.1
    assert addresses == 0.0
    assert all(one <= other for one, other in zip(coded_rates, rates, strict=True))
    assert coded_rates[0] == 0.0 or coded_rates[0] > 0.5 * literals
    assert 0 < coded_rates[1] <= instructions
