"""How much a compressor searches in a payload, told from some of its blocks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_payload
from snapcraft_compression_advisor.payload import search_work as search_work_module
from snapcraft_compression_advisor.payload.search_work import (
    SearchWork,
    block_work,
    drawn_blocks,
    search_work,
)

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

BLOCK_BYTES = 131_072
NOISE = random.Random(5).randbytes(BLOCK_BYTES)


def whole_block_work(block: bytes) -> SearchWork:
    return block_work(block, len(block))


def test_noise_is_searched_everywhere_and_has_short_chains() -> None:
    # 48 KiB of places in a table of 16,384.
    assert 1.5 < whole_block_work(NOISE).steps / BLOCK_BYTES < 3.5


def test_runs_are_found_at_once() -> None:
    assert whole_block_work(bytes(BLOCK_BYTES)).steps < 16 * 512


def test_what_came_before_within_the_window_is_not_searched_again() -> None:
    once = whole_block_work(NOISE[:40_000]).steps
    near = whole_block_work(NOISE[:40_000] * 2).steps
    far = whole_block_work(NOISE[:60_000] * 2).steps
    assert near == pytest.approx(once, rel=0.2)
    assert far > 4 * near


def test_longer_match_is_looked_for_at_the_places_after_its_start() -> None:
    noise = NOISE[:2_000]
    words = [NOISE[start : start + 40] for start in range(0, 2_000, 40)]
    one_match = noise * 2
    many = b"".join([*words, *reversed(words)])
    assert len(one_match) == len(many)
    assert whole_block_work(many).steps > whole_block_work(one_match).steps


def test_few_different_bytes_make_long_chains() -> None:
    letters = NOISE.translate(bytes(b"abcdefgh"[n % 8] for n in range(256)))
    assert whole_block_work(letters).steps > 20 * whole_block_work(NOISE).steps


@given(st.binary(max_size=300))
def test_never_searches_more_often_than_there_are_places(block: bytes) -> None:
    work = whole_block_work(block)
    assert 0 <= work.near_steps <= work.steps <= 512 * len(block)


@pytest.mark.parametrize("period", [256, 4096, BLOCK_BYTES])
def test_beginning_tells_of_the_whole_block(period: int) -> None:
    block = NOISE[:period] * (BLOCK_BYTES // period)
    told, seen = block_work(block[:65_536], BLOCK_BYTES), whole_block_work(block)
    assert told.raw_bytes == seen.raw_bytes
    assert told.steps == pytest.approx(seen.steps, rel=0.02)
    assert told.near_steps == pytest.approx(seen.near_steps, rel=0.02)


def test_beginnings_are_scaled_to_their_blocks(mocker: MockerFixture) -> None:
    looked_at = mocker.spy(search_work_module, "block_work")
    search_work(make_payload({"a": NOISE + NOISE[:70_000]}))
    assert [(len(call.args[0]), call.args[1]) for call in looked_at.call_args_list] == [
        (65_536, BLOCK_BYTES),
        (65_536, 70_000),
    ]


@given(
    st.lists(st.integers(0, 400_000), max_size=6), st.integers(min_value=1, max_value=9)
)
def test_blocks_are_drawn_from_the_contents(sizes: list[int], count: int) -> None:
    payload = make_payload({f"f{n}": bytes(size) for n, size in enumerate(sizes)})
    lengths = {entry.path: entry.size_bytes for entry in payload.inventory.files()}
    drawn = list(drawn_blocks(payload, count))
    assert len(drawn) == (count if any(sizes) else 0)
    assert all(
        offset < lengths[path] and offset % BLOCK_BYTES == 0 for path, offset in drawn
    )


def test_work_is_scaled_to_the_whole_payload() -> None:
    one, two = (
        search_work(make_payload({f"f{n}": NOISE for n in range(count)}))
        for count in (8, 16)
    )
    assert two.steps == pytest.approx(2 * one.steps, rel=0.01)
    assert two.raw_bytes == pytest.approx(2 * one.raw_bytes, rel=0.01)


def test_ends_of_files_are_blocks_too() -> None:
    payload = make_payload({"a": NOISE + b"end", "b": b"short", "empty": b""})
    assert search_work(payload).blocks == 3


def test_no_block_is_looked_at_twice_where_there_are_few(mocker: MockerFixture) -> None:
    looked_at = mocker.spy(search_work_module, "block_work")
    search_work(make_payload({"a": NOISE, "b": NOISE[1:]}))
    assert looked_at.call_count == 2


def test_payload_without_contents_takes_nothing() -> None:
    payload = make_payload({"empty": b""})
    assert search_work(payload).steps < BLOCK_BYTES
