"""The thread pool: order, bounds, errors."""

from __future__ import annotations

import threading
from hashlib import shake_128
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.codecs import CODECS
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES, Identity
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.trial.look import map_in_order

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from pytest_mock import MockerFixture

    from snapcraft_compression_advisor.codecs.codec import Codec

WAIT_S = 60
"""After which a test that would wait for ever fails."""
GZIP, NONE = CODECS["gzip"], CODECS["none"]
NOISE = shake_128(b"noise").digest(40_000)
BLOCKS = [
    NOISE[:40_000],
    bytes(20_000),
    *(NOISE[:length] + bytes(length) for length in range(100, 6000, 200)),
    b"x",
]


class Failing(Identity):
    """A codec whose library fails at blocks of two bytes."""

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        if len(block) == 2:
            message = "the library failed"
            raise ToolError(message)
        return super().compress(block, block_bytes=block_bytes)


class Recording(Identity):
    """A codec that notes the threads that call it."""

    def __init__(self) -> None:
        self.threads: list[str] = []

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        self.threads.append(threading.current_thread().name)
        return super().compress(block, block_bytes=block_bytes)


def pool_threads() -> list[str]:
    return [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith("codecs")
    ]


def compress(
    blocks: Iterable[bytes], codec: Codec, *, workers: int | None = None
) -> Generator[bytes, None, None]:
    return map_in_order(codec.compress, blocks, workers=workers)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_blocks_whatever_the_workers(
    workers: int,
) -> None:
    expected = [GZIP.compress(block) for block in BLOCKS]
    assert list(compress(BLOCKS, GZIP, workers=workers)) == expected


def test_no_blocks_give_no_results() -> None:
    assert list(compress([], GZIP)) == []


def test_blocks_are_compressed_in_threads_of_the_pool() -> None:
    codec = Recording()
    list(compress(BLOCKS, codec, workers=2))
    assert all(name.startswith("codecs") for name in codec.threads)
    assert len(codec.threads) == len(BLOCKS)


def test_only_a_few_blocks_for_each_worker_are_taken_ahead_of_the_results() -> None:
    taken = 0

    def blocks() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(200):
            taken += 1
            yield b"block"

    ahead = []
    for done, _ in enumerate(compress(blocks(), NONE, workers=3), start=1):
        ahead.append(taken - done)
    assert taken == 200
    assert max(ahead) == 12


def test_by_default_each_core_of_the_process_gets_a_worker(
    mocker: MockerFixture,
) -> None:
    mocker.patch("os.sched_getaffinity", return_value={0, 2, 5})
    together = threading.Barrier(3, timeout=WAIT_S)  # passes if three come

    class Waiting(Recording):
        def compress(
            self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES
        ) -> bytes:
            together.wait()
            return super().compress(block, block_bytes=block_bytes)

    codec = Waiting()
    list(compress([b"block"] * 9, codec))
    assert len(set(codec.threads)) == 3


def test_a_codec_s_error_comes_in_its_place_and_ends_the_pool() -> None:
    sizes = compress([b"1", b"1", b"22", b"1"], Failing(), workers=2)
    assert [next(sizes), next(sizes)] == [b"1", b"1"]
    with pytest.raises(ToolError, match="the library failed"):
        next(sizes)
    assert pool_threads() == []
    assert list(sizes) == []


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_of_the_block_source_passes_through_and_ends_the_pool(
    error: type[BaseException],
) -> None:
    def blocks() -> Iterator[bytes]:
        yield b"block"
        raise error

    with pytest.raises(error):
        list(compress(blocks(), NONE, workers=2))
    assert pool_threads() == []


def test_an_interrupt_while_waiting_drops_the_waiting_blocks(
    mocker: MockerFixture,
) -> None:
    mocker.patch("concurrent.futures.Future.result", side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        next(compress(BLOCKS, NONE, workers=2))
    assert pool_threads() == []


def test_a_caller_that_stops_early_drops_the_waiting_blocks() -> None:
    codec = Recording()
    sizes = compress([b"block"] * 1000, codec, workers=2)
    next(sizes)
    sizes.close()
    assert pool_threads() == []
    assert len(codec.threads) <= 9
