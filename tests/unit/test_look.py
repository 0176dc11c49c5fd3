"""Quick looks at blocks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from payloads import make_payload
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.trial.look import (
    EXCERPT_BYTES,
    EXCERPT_PIECES,
    CloserLook,
    QuickLook,
    closer_look,
    excerpt,
    look_at_blocks,
    quick_look,
)

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

BLOCK = 128 * 1024
WORDS = random.Random(3).choices([b"launch ", b"block ", b"codec ", b"table "], k=900)
TEXT = b"".join(WORDS)
NOISE = random.Random(4).randbytes(BLOCK)


def test_quick_look_scales_the_excerpt_s_size_to_the_block() -> None:
    block, fast = (TEXT * 40)[:BLOCK], Zstd(level=1)
    assert quick_look().at(TEXT) == (len(fast.compress(TEXT)),)
    assert quick_look().at(block) == (4 * len(fast.compress(excerpt(block))),)
    assert quick_look().at(NOISE) == (BLOCK,)


@pytest.mark.parametrize("look", [quick_look(), closer_look()])
def test_every_look_has_as_many_sizes_as_it_says(look: QuickLook | CloserLook) -> None:
    assert len(look.at(TEXT)) == look.columns
    assert look.at(bytes(100)) == (0,) * look.columns


def test_short_block_is_its_own_excerpt_and_has_the_closer_codec_s_own_size() -> None:
    xz, fast = Xz(preset=1), Zstd(level=1)
    look = CloserLook(pairs=((xz, fast),), fastest=None)
    (size,) = look.at(TEXT)
    assert size == pytest.approx(len(xz.compress(TEXT)))


@pytest.mark.parametrize("bound", [True, False])
def test_dictionary_of_an_excerpt_s_length_changes_no_size(
    mocker: MockerFixture, *, bound: bool
) -> None:
    if not bound:
        mocker.patch.object(Xz, "library", available=False)
    part = excerpt((TEXT * 40)[: BLOCK // 2] + NOISE[: BLOCK // 2])
    long, short = Xz(preset=1), Xz(preset=1, dictionary_bytes=EXCERPT_BYTES)
    assert len(short.compress(part)) == len(long.compress(part)) < len(part)
    assert short.compress(part) != long.compress(part)  # which names the dictionary


def test_long_block_has_the_fast_size_corrected_by_the_excerpt() -> None:
    xz, fast = Xz(preset=1), Zstd(level=1)
    look = CloserLook(pairs=((xz, fast),), fastest=None)
    block = (TEXT * 40)[:BLOCK]
    part = excerpt(block)
    assert look.at(block) == (
        len(fast.compress(block)) * len(xz.compress(part)) / len(fast.compress(part)),
    )


def test_closer_look_tells_the_size_with_the_fastest_codec_first() -> None:
    block = (TEXT * 40)[:BLOCK]
    assert closer_look().at(block)[0] == len(Zstd(level=1).compress(block))
    assert closer_look().column_names[0] == "zstd"
    assert "zstd" not in closer_look(known="xz").column_names


def test_what_does_not_compress_is_predicted_to_be_as_long_as_it_is() -> None:
    assert closer_look().at(NOISE) == (BLOCK,) * closer_look().columns


@given(length=st.integers(0, BLOCK))
def test_excerpt_takes_pieces_from_the_start_to_the_end(length: int) -> None:
    contents = NOISE[:length]
    part = excerpt(contents)
    piece = EXCERPT_BYTES // EXCERPT_PIECES
    assert len(part) == min(length, EXCERPT_BYTES)
    assert part[:piece] == contents[:piece]
    assert part[-piece:] == contents[-piece:]
    assert all(
        part[at : at + piece] in contents for at in range(0, len(part) - piece, piece)
    )


@pytest.mark.parametrize(
    ("fast", "slow"),
    [(Gzip(1), Gzip()), (Lzo(4), Lzo()), (Lzo(0), Lzo()), (Xz(1), Xz())],
)
def test_fast_codec_is_another_level_of_the_slow_one(
    fast: Gzip | Lzo | Xz, slow: Gzip | Lzo | Xz
) -> None:
    assert len(slow.compress(TEXT)) < len(fast.compress(TEXT)) < len(TEXT)


def test_fast_levels_decompress_to_what_they_were_made_of() -> None:
    for codec in (Gzip(1), Lzo(0), Lzo(4), Xz(1)):
        assert codec.decompress(codec.compress(TEXT), max_bytes=len(TEXT)) == TEXT


@pytest.mark.parametrize(("missing", "columns"), [(Lzo, 2), (Xz, 3)])
def test_codec_without_its_library_is_left_out(
    mocker: MockerFixture, missing: type, columns: int
) -> None:
    mocker.patch.object(missing, "available", new=False)
    assert closer_look().columns == columns


def test_without_libzstd_another_fast_codec_serves(mocker: MockerFixture) -> None:
    mocker.patch.object(Zstd, "available", new=False)
    assert quick_look().at(TEXT) == (len(Gzip(level=1).compress(TEXT)),)
    assert {fast.name for _, fast in closer_look().pairs} == {"gzip", "lzo"}


def test_blocks_are_looked_at_in_the_order_asked_for() -> None:
    payload = make_payload({f"f{n:02}": TEXT[n * 40 :] for n in range(60)})
    layout = lay_out(payload)
    look = closer_look()
    numbers = np.array([50, 3, 17])
    rows = look_at_blocks(payload, layout, numbers, look)
    assert rows.tolist() == [list(look.at(TEXT[n * 40 :])) for n in numbers]


@pytest.mark.parametrize(("known", "columns"), [("xz", 2), ("lzo", 1), ("zstd", 3)])
def test_known_codec_is_not_predicted(known: str, columns: int) -> None:
    look = closer_look(known=known)
    assert look.columns == columns
    assert known not in {closer.name for closer, _ in look.pairs}
