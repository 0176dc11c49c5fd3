"""Caches in the forms of GLib, GTK, fontconfig and Python, and payloads with them."""

import hashlib
import struct
from collections.abc import Mapping

from payloads import MemoryPayload, make_payload
from snapcraft_compression_advisor.payload.caches import Tree
from snapcraft_compression_advisor.payload.inventory import Inventory


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


def hashed_bytecode() -> bytes:
    """Return the header of bytecode that is checked by a hash."""
    return b"\xa7\r\r\n" + struct.pack("<I", 3) + bytes(8)
