"""Which files make a delta large, what happened to them, and what would help."""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

from ..core.units import MIB
from ..payload.source import Payload
from .pairing import pair_files

ChangeKind = Literal["added", "moved", "changed", "recompressed", "timestamp"]
LISTED_FILES = 50
"""Files that are looked into; further ones add next to nothing."""
_LOOK_LIMIT_BYTES = 16 * MIB
_TIMESTAMP_BYTES = 64
"""Files of one length that differ in no more bytes differ in a stamp or an id."""
_GZIP = b"\x1f\x8b"
_BROKEN = (OSError, EOFError, ValueError, NotImplementedError, struct.error)
"""What the standard library raises for an archive that is none."""
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that adds to a delta.

    :param change: ``added``: it has no counterpart; ``moved``: nor has its path, but
        a file that is gone has its name or version; ``recompressed``: an archive
        whose contents are the same; ``timestamp``: of the same length, only some
        bytes differ; else ``changed``.
    :param old_path: of what it was compared with; ``None`` where there is nothing.
    :param delta_bytes: what it adds to the snap-aware delta, estimated.
    """

    path: str
    old_path: str | None
    change: ChangeKind
    delta_bytes: float


def find_changes(
    old: Payload, new: Payload, files: Mapping[str, float]
) -> Sequence[FileChange]:
    """Tell what happened to the files that add most to a delta.

    :param files: what each adds, by path.
    """
    pairs = pair_files(_lengths(old), _lengths(new))
    largest = sorted(files.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        FileChange(
            path=path,
            old_path=pairs.get(path),
            change=_kind(old, new, pairs.get(path), path),
            delta_bytes=delta_bytes,
        )
        for path, delta_bytes in largest[:LISTED_FILES]
    )


def _lengths(payload: Payload) -> dict[str, int]:
    return {
        entry.path: entry.size_bytes
        for entry in payload.inventory.files()
        if entry.size_bytes
    }


def _kind(old: Payload, new: Payload, old_path: str | None, path: str) -> ChangeKind:
    if old_path is None:
        return "added"
    one = _read(old, old_path)
    other = _read(new, path)
    if one is not None and other is not None:
        if _archived(one) is not None and _archived(one) == _archived(other):
            return "recompressed"
        if len(one) == len(other) and _differing(one, other) <= _TIMESTAMP_BYTES:
            return "timestamp"
    return "changed" if old_path == path else "moved"


def _read(payload: Payload, path: str) -> bytes | None:
    """Return a file's contents; ``None`` where it is too large to look into."""
    length = payload.inventory.entries[path].size_bytes
    if length > _LOOK_LIMIT_BYTES:
        return None
    return payload.read(path, offset=0, length=length)


def _differing(one: bytes, other: bytes) -> int:
    """Return in how many bytes two files of one length differ, up to some more."""
    count = 0
    step = 4096
    for start in range(0, len(one), step):
        left, right = one[start : start + step], other[start : start + step]
        if left != right:
            count += sum(a != b for a, b in zip(left, right, strict=True))
            if count > _TIMESTAMP_BYTES:
                break
    return count


def _archived(contents: bytes) -> object | None:
    """Return what is equal for archives of equal contents; ``None`` for no archive."""
    try:
        if contents.startswith(_ZIP):
            with zipfile.ZipFile(BytesIO(contents)) as archive:
                return sorted(
                    (item.filename, item.CRC, item.file_size)
                    for item in archive.infolist()
                )
        if contents.startswith(_GZIP):
            with gzip.open(BytesIO(contents)) as file:
                unpacked = file.read(_LOOK_LIMIT_BYTES)
            return zlib.crc32(unpacked), len(unpacked)
    except (*_BROKEN, zipfile.BadZipFile, zlib.error):
        return None
    return None
