"""ZIP archives in a payload that programs are started from: zipapps, games of LÖVE."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from ....payload.inventory import Entry
    from ....payload.source import Payload

MAX_MEMBERS = 2000
"""Sources read of one archive."""

MEMBER_MAX_BYTES = 1024 * 1024
"""How much of a member is looked at."""

MAX_MEMBERS_BYTES = 16 * 1024 * 1024
"""How much is decompressed of one archive."""

_BROKEN = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, OSError,
    RuntimeError, ValueError,
)  # fmt: skip
"""What :mod:`zipfile` raises on archives that are broken, encrypted or too new."""


def sources_in(payload: Payload, entry: Entry, suffix: str) -> dict[str, bytes]:
    """Return the members with a suffix, by name; none of what isn't an archive."""
    found: dict[str, bytes] = {}
    total = 0
    try:
        with zipfile.ZipFile(
            io.BufferedReader(_PayloadFile(payload, entry))
        ) as archive:
            for info in archive.infolist():
                if not info.filename.endswith(suffix):
                    continue
                with archive.open(info) as member:
                    found[info.filename] = member.read(MEMBER_MAX_BYTES)
                total += len(found[info.filename])
                if len(found) >= MAX_MEMBERS or total > MAX_MEMBERS_BYTES:
                    break
    except _BROKEN:
        return found
    return found


class _PayloadFile(io.RawIOBase):
    """A file of a payload as one that can be read from any place."""

    def __init__(self, payload: Payload, entry: Entry) -> None:
        self._payload = payload
        self._entry = entry
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_CUR: self._position, io.SEEK_END: self._entry.size_bytes}
        self._position = max(0, base.get(whence, 0) + offset)
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        content = self._payload.read(
            self._entry.path, offset=self._position, length=len(view)
        )
        view[: len(content)] = content
        self._position += len(content)
        return len(content)
