"""What a zstd frame consists of."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.trial.zstd_frame import frame_parts

FAST = Zstd(level=1)


def words(count: int, *, different: int) -> bytes:
    rng = random.Random(1)
    vocabulary = [rng.randbytes(rng.randint(2, 12)) for _ in range(different)]
    return b" ".join(rng.choice(vocabulary) for _ in range(count))


@pytest.mark.parametrize("level", [1, 3, 15])
@pytest.mark.parametrize(
    "contents",
    [
        b"a" * 131_072,
        b"ab" * 60,
        bytes(range(256)) * 512,
        words(12_000, different=3000),
        words(300, different=20),
        random.Random(2).randbytes(60_000) + bytes(71_072),
        b"".join(number.to_bytes(4, "little") for number in range(32_768)),
    ],
)
def test_parts_add_up_to_the_frame(level: int, contents: bytes) -> None:
    frame = Zstd(level=level).compress(contents)
    parts = frame_parts(frame)
    # The frame's header has 5 to 9 bytes here, each block's 3.
    rest = len(frame) - parts.literal_bytes - parts.sequence_bytes
    assert 8 <= rest <= 9 + 3 * 8
    assert 0 <= parts.literals <= len(contents)
    assert parts.literals or parts.sequences


def test_repeats_are_sequences_and_noise_is_literals() -> None:
    text = frame_parts(FAST.compress(words(12_000, different=50)))
    half_noise = frame_parts(
        FAST.compress(random.Random(3).randbytes(65_536) + bytes(65_536))
    )
    assert text.sequences > 1000
    assert half_noise.sequences < 10
    assert half_noise.literals >= 65_536


def test_many_sequences_need_the_long_count() -> None:
    rng = random.Random(4)
    pieces = [rng.randbytes(4) for _ in range(64)]
    contents = b"".join(rng.choice(pieces) for _ in range(32_768))
    assert frame_parts(FAST.compress(contents)).sequences > 255


@given(st.binary(min_size=1, max_size=4000), st.integers(min_value=1, max_value=20))
def test_any_frame_of_libzstd_is_understood(piece: bytes, times: int) -> None:
    contents = piece * times
    frame = FAST.compress(contents)
    if len(frame) < len(contents):
        parts = frame_parts(frame)
        assert parts.literal_bytes + parts.sequence_bytes < len(frame)
        assert parts.literals <= len(contents)
