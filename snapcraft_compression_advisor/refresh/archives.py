"""What archives hold, so that equal contents are known under different bytes."""

from __future__ import annotations

import bz2
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Protocol

from ..core.frozen import frozen
from ..core.units import MIB

UNPACKED_LIMIT_BYTES = 64 * MIB
"""What one compressed stream may hold; larger ones aren't compared."""
_MOST_MEMBERS = 100_000
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    NotImplementedError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""What the standard library raises for an archive that is none."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


@frozen
class Archive:
    """What is equal for archives of equal contents.

    :param members: what tells contents apart, by name.
    :param compressed: whether any member is stored compressed.
    """

    members: Mapping[str, object]
    compressed: bool


def read_archive(contents: bytes) -> Archive | None:
    """Return what a file holds if it is an archive; ``None`` for any other file.

    Known are zip (jar, wheel, egg), and what gzip, bzip2 or xz made. A broken one is
    none.
    """
    read = next((one for magic, one in _READERS.items() if contents[:4] == magic), None)
    if read is None:
        stream = (one for magic, one in _STREAMS.items() if contents.startswith(magic))
        unpack = next(stream, None)
        read = None if unpack is None else _stream_reader(unpack)
    if read is None:
        return None
    try:
        return read(contents)
    except _BROKEN:
        return None


def _zip(contents: bytes) -> Archive | None:
    with zipfile.ZipFile(BytesIO(contents)) as archive:
        items = archive.infolist()
        if len(items) > _MOST_MEMBERS:
            return None
        return Archive(
            members={item.filename: (item.CRC, item.file_size) for item in items},
            compressed=any(item.compress_type != zipfile.ZIP_STORED for item in items),
        )


def _stream_reader(
    unpack: Callable[[bytes], bytes | None],
) -> Callable[[bytes], Archive | None]:
    def read(contents: bytes) -> Archive | None:
        unpacked = unpack(contents)
        if unpacked is None:
            return None
        members = {"": (zlib.crc32(unpacked), len(unpacked))}
        return Archive(members=members, compressed=True)

    return read


def _bounded(decompressor: _Decompressor, contents: bytes) -> bytes | None:
    """Return what a file's one stream holds; ``None`` where that is too much."""
    unpacked = decompressor.decompress(contents, UNPACKED_LIMIT_BYTES)
    whole = decompressor.eof and not decompressor.unused_data
    return unpacked if whole else None


_READERS: Mapping[bytes, Callable[[bytes], Archive | None]] = {
    b"PK\x03\x04": _zip,
}
_STREAMS: Mapping[bytes, Callable[[bytes], bytes | None]] = {
    b"\x1f\x8b": lambda contents: _bounded(
        zlib.decompressobj(16 + zlib.MAX_WBITS), contents
    ),
    b"BZh": lambda contents: _bounded(bz2.BZ2Decompressor(), contents),
    b"\xfd7zXZ\x00": lambda contents: _bounded(lzma.LZMADecompressor(), contents),
}
