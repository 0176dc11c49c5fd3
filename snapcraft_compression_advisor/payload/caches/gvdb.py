"""GVDB files, GLib's hash tables on disk: the form of ``gschemas.compiled``.

The layout is that of GLib's ``gio/gvdb/gvdb-format.h``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_SIGNATURE = b"GVariant"
_HEADER_BYTES = 24
_ITEM = struct.Struct("<IIIHBxII")
_NO_PARENT = 0xFFFFFFFF
_BLOOM_COUNT_MASK = (1 << 27) - 1
_TABLE_KIND = ord("H")
_DEEPEST = 64
_LONGEST_NAME = 1024


class BrokenGvdbError(ValueError):
    """It isn't a GVDB file, or one that contradicts itself."""


@dataclass(frozen=True, slots=True)
class _Item:
    parent: int
    key: str
    kind: int
    start: int
    end: int


def table_keys(data: bytes) -> dict[str, frozenset[str]]:
    """Return the keys of all tables within a file's root table.

    Of ``gschemas.compiled``: the keys of each schema.

    :param data: the file.
    :raises BrokenGvdbError: where it can't be read.
    """
    if data[:8] != _SIGNATURE or len(data) < _HEADER_BYTES:
        message = "no GVDB file of this machine's byte order"
        raise BrokenGvdbError(message)
    start, end = struct.unpack_from("<II", data, 16)
    tables = {
        name: item
        for name, item in _named(_items(data, start, end)).items()
        if item.kind == _TABLE_KIND
    }
    if sum(max(0, item.end - item.start) for item in tables.values()) > len(data):
        message = "its tables overlap"
        raise BrokenGvdbError(message)
    return {
        name: frozenset(_named(_items(data, item.start, item.end)))
        for name, item in tables.items()
    }


def _items(data: bytes, start: int, end: int) -> list[_Item]:
    """Return a hash table's items; the buckets that lead to them are passed over."""
    try:
        bloom, buckets = struct.unpack_from("<II", data, start)
        first = start + 8 + 4 * (bloom & _BLOOM_COUNT_MASK) + 4 * buckets
        if not start <= first <= end <= len(data):
            raise _broken(start)
        packed = data[first : first + (end - first) // _ITEM.size * _ITEM.size]
        return [
            _item(data, parent, key_start, key_size, kind, value_start, value_end)
            for _, parent, key_start, key_size, kind, value_start, value_end in (
                _ITEM.iter_unpack(packed)
            )
        ]
    except struct.error as error:
        raise _broken(start) from error


def _item(  # noqa: PLR0913, PLR0917 # one argument a field of the format
    data: bytes,
    parent: int,
    key_start: int,
    key_size: int,
    kind: int,
    value_start: int,
    value_end: int,
) -> _Item:
    key = data[key_start : key_start + key_size].decode("utf-8", "replace")
    return _Item(parent, key, kind, value_start, value_end)


def _named(items: list[_Item]) -> dict[str, _Item]:
    """Return the items by name: a key follows its parent's."""
    named = {}
    for item in items:
        name, parent, steps = item.key, item.parent, 0
        while parent != _NO_PARENT:
            if parent >= len(items) or steps > _DEEPEST or len(name) > _LONGEST_NAME:
                message = "an item's parent is missing or its own child"
                raise BrokenGvdbError(message)
            name = items[parent].key + name
            parent, steps = items[parent].parent, steps + 1
        named[name] = item
    return named


def _broken(start: int) -> BrokenGvdbError:
    return BrokenGvdbError(f"the table at {start} reaches past the end")
