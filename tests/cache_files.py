"""Caches in the forms of GLib, GTK, fontconfig and Python, and payloads with them."""

from __future__ import annotations

import hashlib
import importlib.util
import struct
from typing import TYPE_CHECKING

from payloads import make_payload
from snapcraft_compression_advisor.payload.inventory import Inventory
from snapcraft_compression_advisor.payload.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from payloads import MemoryPayload

_NO_PARENT = 0xFFFFFFFF


def make_tree(  # noqa: PLR0913 # keywords, each with a default
    files: Mapping[str, bytes],
    *,
    built: bool = False,
    times: Mapping[str, int] | None = None,
    base: str = "core24",
    plugs: Mapping[str, object] | None = None,
    layout: Mapping[str, object] | None = None,
) -> Tree:
    """Return the tree of a payload.

    :param built: whether it is a built snap rather than a prime directory.
    :param times: when entries changed, seconds; all others never did.
    """
    payload = make_payload(files, base=base, plugs=plugs, layout=layout)
    return Tree(timed(payload, times or {}, built=built))


def timed(
    payload: MemoryPayload, times: Mapping[str, int], *, built: bool
) -> MemoryPayload:
    """Return a payload whose entries changed at these times."""
    payload.kind = "snap" if built else "prime"
    payload.inventory = Inventory.of(
        entry._replace(modified_s=times.get(entry.path, 0))
        for entry in payload.inventory.entries.values()
    )
    return payload


def schema(name: str, *keys: str) -> bytes:
    """Return a schema's XML."""
    lines = "".join(f'<key name="{key}" type="b"></key>\n' for key in keys)
    text = f"<schemalist><schema path='/x/' id='{name}'>\n{lines}</schema></schemalist>"
    return text.encode()


def compiled_schemas(schemas: Mapping[str, Sequence[str]]) -> bytes:
    """Return ``gschemas.compiled`` of schemas and their keys."""
    header = b"GVariant" + struct.pack("<II", 0, 0)
    root_start = len(header) + 8
    table_bytes = 12 + 24 * len(schemas)
    body = b""
    body_start = root_start + table_bytes
    items = b""
    for name, keys in schemas.items():
        key_start = body_start + len(body)
        body += name.encode()
        start = body_start + len(body)
        end = start + 12 + 24 * len(keys)
        body += _table_of_values(keys, end) + "".join(keys).encode()
        items += _item(key_start, len(name), "H", start, end)
    root = struct.pack("<III", 0, 1, 0) + items
    root_end = root_start + len(root)
    return header + struct.pack("<II", root_start, root_end) + root + body


def _table_of_values(keys: Sequence[str], names_start: int) -> bytes:
    """Return a table whose keys' names stand one after the other at a place."""
    items = b""
    for key in keys:
        items += _item(names_start, len(key), "v", 0, 0)
        names_start += len(key)
    return struct.pack("<III", 0, 1, 0) + items


def _item(key_start: int, key_size: int, kind: str, start: int, end: int) -> bytes:
    return struct.pack(
        "<IIIHBxII", 0, _NO_PARENT, key_start, key_size, ord(kind), start, end
    )


def icon_cache(*names: str) -> bytes:
    """Return an ``icon-theme.cache`` with these icons, all in one bucket."""
    head = struct.pack(">HHII", 1, 0, 12, 12)
    table = struct.pack(">I", 1)
    first = 12 + 8
    entries, texts = b"", b""
    texts_start = first + 12 * len(names)
    for number, name in enumerate(names):
        last = number == len(names) - 1
        following = 0xFFFFFFFF if last else first + 12 * (number + 1)
        entries += struct.pack(">III", following, texts_start + len(texts), 0)
        texts += name.encode() + b"\0"
    start = first if names else 0xFFFFFFFF
    return head + table + struct.pack(">I", start) + entries + texts


def font_cache_name(directory: str) -> str:
    """Return the path of a directory's cache."""
    name = hashlib.md5(directory.encode(), usedforsecurity=False).hexdigest()
    return f"var/cache/fontconfig/{name}-le64.cache-8"


def font_cache(seconds: int, nanoseconds: int = 0) -> bytes:
    """Return the head of a directory's cache."""
    return struct.pack(
        "<IiqqqixxxxqixxxxQ", 0xFC02FC04, 8, 64, 64, 0, 0, 64, seconds, nanoseconds
    )


def bytecode(source: bytes, *, modified_s: int = 0) -> bytes:
    """Return the header of a source's bytecode, checked by time and length."""
    return b"\xa7\r\r\n" + struct.pack("<III", 0, modified_s, len(source))


def hashed_bytecode(source: bytes, *, checked: bool = True) -> bytes:
    """Return the header of a source's bytecode, checked by a hash, or not at all."""
    flags = struct.pack("<I", 3 if checked else 1)
    return b"\xa7\r\r\n" + flags + importlib.util.source_hash(source)
