"""The thread pool: order, bounds, errors."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import shake_128
from typing import TYPE_CHECKING

import pytest

from snapcraft_compression_advisor.codecs import CODECS, DATA_BLOCK_BYTES
from snapcraft_compression_advisor.codecs import pool as pool_module
from snapcraft_compression_advisor.codecs.identity import Identity
from snapcraft_compression_advisor.codecs.pool import StoredSize, compress_sizes
from snapcraft_compression_advisor.core.errors import ToolError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_mock import MockerFixture

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
    """A codec that notes how it was called."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, str]] = []

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        thread = threading.current_thread().name
        self.calls.append((len(block), block_bytes, thread))
        return block


def pool_threads() -> list[str]:
    return [
        thread.name
        for thread in threading.enumerate()
        if thread.name.startswith("codecs")
    ]


def test_a_size_tells_a_stored_block_from_a_compressed_one() -> None:
    noise, zeros = compress_sizes(BLOCKS[:2], [GZIP, NONE], workers=1)
    stored = StoredSize(stored_bytes=40_000, stored=True)
    assert noise == (stored, stored)
    assert zeros == (
        StoredSize(stored_bytes=len(GZIP.compress(bytes(20_000))), stored=False),
        StoredSize(stored_bytes=20_000, stored=True),
    )


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_sizes_come_in_the_order_of_the_blocks_whatever_the_workers(
    workers: int,
) -> None:
    codecs = [codec for codec in CODECS.values() if codec.available]
    expected = [
        tuple(len(codec.compress(block)) for codec in codecs) for block in BLOCKS
    ]
    sizes = compress_sizes(BLOCKS, codecs, workers=workers)
    assert [tuple(size.stored_bytes for size in row) for row in sizes] == expected


def test_no_blocks_give_no_sizes() -> None:
    assert list(compress_sizes([], [GZIP])) == []


def test_the_block_size_reaches_the_codec() -> None:
    codec = Recording()
    list(compress_sizes([b"metadata"], [codec], block_bytes=8192))
    assert [call[:2] for call in codec.calls] == [(8, 8192)]


def test_blocks_are_compressed_in_threads_of_the_pool() -> None:
    codec = Recording()
    list(compress_sizes(BLOCKS, [codec], workers=2))
    assert all(name.startswith("codecs") for *_, name in codec.calls)
    assert len(codec.calls) == len(BLOCKS)


def test_only_a_few_blocks_for_each_worker_are_taken_ahead_of_the_results() -> None:
    taken = 0

    def blocks() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(200):
            taken += 1
            yield b"block"

    ahead = []
    for done, _ in enumerate(compress_sizes(blocks(), [NONE], workers=3), start=1):
        ahead.append(taken - done)
    assert taken == 200
    assert max(ahead) == 12


def test_by_default_each_core_of_the_process_gets_a_worker(
    mocker: MockerFixture,
) -> None:
    mocker.patch("os.sched_getaffinity", return_value={0, 2, 5})
    pool = mocker.spy(pool_module, "ThreadPoolExecutor")
    list(compress_sizes(BLOCKS, [NONE]))
    assert pool.call_args.args == (3,)


@pytest.mark.parametrize("workers", [0, -1])
def test_less_than_one_worker_is_refused_at_once(workers: int) -> None:
    with pytest.raises(UsageError, match=f"{workers} workers"):
        compress_sizes(BLOCKS, [NONE], workers=workers)


def test_a_codec_s_error_comes_in_its_place_and_ends_the_pool() -> None:
    sizes = compress_sizes([b"1", b"1", b"22", b"1"], [Failing()], workers=2)
    assert [next(sizes)[0].stored_bytes, next(sizes)[0].stored_bytes] == [1, 1]
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
        list(compress_sizes(blocks(), [NONE], workers=2))
    assert pool_threads() == []


def test_an_interrupt_while_waiting_drops_the_waiting_blocks(
    mocker: MockerFixture,
) -> None:
    mocker.patch("concurrent.futures.Future.result", side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        next(compress_sizes(BLOCKS, [NONE], workers=2))
    assert pool_threads() == []


def test_a_caller_that_stops_early_drops_the_waiting_blocks(
    mocker: MockerFixture,
) -> None:
    shutdown = mocker.spy(ThreadPoolExecutor, "shutdown")
    codec = Recording()
    sizes = compress_sizes([b"block"] * 1000, [codec], workers=2)
    next(sizes)
    sizes.close()
    assert shutdown.call_args.kwargs == {"wait": True, "cancel_futures": True}
    assert pool_threads() == []
    assert len(codec.calls) <= 9
