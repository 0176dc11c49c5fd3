"""What archives hold, so that equal contents are known under different bytes."""

from __future__ import annotations

import bz2
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from typing import Any, Protocol

from ..core.frozen import frozen
from ..core.units import MIB

UNPACKED_LIMIT_BYTES = 64 * MIB
"""What one compressed stream may hold; larger ones aren't compared."""
_MOST_MEMBERS = 100_000
_DEEPEST = 64
_ASAR_PREFIX_BYTES = 16
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    KeyError,
    TypeError,
    NotImplementedError,
    RecursionError,
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

    Known are zip (jar, wheel, egg), Electron's asar, and what gzip, bzip2 or xz made. A
    broken one is none.
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


def _asar(contents: bytes) -> Archive | None:
    """Read the header of an asar: lengths of its parts, then JSON."""
    whole, length = struct.unpack_from("<4xI4xI", contents)
    start = 8 + whole
    header = json.loads(contents[_ASAR_PREFIX_BYTES : _ASAR_PREFIX_BYTES + length])
    members: dict[str, object] = {}
    for name, item in _asar_files(header, "", 0):
        if len(members) > _MOST_MEMBERS:
            return None
        size = item.get("size", 0)
        if "offset" in item:
            begin = start + int(item["offset"])
            data = contents[begin : begin + size]
            members[name] = (zlib.crc32(data), size)
        else:  # a link, or a file beside the archive
            members[name] = (json.dumps(item, sort_keys=True), size)
    return Archive(members=members, compressed=False)


def _asar_files(
    folder: Mapping[str, Any], path: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if depth > _DEEPEST:
        message = "folders of an asar are too deep"
        raise ValueError(message)
    for name, item in folder["files"].items():
        where = f"{path}/{name}"
        if "files" in item:
            yield from _asar_files(item, where, depth + 1)
        else:
            yield where, item


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
    b"\x04\x00\x00\x00": _asar,
}
_STREAMS: Mapping[bytes, Callable[[bytes], bytes | None]] = {
    b"\x1f\x8b": lambda contents: _bounded(
        zlib.decompressobj(16 + zlib.MAX_WBITS), contents
    ),
    b"BZh": lambda contents: _bounded(bz2.BZ2Decompressor(), contents),
    b"\xfd7zXZ\x00": lambda contents: _bounded(lzma.LZMADecompressor(), contents),
}
