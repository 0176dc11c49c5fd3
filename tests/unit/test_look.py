"""Quick looks at blocks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from payloads import make_payload
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.trial.look import (
    Look,
    fastest_look,
    look_at_blocks,
    only_look,
    second_look,
    third_look,
)
from snapcraft_compression_advisor.trial.zstd_frame import frame_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_mock import MockerFixture

WORDS = random.Random(3).choices([b"launch ", b"block ", b"codec ", b"table "], k=900)
TEXT = b"".join(WORDS)


def test_look_gives_a_size_for_each_codec_then_the_frame() -> None:
    frame = Zstd(level=1).compress(TEXT)
    parts = frame_parts(frame)
    look = Look(codecs=(Zstd(level=1), Gzip(level=1)), parts=True)
    assert look.at(TEXT) == (
        len(frame),
        len(Gzip(level=1).compress(TEXT)),
        parts.literals,
        parts.sequences,
        parts.sequence_bytes,
    )


@pytest.mark.parametrize("look", [fastest_look(), second_look(), third_look()])
def test_every_look_has_as_many_figures_as_it_says(look: Look) -> None:
    assert len(look.at(TEXT)) == look.columns
    assert look.at(bytes(100)) == (0,) * look.columns


@pytest.mark.parametrize(
    ("fast", "slow"),
    [(Gzip(1), Gzip()), (Lzo(3), Lzo()), (Lzo(0), Lzo()), (Xz(0), Xz())],
)
def test_fast_codec_is_another_level_of_the_slow_one(
    fast: Gzip | Lzo | Xz, slow: Gzip | Lzo | Xz
) -> None:
    assert len(slow.compress(TEXT)) < len(fast.compress(TEXT)) < len(TEXT)


def test_fast_levels_decompress_to_what_they_were_made_of() -> None:
    for codec in (Gzip(1), Lzo(0), Lzo(3), Xz(0)):
        assert codec.decompress(codec.compress(TEXT), max_bytes=len(TEXT)) == TEXT


def test_codec_without_its_library_is_left_out(mocker: MockerFixture) -> None:
    mocker.patch.object(Lzo, "available", new=False)
    looks: list[Callable[[], Look]] = [second_look, third_look]
    assert [len(make().codecs) for make in looks] == [1, 1]


def test_blocks_are_looked_at_in_the_order_asked_for() -> None:
    payload = make_payload({f"f{n:02}": TEXT[n * 40 :] for n in range(60)})
    layout = lay_out(payload)
    look = second_look()
    numbers = np.array([50, 3, 17])
    rows = look_at_blocks(payload, layout, numbers, look)
    assert rows.tolist() == [list(look.at(TEXT[n * 40 :])) for n in numbers]


@pytest.mark.parametrize("known", ["xz", "lzo"])
def test_only_look_leaves_out_what_foretells_the_known_codec(known: str) -> None:
    names = [codec.name for codec in only_look(known=known).codecs]
    every = [
        codec.name
        for look in (fastest_look(), second_look(), third_look())
        for codec in look.codecs
    ]
    assert names == [name for name in every if name != known]
    assert only_look(known=known).parts == fastest_look().parts
