"""ELF files with sections, for tests of what stripping takes out."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARED, OBJECT = 3, 1
_ALLOCATED = 2
_HEADER_BYTES, _SECTION_BYTES = 64, 64


def make_sections(
    sections: Mapping[str, bytes],
    *,
    kind: int = SHARED,
    behind: bytes = b"",
    big_endian: bool = False,
) -> bytes:
    """Return a 64-bit ELF file of these sections, one after the other.

    :param sections: contents by name; those that begin with a dot and ``text`` or
        ``data`` are loaded, the others aren't.
    :param kind: of the file, ``e_type``.
    :param behind: what follows the section headers.
    """
    order = ">" if big_endian else "<"
    names, body, headers = b"\0", b"", bytes(_SECTION_BYTES)
    for name, contents in sections.items():
        flags = _ALLOCATED if name.startswith((".text", ".data")) else 0
        headers += struct.pack(
            f"{order}IIQQQQIIQQ",
            len(names), 1, flags, 0, _HEADER_BYTES + len(body), len(contents), 0, 0, 1,
            0,
        )  # fmt: skip
        names += name.encode() + b"\0"
        body += contents
    names += b".shstrtab\0"
    headers += struct.pack(
        f"{order}IIQQQQIIQQ",
        len(names) - 10, 3, 0, 0, _HEADER_BYTES + len(body), len(names), 0, 0, 1, 0,
    )  # fmt: skip
    count = len(sections) + 2
    table_start = _HEADER_BYTES + len(body) + len(names)
    header = b"\x7fELF" + bytes((2, 2 if big_endian else 1, 1)) + bytes(9)
    header += struct.pack(
        f"{order}HHIQQQIHHHHHH",
        kind, 62, 1, 0, 0, table_start, 0, _HEADER_BYTES, 56, 0, _SECTION_BYTES, count,
        count - 1,
    )  # fmt: skip
    return header + body + names + headers + behind
