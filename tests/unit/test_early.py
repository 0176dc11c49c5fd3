"""Blocks that are tried before they are drawn."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from payloads import make_payload
from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.core.errors import StorageError
from snapcraft_compression_advisor.payload.layout import lay_out
from snapcraft_compression_advisor.trial import early as early_module
from snapcraft_compression_advisor.trial import partial as partial_module
from snapcraft_compression_advisor.trial.early import EarlyTries, likely_blocks
from snapcraft_compression_advisor.trial.kept import compressed_bytes
from snapcraft_compression_advisor.trial.phase import draw_lots
from snapcraft_compression_advisor.trial.sampled import run_sampled_trial

if TYPE_CHECKING:
    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.trial.result import TrialResult

CHANCE = random.Random(8)
WORDS = [CHANCE.randbytes(6) for _ in range(500)]


def text(length: int) -> bytes:
    return b"".join(CHANCE.choices(WORDS, k=length // 6 + 1))[:length]


FILES = {f"lib/long{n}": text(2_500_000) for n in range(3)}
FILES |= {f"share/short{n}": text(40_000) for n in range(60)}


@pytest.fixture(scope="module")
def payload() -> Payload:
    return make_payload(FILES)


def trial(payload: Payload) -> TrialResult:
    return run_sampled_trial(
        payload,
        wanted=lambda: (),
        progress=lambda _: None,
        decided=lambda _: True,
    )


@pytest.mark.parametrize("seed", range(4))
def test_likely_blocks_are_those_of_long_files_that_are_drawn(
    payload: Payload, seed: int
) -> None:
    layout = lay_out(payload)
    lots = draw_lots(layout, seed) / layout.raw_bytes()
    drawn = [layout.block(n) for n in np.argsort(lots, kind="stable").tolist()]
    likely = likely_blocks(payload, 24, seed)
    assert 16 <= len(likely) <= 24
    assert set(likely) <= set(drawn[:30])
    assert all(place.path.startswith("lib/") for place in likely)


def test_result_is_the_same_as_without(payload: Payload, mocker: MockerFixture) -> None:
    found = trial(payload)
    mocker.patch.object(early_module, "likely_blocks", return_value=[])
    assert trial(payload).codecs == found.codecs


def test_no_block_is_tried_twice(payload: Payload, mocker: MockerFixture) -> None:
    early = mocker.spy(early_module, "compressed_bytes")
    late = mocker.spy(partial_module, "compressed_bytes")
    trial(payload)
    asked = [
        (call.args[0]._block, call.args[1].name)
        for call in (*early.call_args_list, *late.call_args_list)
    ]
    assert early.call_count
    assert len(set(asked)) == len(asked)


def test_what_did_not_begin_is_left_to_the_trial(
    payload: Payload, mocker: MockerFixture
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait(*args: object) -> int:
        begun.set()
        assert go_on.wait(60)
        return compressed_bytes(*args)  # type: ignore[arg-type]

    mocker.patch.object(early_module, "compressed_bytes", wait)
    first, second, *_ = likely_blocks(payload, 24, 0)
    with EarlyTries(payload, ["lz4"], count=24, seed=0) as early:
        assert begun.wait(60)
        assert early.size(second, "lz4") is None
        assert early.size(first, "xz") is None
        go_on.set()
        contents = payload.read(first.path, offset=first.offset, length=131_072)
        assert early.size(first, "lz4") == len(CODECS["lz4"].compress(contents))


def test_file_that_became_shorter_is_named(
    payload: Payload, mocker: MockerFixture
) -> None:
    begun = threading.Event()
    (first, *_) = likely_blocks(payload, 24, 0)

    def read(*_: object, **__: object) -> bytes:
        begun.set()
        return b""

    mocker.patch.object(payload, "read", read)
    with EarlyTries(payload, ["lz4"], count=24, seed=0) as early:
        assert begun.wait(60)
        with pytest.raises(StorageError, match="shorter"):
            early.size(first, "lz4")


def test_payload_without_long_files_has_none() -> None:
    assert not likely_blocks(make_payload({"a": b"short", "empty": b""}), 24, 0)
