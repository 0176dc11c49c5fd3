"""The files in a compiled GResource bundle, as GLib's ``gvdb`` lays them out."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....payload.inventory import Entry
    from ....payload.source import Payload

RESOURCE_MAX_BYTES = 32 * 1024 * 1024
"""How much of a bundle is looked at."""

MAX_ITEMS = 20_000
"""Files and directories of one bundle."""

MEMBER_MAX_BYTES = 1024 * 1024
"""How much of a file in it is looked at."""

MAX_MEMBERS_BYTES = 16 * 1024 * 1024
"""How much is decompressed of one bundle."""

_MAGIC = b"GVariant"
_HEADER = struct.Struct("<8sIIII")
_TABLE = struct.Struct("<II")
_ITEM = struct.Struct("<IIIHBxII")
_MEMBER = struct.Struct("<II")
_BLOOM_MASK = (1 << 27) - 1
_MAX_DEPTH = 64
_TYPE = b"\0(uuay)"
_COMPRESSED = 1


def resource_files(
    payload: Payload, entry: Entry, suffix: str
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files with a suffix; none if it is broken."""
    content = payload.read(entry.path, offset=0, length=RESOURCE_MAX_BYTES)
    total = 0
    for name, start, end in _members(content):
        if name.endswith(suffix) and total <= MAX_MEMBERS_BYTES:
            member = _member(content[start:end])
            total += len(member)
            yield name, member


def _members(content: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of each file (``gvdb-format.h`` of GLib)."""
    try:
        magic, _, _, start, end = _HEADER.unpack_from(content)
        if magic != _MAGIC:
            return
        bloom_words, buckets = _TABLE.unpack_from(content, start)
        first = start + _TABLE.size + 4 * ((bloom_words & _BLOOM_MASK) + buckets)
        count = min((end - first) // _ITEM.size, MAX_ITEMS)
        items = [
            _ITEM.unpack_from(content, first + _ITEM.size * n) for n in range(count)
        ]
    except struct.error:
        return
    names = _names(content, [(item[1], item[2], item[3]) for item in items])
    for name, item in zip(names, items, strict=True):
        if item[4] == ord("v") and name:
            yield name, item[5], item[6]


def _names(content: bytes, items: list[tuple[int, int, int]]) -> Iterator[str]:
    """Yield the names of items: that of the parent, and what follows."""
    for number in range(len(items)):
        parts: list[bytes] = []
        place = number
        while (
            place < len(items) and len(parts) < _MAX_DEPTH
        ):  # no parent is a large one
            place, start, size = items[place]
            parts.append(content[start : start + size])
        yield b"".join(reversed(parts)).decode(errors="replace")


def _member(value: bytes) -> bytes:
    """Return the content in a value of the type ``(uuay)``: length, flags, bytes."""
    if len(value) < _MEMBER.size or not value.endswith(_TYPE):
        return b""
    size, flags = _MEMBER.unpack_from(value)
    data = value[_MEMBER.size : -len(_TYPE)]
    if not flags & _COMPRESSED:
        return data[: min(size, MEMBER_MAX_BYTES)]
    try:
        return zlib.decompressobj().decompress(data, MEMBER_MAX_BYTES)
    except zlib.error:
        return b""
