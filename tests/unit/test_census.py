"""Every block with a predicting size."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from payloads import make_payload
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.core.errors import StorageError
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.trial import census as census_module
from snapcraft_compression_advisor.trial.census import take_census
from snapcraft_compression_advisor.trial.look import quick_look

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

BLOCK = 128 * 1024
NOISE = random.Random(5).randbytes(1000)
TEXT = b"the same words again and again " * 10_000


def test_blocks_have_the_size_that_a_quick_look_gives() -> None:
    payload = make_payload({"noise": NOISE, "text": TEXT})
    blocks = take_census(payload, lay_out(payload)).blocks
    assert blocks.raw_bytes.tolist() == [1000, BLOCK, BLOCK, len(TEXT) - 2 * BLOCK]
    parts = (TEXT[:BLOCK], TEXT[BLOCK : 2 * BLOCK], TEXT[2 * BLOCK :])
    sizes = (blocks.ratios[:, 0] * blocks.raw_bytes).tolist()
    looked = [quick_look().at(each)[0] for each in parts]
    assert sizes == pytest.approx([1000, *looked])


def test_small_payload_is_one_phase() -> None:
    payload = make_payload({"noise": NOISE})
    assert len(take_census(payload, lay_out(payload)).phases) == 1


def test_blocks_of_zeros_are_told_apart_and_take_no_room() -> None:
    zeros = bytes(BLOCK)
    payload = make_payload({"noise": NOISE, "zeros": zeros + b"x" + zeros})
    census = take_census(payload, lay_out(payload))
    assert census.blocks.zeros.tolist() == [False, True, False, True]
    assert census.raw_bytes == len(NOISE) + BLOCK


def test_without_libzstd_another_fast_codec_serves(mocker: MockerFixture) -> None:
    mocker.patch.object(Zstd, "available", new=False)
    payload = make_payload({"text": TEXT, "zeros": bytes(10)})
    blocks = take_census(payload, lay_out(payload)).blocks
    assert blocks.ratios.shape == (len(blocks.members), 1)
    assert (blocks.ratios < 1).all()


def test_large_payload_is_looked_at_in_part(mocker: MockerFixture) -> None:
    mocker.patch.object(census_module, "MOST_BYTES", 50_000)
    payload = make_payload({f"f{n}": NOISE[n:] for n in range(100)})
    census = take_census(payload, lay_out(payload), spread_blocks=20)
    blocks = census.blocks
    assert len(blocks.members) == 20
    assert not blocks.complete
    assert len(census.phases[0].members) == 100
    assert (blocks.weights * blocks.raw_bytes).sum() == pytest.approx(
        payload.inventory.raw_bytes, rel=0.02
    )
    assert census.raw_bytes == payload.inventory.raw_bytes


def test_file_that_became_shorter_is_an_error() -> None:
    payload = make_payload({"text": TEXT})
    layout = lay_out(payload)
    payload.files = {"text": TEXT[:-1]}
    with pytest.raises(StorageError, match="'text' became shorter"):
        take_census(payload, layout)


def test_empty_payload_has_an_empty_census() -> None:
    payload = make_payload({"empty": b""})
    assert len(take_census(payload, lay_out(payload)).blocks.members) == 0
