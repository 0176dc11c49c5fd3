"""What xdelta3 would find of one run of bytes in another."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.refresh import compare
from snapcraft_compression_advisor.refresh.compare import text_cost
from snapcraft_compression_advisor.refresh.matching import (
    Surroundings,
    find_matches,
    keys_of,
)
from snapcraft_compression_advisor.refresh.sections import (
    Compressed,
    Sections,
    compressed,
    is_coded,
    joined,
    section_rates,
)
from snapcraft_compression_advisor.refresh.vcdiff import Instructions, number

NOISE = random.Random(1).randbytes(20_000)
OTHER = random.Random(2).randbytes(500)


def test_equal_bytes_are_one_copy() -> None:
    sections = find_matches(NOISE, NOISE, level=7)
    assert sections.literals == b""
    assert len(sections.instructions) + len(sections.addresses) < 8


def test_inserted_bytes_are_all_that_is_sent() -> None:
    new = NOISE[:9_000] + OTHER + NOISE[9_000:]
    assert find_matches(NOISE, new, level=7).literals == OTHER


def test_swapped_halves_are_found() -> None:
    new = NOISE[10_000:] + NOISE[:10_000]
    assert len(find_matches(NOISE, new, level=7).literals) == 0


def test_changed_byte_is_sent_alone() -> None:
    new = bytearray(NOISE)
    new[5_000] ^= 0xFF
    sections = find_matches(NOISE, bytes(new), level=3)
    assert sections.literals == bytes(new[5_000:5_001])


@pytest.mark.parametrize(("old", "new"), [(b"", NOISE), (OTHER, NOISE), (b"abc", b"")])
def test_what_the_old_bytes_lack_is_sent(old: bytes, new: bytes) -> None:
    assert find_matches(old, new, level=7).literals == new


@given(st.binary(max_size=400), st.binary(max_size=400), st.integers(0, 400))
def test_no_more_is_sent_than_there_is(old: bytes, new: bytes, place: int) -> None:
    sections = find_matches(old, new[:place] + old + new[place:], level=7)
    assert len(sections.literals) <= len(old) + len(new)


def test_what_was_sent_before_is_not_sent_again() -> None:
    around = Surroundings(sent=OTHER)
    assert find_matches(b"", OTHER, level=7).literals == OTHER
    assert find_matches(b"", OTHER, level=7, around=around).literals == b""
    assert find_matches(b"", OTHER + OTHER, level=7).literals == OTHER


def test_a_copy_ends_where_the_old_bytes_go_on() -> None:
    def listed(time_s: int) -> bytes:
        return b"".join(
            b"usr/lib/%d/file R %d 644 0 0\n" % (number, time_s)
            for number in range(500)
        )

    sections = find_matches(listed(1779831167), listed(1794436158), level=7)
    assert len(sections.literals) < 20


def test_four_bytes_are_copied_from_near_alone() -> None:
    for gap, sent in ((100, 0), (20_000, 4)):
        new = b"abcd" + NOISE[:gap] + b"abcd"
        assert len(find_matches(NOISE, new, level=7).literals) == 4 + sent


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)), st.sampled_from([3, 7]))
def test_a_delta_makes_the_new_bytes_of_the_old(
    old: bytes, cuts: list[int], level: int
) -> None:
    new = b"".join(old[cut : cut + 40] + bytes([cut % 256]) for cut in cuts)
    for sent in (b"", old[:70]):
        around = Surroundings(sent=sent, expected=3, window_bytes=len(old))
        sections = find_matches(old, new, level=level, around=around)
        assert decoded(old, sent, sections) == new


STEPS = st.tuples(st.integers(0, 5), st.integers(4, 20), st.integers(0, 6))


@given(st.lists(STEPS, max_size=30))
@example([*((1, 20, which) for which in range(6)), (2, 4, 0), (0, 4, 1), (1, 9, 1)])
def test_written_instructions_are_read_again(steps: list[tuple[int, int, int]]) -> None:
    old, written, literals = NOISE, Instructions(), b""
    new = b""
    for added, length, which in steps:
        part = OTHER[len(literals) : len(literals) + added]
        literals += part
        new += part
        address = 300 + which * 777 if which < 6 else len(old)
        if address == len(old) and not new:
            address = 0
        here = len(old) + len(new)
        written.copy(length, address, here, literals=added)
        for place in range(address, address + length):
            new += bytes([(old + new)[place]])
    sections = Sections(
        literals=literals,
        instructions=bytes(written.codes),
        addresses=bytes(written.addresses),
    )
    assert decoded(old, b"", sections) == new


def decoded(old: bytes, sent: bytes, sections: Sections) -> bytes:
    """Apply a delta, as RFC 3284 says."""
    codes, addresses = iter(sections.instructions), iter(sections.addresses)
    literals = iter(sections.literals)
    window = bytearray(old + sent)
    near, same, turn = [0] * 4, [0] * 768, 0
    for code in codes:
        for kind, size, mode in instructions(code):
            length = size or read_number(codes)
            if kind == "add":
                window += bytes(next(literals) for _ in range(length))
                continue
            if mode >= 6:
                address = same[(mode - 6) * 256 + next(addresses)]
            else:
                address = read_number(addresses)
                bases = [0, len(window) - 2 * address, *near]
                address += bases[mode]
            near[turn % 4] = same[address % 768] = address
            turn += 1
            for place in range(address, address + length):
                window.append(window[place])
    return bytes(window[len(old) + len(sent) :])


def instructions(code: int) -> list[tuple[str, int, int]]:
    """Return kind, size and mode of a code's instructions (RFC 3284, 5.6)."""
    table: list[list[tuple[str, int, int]]] = [[("run", 0, 0)]]
    table += [[("add", size, 0)] for size in range(18)]
    for mode in range(9):
        table += [[("copy", size, mode)] for size in (0, *range(4, 19))]
    for mode in range(9):
        for added in range(1, 5):
            for copied in range(4, 7 if mode < 6 else 5):
                table.append([("add", added, 0), ("copy", copied, mode)])
    table += [[("copy", 4, mode), ("add", 1, 0)] for mode in range(9)]
    assert len(table) == 256
    return table[code]


