"""Every codec: what it makes of blocks, whole and broken."""

import json
import lzma
from ctypes import create_string_buffer
from hashlib import shake_128
from typing import get_args
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from snapcraft_compression_advisor.codecs import CODECS, READERS, CompressorName
from snapcraft_compression_advisor.codecs.codec import (
    DATA_BLOCK_BYTES,
    METADATA_BLOCK_BYTES,
    Codec,
)
from snapcraft_compression_advisor.core.errors import BadDataError
from snapcraft_compression_advisor.report.document import schema_text

MAX_BLOCK_BYTES = 1024 * 1024
COMPRESSING = get_args(CompressorName)

NOISE = shake_128(b"noise").digest(MAX_BLOCK_BYTES)
WORDS = [b"block ", b"inode ", b"tail ", b"\0\0\0\0", b"directory ", b"0x7f"]
TEXT = b"".join(WORDS[byte % 6] for byte in NOISE)[:MAX_BLOCK_BYTES]

raw_blocks = st.one_of(
    st.binary(min_size=1, max_size=2000),
    st.builds(
        lambda chunk, times: chunk * times,
        st.binary(min_size=1, max_size=300),
        st.integers(1, 400),
    ),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3000).map(b"".join),
)


@pytest.mark.parametrize("name", ["report", "measure"])
def test_contracts_know_every_codec(name: str) -> None:
    names = json.loads(schema_text(name))["$defs"]["CodecName"]["enum"]
    assert names == list(CODECS)


def present(name: str) -> Codec:
    codec = CODECS[name]
    if not codec.available:
        pytest.skip(f"{codec.implementation}")
    return codec


def legacy_lzma(contents: bytes) -> bytes:
    """Return an LZMA-alone block with its length in the header, as squashfs has it."""
    stream = lzma.compress(contents, lzma.FORMAT_ALONE)
    return stream[:5] + len(contents).to_bytes(8, "little") + stream[13:]


@pytest.mark.parametrize("name", CODECS)
@given(block=raw_blocks)
def test_a_block_comes_back_from_its_compressed_form(name: str, block: bytes) -> None:
    codec = present(name)
    written = codec.compress(block)
    if len(written) == len(block):
        assert written == block
    else:
        assert len(written) < len(block)
        assert codec.decompress(written, max_bytes=len(block)) == block


@pytest.mark.parametrize("name", COMPRESSING)
@pytest.mark.parametrize(
    "size", [4096, 5001, METADATA_BLOCK_BYTES, DATA_BLOCK_BYTES, MAX_BLOCK_BYTES]
)
def test_blocks_of_every_size_that_squashfs_has_shrink_and_come_back(
    name: str, size: int
) -> None:
    codec = present(name)
    written = codec.compress(TEXT[:size], block_bytes=max(size, 4096))
    assert len(written) < size * 3 // 4
    assert codec.decompress(written, max_bytes=MAX_BLOCK_BYTES) == TEXT[:size]


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("size", [0, 1, 2, 17, 4096, DATA_BLOCK_BYTES])
def test_a_block_that_does_not_shrink_is_stored_as_it_is(name: str, size: int) -> None:
    assert present(name).compress(NOISE[:size]) == NOISE[:size]


@pytest.mark.parametrize("name", CODECS)
def test_compressing_again_in_the_same_thread_gives_the_same_bytes(name: str) -> None:
    codec = present(name)
    first = codec.compress(TEXT[:70_000])
    codec.compress(NOISE[:DATA_BLOCK_BYTES])
    codec.compress(TEXT[100:400])
    assert codec.compress(TEXT[:70_000]) == first


def dictionary_code(stream: bytes) -> int:
    """Return the one property of the LZMA2 filter, from the block header."""
    header = stream[12 : 12 + 4 * (stream[12] + 1)]
    return header[header.index(b"\x21\x01") + 2]


@pytest.mark.parametrize("block_bytes", [4096, 8192, DATA_BLOCK_BYTES])
def test_the_dictionary_of_xz_is_a_full_block_also_for_a_tail(block_bytes: int) -> None:
    written = present("xz").compress(TEXT[:3000], block_bytes=block_bytes)
    assert 1 << dictionary_code(written) // 2 + 12 == block_bytes


