"""``gschemas.compiled``: all settings' schemas of a directory in one hash table."""

from __future__ import annotations

import posixpath
import re
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..inventory import Entry
from ..tree import Tree
from . import CacheFault, CacheState, cache_fault

COMPILED = "gschemas.compiled"

READERS = ("libgio-2.0", "libgtk-3", "libgtk-4")
"""Libraries that read schemas; GTK does by GIO, which bases have."""

GNOME_CONTENT = ("gnome-",)
"""How the names of content snaps begin that have these libraries."""

# An element's text holds no "<", so that looking for its end ends at the next one.
_ELEMENT = re.compile(
    rb"<(schema|key)\b[^<>]*?\s(?:id|name)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')"
)
_SIGNATURE = b"GVariant"
_HEADER_BYTES = 24
_ITEM = struct.Struct("<IIIHBxII")
_NO_PARENT = 0xFFFFFFFF
_BLOOM_COUNT_MASK = (1 << 27) - 1
_TABLE_KIND = ord("H")
_DEEPEST = 64
_LONGEST_NAME = 1024


def schema_faults(tree: Tree) -> Iterator[CacheFault]:
    """Yield directories of schemas whose compiled form is missing or older.

    GLib reads nothing but the compiled form, so a launcher has to make it first.
    """
    if not tree.has_library(*READERS, content=GNOME_CONTENT):
        return
    for directory in tree.directories():
        if directory.endswith("glib-2.0/schemas"):
            sources = tree.named(directory, ".gschema.xml")
            if sources:
                yield from _faults(tree, directory, sources)


def _faults(
    tree: Tree, directory: str, sources: tuple[Entry, ...]
) -> Iterator[CacheFault]:
    path = posixpath.join(directory, COMPILED)
    state: CacheState = "missing"
    reason = "there are schemas but no compiled form of them"
    if path in tree.entries:
        sources, state = _unknown(tree, path, sources), "stale"
        reason = "schemas or keys of these files are missing from the compiled form"
    if sources:
        yield cache_fault(
            "settings-schemas", state, path, sources, reason, readers=READERS
        )


def _unknown(tree: Tree, path: str, sources: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the files with a schema or key that the compiled form doesn't know."""
    data = tree.contents(tree.file(path))
    if data is None:
        return ()
    try:
        compiled = table_keys(data)
    except BrokenGvdbError:  # written on a machine of another byte order, or foreign
        return ()
    return tuple(each for each in sources if not _knows(compiled, tree, each))


def _knows(compiled: Mapping[str, frozenset[str]], tree: Tree, source: Entry) -> bool:
    text = tree.contents(tree.file(source.path))
    if text is None:
        return True
    known: frozenset[str] | None = frozenset()
    for element in _ELEMENT.finditer(_without_comments(text)):
        name = (element[2] or element[3] or b"").decode("utf-8", "replace")
        if element[1] == b"schema":
            known = compiled.get(name)
            if known is None:
                return False
        elif known is not None and name not in known:
            return False
    return True


def _without_comments(text: bytes) -> bytes:
    kept, *commented = text.split(b"<!--")
    return kept + b"".join(each.partition(b"-->")[2] for each in commented)


class BrokenGvdbError(ValueError):
    """It isn't a GVDB file, or one that contradicts itself."""


class _Item(NamedTuple):
    parent: int
    key: str
    kind: int
    start: int
    end: int


def table_keys(data: bytes) -> dict[str, frozenset[str]]:
    """Return the keys of all tables within a file's root table.

    Of ``gschemas.compiled``: the keys of each schema.

    :raises BrokenGvdbError: where it can't be read.
    """
    if data[:8] != _SIGNATURE or len(data) < _HEADER_BYTES:
        message = "not a GVDB file in this machine's byte order"
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
    """Return a hash table's items; the buckets that lead to them are ignored."""
    try:
        bloom, buckets = struct.unpack_from("<II", data, start)
        first = start + 8 + 4 * (bloom & _BLOOM_COUNT_MASK) + 4 * buckets
        if not start <= first <= end <= len(data):
            raise _broken(start)
        packed = data[first : first + (end - first) // _ITEM.size * _ITEM.size]
        return [
            _Item(
                parent,
                data[key : key + key_size].decode("utf-8", "replace"),
                kind,
                value,
                value_end,
            )
            for _, parent, key, key_size, kind, value, value_end in (
                _ITEM.iter_unpack(packed)
            )
        ]
    except struct.error as error:
        raise _broken(start) from error


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
    return BrokenGvdbError(f"the table at {start} extends past the end")