def read_number(source: Iterator[int]) -> int:
    """Read a number in groups of seven bits."""
    value = 0
    for byte in source:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value


@given(st.integers(0, 1 << 40))
def test_number_is_read_as_it_was_written(value: int) -> None:
    assert read_number(iter(number(value))) == value


@given(st.binary(max_size=100), st.sampled_from([1, 2, 8]))
def test_keys_are_the_bytes_of_their_places(contents: bytes, step: int) -> None:
    places = range(0, max(0, len(contents) - 7), step)
    wanted = [contents[place : place + 8] for place in places]
    assert keys_of(contents, step=step).tobytes() == b"".join(wanted)


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


@pytest.mark.parametrize("grown", [0, 40_000])
def test_long_listing_costs_about_what_all_its_pieces_do(
    grown: int, mocker: MockerFixture
) -> None:
    draw = random.Random(3)
    sizes = [draw.randrange(90_000) for _ in range(9_000)]
    added = b"".join(
        b"new/%d F 1 2\n" % draw.randrange(9_000) for _ in range(grown // 13)
    )
    old, new = _listing(sizes, 0), added + _listing(sizes, 12_345)
    some = text_cost(old, new, level=7)
    mocker.patch.object(compare, "_TEXT_PIECES", len(new))
    assert some == pytest.approx(text_cost(old, new, level=7), rel=0.25)


def _listing(sizes: list[int], start: int) -> bytes:
    starts = accumulate(sizes, initial=start)
    lines = zip(range(len(sizes)), sizes, starts, strict=False)
    return b"".join(b"lib/file-%d F %d %d\n" % line for line in lines)


def test_literals_with_no_redundancy_are_not_coded() -> None:
    noise = random.Random(4).randbytes(64 * 1024)
    skewed = bytes(value & 0xFE for value in noise)
    assert not is_coded(noise)
    assert not is_coded(b"")
    assert is_coded(skewed)
    assert compressed(noise, level=3).coded == 0
    assert compressed(skewed, level=3).coded