@pytest.mark.parametrize("name", [*CODECS, "lzma"])
def test_contents_longer_than_allowed_are_refused(name: str) -> None:
    contents = bytes(50_000)
    written = legacy_lzma(contents) if name == "lzma" else None
    codec = CODECS["none"] if name == "none" else READERS[name]
    block = written or present(name).compress(contents)
    assert codec.decompress(block, max_bytes=50_000) == contents
    with pytest.raises(BadDataError, match=f"not valid {name} data"):
        codec.decompress(block, max_bytes=49_999)


@pytest.mark.parametrize("name", ["lzo", "zstd", "lz4"])
def test_nothing_is_written_past_the_allowed_length(
    name: str, mocker: MockerFixture
) -> None:
    codec = present(name)
    block = codec.compress(TEXT[:100_000])
    buffer = create_string_buffer(b"\xa5" * 100_000)
    mocker.patch("ctypes.create_string_buffer", return_value=buffer)
    with pytest.raises(BadDataError):
        codec.decompress(block, max_bytes=1000)
    assert buffer.raw[1000:100_000] == b"\xa5" * 99_000


@pytest.mark.parametrize("name", [*COMPRESSING, "lzma"])
@settings(max_examples=300)
@given(junk=st.binary(max_size=300), max_bytes=st.integers(0, 9000))
def test_junk_is_refused_or_stays_within_the_allowed_length(
    name: str, junk: bytes, max_bytes: int
) -> None:
    reader = READERS[name]
    try:
        contents = reader.decompress(junk, max_bytes=max_bytes)
    except BadDataError:
        return
    assert len(contents) <= max_bytes


@pytest.mark.parametrize("name", COMPRESSING)
@given(data=st.data())
def test_a_flipped_bit_is_refused_or_stays_within_the_allowed_length(
    name: str, data: st.DataObject
) -> None:
    codec = present(name)
    block = bytearray(codec.compress(TEXT[:6000]))
    position = data.draw(st.integers(0, len(block) - 1))
    block[position] ^= 1 << data.draw(st.integers(0, 7))
    try:
        contents = codec.decompress(bytes(block), max_bytes=6000)
    except BadDataError:
        return
    assert len(contents) <= 6000


@pytest.mark.parametrize("name", [*COMPRESSING, "lzma"])
def test_a_block_cut_short_anywhere_is_refused(name: str) -> None:
    legacy = name == "lzma"
    text = TEXT[:4000]
    block = legacy_lzma(text) if legacy else present(name).compress(text)
    for length in range(len(block) - 20 * legacy):
        try:
            contents = READERS[name].decompress(block[:length], max_bytes=4000)
        except BadDataError:
            continue
        # lz4 has no end marker: a cut behind literals looks like an end.
        assert name == "lz4"
        assert len(contents) < 4000


def test_an_xz_block_with_bytes_behind_the_stream_is_refused() -> None:
    block = present("xz").compress(TEXT[:4000])
    with pytest.raises(BadDataError, match="xz") as caught:
        CODECS["xz"].decompress(block + b"\0", max_bytes=4000)
    assert caught.value.details == "bytes follow the stream"


def test_an_xz_dictionary_of_a_gigabyte_is_refused() -> None:
    options = {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 20}
    block = bytearray(lzma.compress(b"x", check=lzma.CHECK_CRC32, filters=[options]))
    block[12 + 4] = 36  # 2**30
    block[12 + 8 : 12 + 12] = crc32(block[12 : 12 + 8]).to_bytes(4, "little")
    with pytest.raises(BadDataError) as caught:
        CODECS["xz"].decompress(bytes(block), max_bytes=4000)
    assert "emory" in str(caught.value.details)


@given(contents=raw_blocks)
def test_a_legacy_lzma_block_is_read(contents: bytes) -> None:
    reader = READERS["lzma"]
    block = legacy_lzma(contents)
    assert reader.decompress(block, max_bytes=len(contents)) == contents
    assert reader.decompress(block, max_bytes=MAX_BLOCK_BYTES) == contents
