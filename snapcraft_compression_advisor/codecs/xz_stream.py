"""An .xz stream laid out as liblzma's one-call encoder lays it out.

Python's lzma writes streams of another layout: its block header leaves out the two
lengths, which an encoder that doesn't know its whole input can't give. The format is
that of https://tukaani.org/xz/xz-file-format.txt.
"""

from __future__ import annotations

import lzma
from zlib import crc32

_MAGIC = b"\xfd7zXZ\0"
_FOOTER_MAGIC = b"YZ"
_STREAM_FLAGS = b"\0\x01"
"""A null byte, then the check's id: CRC32."""

_BLOCK_FLAGS = 0xC0
"""One filter; both lengths are present."""

_LZMA2 = 0x21
PRESET = 6


def xz_stream(contents: bytes, *, dictionary_bytes: int, preset: int = PRESET) -> bytes:
    """Return the stream of one block.

    :param contents: what to compress, 1 byte or more.
    :param dictionary_bytes: 4096 bytes or more.
    :param preset: of liblzma, 0 to 9.
    """
    options = {
        "id": lzma.FILTER_LZMA2,
        "preset": preset,
        "dict_size": dictionary_bytes,
    }
    compressed = lzma.compress(contents, lzma.FORMAT_RAW, filters=[options])
    header = _block_header(len(compressed), len(contents), dictionary_bytes)
    # The record's length leaves the padding out, hence "unpadded".
    unpadded_bytes = len(header) + len(compressed) + 4
    index = _sealed(b"\0\x01" + _number(unpadded_bytes) + _number(len(contents)))
    footer = (len(index) // 4 - 1).to_bytes(4, "little") + _STREAM_FLAGS
    return b"".join(
        (
            *(_MAGIC, _STREAM_FLAGS, _crc(_STREAM_FLAGS)),
            *(header, _padded(compressed), _crc(contents)),
            index,
            *(_crc(footer), footer, _FOOTER_MAGIC),
        )
    )


def _block_header(
    compressed_bytes: int, contents_bytes: int, dictionary_bytes: int
) -> bytes:
    filters = bytes((_LZMA2, 1, _dictionary_code(dictionary_bytes)))
    lengths = _number(compressed_bytes) + _number(contents_bytes)
    # liblzma reserves the header before it compresses, for a block that doesn't
    # shrink. The few bytes that it then even grows by never change the header's
    # length, which is rounded up, for blocks of up to 1 MiB.
    reserved = 2 + 2 * len(_number(contents_bytes)) + len(filters)
    length = (reserved + 3) // 4 * 4 + 4
    fields = bytes((length // 4 - 1, _BLOCK_FLAGS)) + lengths + filters
    return _sealed(fields.ljust(length - 4, b"\0"))


def _dictionary_code(dictionary_bytes: int) -> int:
    """Return the code of the smallest size 2**n or 2**n + 2**(n - 1) that holds it."""
    code = 0
    while (2 | code & 1) << code // 2 + 11 < dictionary_bytes:
        code += 1
    return code


def _number(value: int) -> bytes:
    """Return a multibyte integer: 7 bits a byte, the lowest first."""
    digits = bytearray()
    while value > 0x7F:  # noqa: PLR2004 -- the 7 bits that a byte carries
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*digits, value))


def _padded(field: bytes) -> bytes:
    return field + bytes(-len(field) % 4)


def _sealed(field: bytes) -> bytes:
    padded = _padded(field)
    return padded + _crc(padded)


def _crc(field: bytes) -> bytes:
    return crc32(field).to_bytes(4, "little")
