"""Libraries of codecs, and the threads that call them."""

import threading
import zlib
from collections.abc import Generator, Iterable, Iterator
from ctypes import c_char_p, c_int
from hashlib import shake_128

import pytest
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.codecs import CODECS, xz
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES, Codec, Identity
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.library import Library
from snapcraft_compression_advisor.codecs.lz4 import Lz4
from snapcraft_compression_advisor.codecs.lzo import Lzo
from snapcraft_compression_advisor.codecs.xz import Xz
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.core.errors import ToolError
from snapcraft_compression_advisor.trial.look import map_in_order

LIBRARIES = (Xz.library, Lzo.library, Gzip.library, Zstd.library, Lz4.library)
TEXT = b"a block of words, and words again, " * 300


def fresh(mocker: MockerFixture, cdll: object) -> None:
    """Make every library load again, through something else than the loader.

    What is made with that isn't kept for other tests.
    """
    mocker.patch("ctypes.CDLL", cdll)
    mocker.patch.object(xz, "_filters", xz._filters.__wrapped__)
    for library in LIBRARIES:
        mocker.patch.dict(vars(library))
        for name in ("_loaded", "functions"):
            vars(library).pop(name, None)


@pytest.fixture
def no_libraries(mocker: MockerFixture) -> None:
    missing = OSError("liblost.so.1: cannot open shared object file")
    fresh(mocker, mocker.Mock(side_effect=missing))


@pytest.mark.usefixtures("no_libraries")
@pytest.mark.parametrize("name", ["xz", "lzo", "zstd", "lz4"])
def test_a_codec_without_its_library_is_unavailable_and_says_so(name: str) -> None:
    codec = CODECS[name]
    assert not codec.available
    assert not codec.exact
    assert codec.implementation.endswith(", missing")


@pytest.mark.usefixtures("no_libraries")
@pytest.mark.parametrize(
    ("name", "package"),
    [("xz", "liblzma5"), ("lzo", "liblzo2-2"), ("zstd", "libzstd1")],
)
def test_using_a_missing_library_names_it_and_its_package(
    name: str, package: str
) -> None:
    with pytest.raises(ToolError, match=r"lib\w+\.so\.\d can't be loaded") as caught:
        CODECS[name].compress(TEXT)
    assert "cannot open shared object" in str(caught.value.details)
    assert package in str(caught.value.resolution)


@pytest.mark.usefixtures("no_libraries")
def test_without_libz_gzip_works_but_does_not_claim_to_be_exact() -> None:
    codec = CODECS["gzip"]
    assert codec.available
    assert not codec.exact
    assert codec.implementation.endswith("Python's own")
    assert codec.compress(TEXT) == zlib.compress(TEXT, 9)


def test_gzip_is_not_exact_where_python_s_zlib_is_another_version(
    mocker: MockerFixture,
) -> None:
    mocker.patch.object(zlib, "ZLIB_RUNTIME_VERSION", "1.3.1.zlib-ng")
    assert not CODECS["gzip"].exact
    assert CODECS["gzip"].implementation == "zlib 1.3.1.zlib-ng, Python's own"


@pytest.mark.parametrize("name", ["lzo", "zstd", "lz4", "xz"])
def test_a_library_is_named_with_its_version(name: str) -> None:
    codec = CODECS[name]
    if not codec.exact:
        pytest.skip(codec.implementation)
    title, version = codec.implementation.split()
    assert title.startswith("lib")
    assert [part.isdigit() for part in version.split(".")][:2] == [True, True]


def test_a_library_too_old_for_a_function_counts_as_missing() -> None:
    library = Library(
        "libc.so.6",
        package="libc6",
        version="gnu_get_libc_version",
        functions={"no_such_function": (c_int, (c_char_p,))},
    )
    assert not library.available
    with pytest.raises(ToolError) as caught:
        library.functions.no_such_function()
    assert "no_such_function" in str(caught.value.details)


@pytest.mark.parametrize("name", ["xz", "lzo", "zstd"])
def test_a_failure_inside_a_library_is_a_tool_error(
    name: str, mocker: MockerFixture
) -> None:
    library = mocker.MagicMock()
    library.lzma_stream_buffer_encode.return_value = 5  # LZMA_MEM_ERROR
    library.lzo1x_999_compress_level.return_value = -2  # LZO_E_OUT_OF_MEMORY
    library.ZSTD_getErrorCode.return_value = 64  # ZSTD_error_memory_allocation
    library.ZSTD_getErrorName.return_value = b"Allocation error"
    fresh(mocker, mocker.Mock(return_value=library))
    with pytest.raises(ToolError, match="failed to compress"):
        CODECS[name].compress(TEXT, block_bytes=65536)
    library.lzo1x_999_compress_level.return_value = 0
    library.lzo1x_optimize.return_value = -5
    with pytest.raises(ToolError, match="failed to compress"):
        CODECS[name].compress(TEXT, block_bytes=65536)


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
