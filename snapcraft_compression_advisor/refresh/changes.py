"""Which files make a delta large, what happened to them, and what would help."""

from __future__ import annotations

import bz2
import gzip
import lzma
import posixpath
import re
import struct
import zipfile
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from io import BytesIO
from typing import Literal

import numpy as np

from ..core.units import MIB
from ..payload.source import Payload

ChangeKind = Literal[
    "added",  # no file of the old build resembles it
    "moved",  # from farther away than xdelta3 looks
    "changed",  # none of the others
    "rebuilt",  # a program or library
    "archive",  # some members of a compressed archive changed
    "recompressed",  # an archive whose contents are the same
    "timestamp",  # of the same length, only some bytes differ
    "cache",  # its sources are the same
]
LISTED_FILES = 50
"""Files that a report has."""
LOOKED_FILES = 10_000
"""Files that are looked into; further ones add next to nothing each."""
_LOOK_LIMIT_BYTES = 32 * MIB
_ALL_LIMIT_BYTES = 96 * MIB
"""What is read of one file, and of all files: with xz, a second's work."""
_TIMESTAMP_BYTES = 64
"""Files of one length that differ in no more bytes differ in a stamp or an id."""
_METADATA = ("meta/", "snap/")
"""Where a snap's own metadata are: its version is in them."""
_ELF = b"\x7fELF"
UNPACKED_LIMIT_BYTES = 64 * MIB
"""What one compressed stream may hold; larger ones aren't compared."""
_MOST_MEMBERS = 100_000
_COMPRESSED = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ\x00": lzma}
"""Modules that open what begins so."""
_BROKEN = (
    *(OSError, EOFError, ValueError, KeyError, NotImplementedError, struct.error),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
"""What the standard library raises for an archive that is none."""
_VERSION = re.compile(r"\d[\d.]*")
_CACHES = (
    ("*/icon-theme.cache", "{folder}/"),
    ("*/gschemas.compiled", "{folder}/"),
    ("*/giomodule.cache", "{folder}/"),
    ("*/mimeinfo.cache", "{folder}/"),
    ("*/mime/mime.cache", "{folder}/packages/"),
    ("*/loaders.cache", "{folder}/loaders/"),
    ("*/immodules.cache", "{folder}/immodules/"),
    ("*/__pycache__/*.pyc", "{above}/{stem}.py"),
    ("*/cache/man/*index.db", "usr/share/man/"),
    ("*/cache/fontconfig/*.cache-*", "usr/share/fonts/"),
)
"""Patterns of caches that programs make of other files, and where these are. Some hold
the times of their sources, so they differ even if nothing else does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file that adds to a delta.

    :param old_path: path of what it was compared with; ``None`` if there is nothing.
    :param delta_bytes: what it adds to the snap-aware delta, estimated.
    :param plain_bytes: what it adds to the plain delta, by codec, estimated.
    """

    path: str
    old_path: str | None
    change: ChangeKind
    delta_bytes: float
    plain_bytes: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTotal:
    """What all files to which the same happened add to deltas.

    :param files: how many they are.
    """

    change: ChangeKind
    files: int
    delta_bytes: float
    plain_bytes: Mapping[str, float]


def totals(changes: Sequence[FileChange]) -> Sequence[KindTotal]:
    """Return the bytes that each kind of change adds, the largest first."""
    by_kind: dict[ChangeKind, list[FileChange]] = defaultdict(list)
    for each in changes:
        by_kind[each.change].append(each)
    found = [
        KindTotal(
            change=kind,
            files=len(some),
            delta_bytes=sum(each.delta_bytes for each in some),
            plain_bytes={
                codec: sum(each.plain_bytes[codec] for each in some)
                for codec in some[0].plain_bytes
            },
        )
        for kind, some in by_kind.items()
    ]
    found.sort(key=lambda e: (-max((e.delta_bytes, *e.plain_bytes.values())), e.change))
    return found


def find_changes(
    old: Payload,
    new: Payload,
    files: Mapping[str, float],
    plain: Mapping[str, Mapping[str, float]] | None = None,
) -> Sequence[FileChange]:
    """Return the changes of the files that add most to deltas.

    :param files: what each adds to the snap-aware delta, by path; to a plain one if
        that alone is wanted.
    :param plain: what each adds to plain deltas, by codec and path.
    """
    by_codec = plain or {}
    adds: dict[str, float] = defaultdict(float)
    for each in (files, *by_codec.values()):
        for path, size in each.items():
            adds[path] = max(adds[path], size)
    largest = sorted(adds, key=lambda path: (-adds[path], path))[:LOOKED_FILES]
    looker = _Looker(old, new, files.keys())
    return tuple(
        FileChange(
            path=path,
            old_path=old_path,
            change=change,
            delta_bytes=files.get(path, 0.0),
            plain_bytes={name: each.get(path, 0.0) for name, each in by_codec.items()},
        )
        for path in largest
        for change, old_path in [looker.look(path)]
    )


class _Looker:
    """Finds what happened to files, as long as not too much was read."""

    def __init__(self, old: Payload, new: Payload, changed: Iterable[str]) -> None:
        self._old, self._new = old, new
        self._changed = [path for path in changed if cache_sources(path) is None]
        before, now = file_lengths(old), file_lengths(new)
        self._pairs = pair_files(before, now)
        self._gone: dict[int, list[str]] = defaultdict(list)
        for path in sorted(before.keys() - now.keys()):
            self._gone[before[path]].append(path)
        self._left_bytes = _ALL_LIMIT_BYTES

    def look(self, path: str) -> tuple[ChangeKind, str | None]:
        """Return the change of a file, and its path in the old build."""
        old_path = self._pairs.get(path)
        if old_path != path:
            moved = self._moved_from(path)
            if moved is not None:
                return "moved", moved
        if old_path is None:
            return "added", None
        if self._sources_are_same(path):
            return "cache", old_path
        before, now = self._read(self._old, old_path), self._read(self._new, path)
        if before is not None and now is not None:
            return _kind(path, before, now), old_path
        magic = self._new.read(path, offset=0, length=len(_ELF))
        return "rebuilt" if magic == _ELF else "changed", old_path

    def _moved_from(self, path: str) -> str | None:
        """Return where a file of the same contents was that is gone."""
        alike = self._gone.get(self._new.inventory.entries[path].size_bytes, ())
        now = self._read(self._new, path) if alike else None
        if now is None:
            return None
        return next(
            (each for each in alike if self._read(self._old, each) == now), None
        )

    def _sources_are_same(self, path: str) -> bool:
        """Return whether a file is a cache of files that didn't change."""
        start = cache_sources(path)
        if start is None or any(each.startswith(start) for each in self._changed):
            return False
        before, now = (
            {
                each
                for each in payload.inventory.entries
                if each.startswith(start) and cache_sources(each) is None
            }
            for payload in (self._old, self._new)
        )
        return bool(now) and before == now

    def _read(self, payload: Payload, path: str) -> bytes | None:
        """Return a file's contents; ``None`` if that is too much to look into."""
        length = payload.inventory.entries[path].size_bytes
        if length > min(_LOOK_LIMIT_BYTES, self._left_bytes):
            return None
        self._left_bytes -= length
        return payload.read(path, offset=0, length=length)


def file_lengths(payload: Payload) -> dict[str, int]:
    """Return the lengths of all files that aren't empty, by path."""
    files = payload.inventory.files()
    return {entry.path: entry.size_bytes for entry in files if entry.size_bytes}


def _kind(path: str, before: bytes, now: bytes) -> ChangeKind:
    if path.startswith(_METADATA):  # a new version is no timestamp
        return "changed"
    archive = archive_members(now)
    if archive is not None and archive_members(before) == archive:
        return "recompressed"
    if len(before) == len(now):
        left, right = (np.frombuffer(each, dtype=np.uint8) for each in (before, now))
        if np.count_nonzero(left != right) <= _TIMESTAMP_BYTES:
            return "timestamp"
    if archive is not None:
        return "archive"
    return "rebuilt" if now.startswith(_ELF) else "changed"


def cache_sources(path: str) -> str | None:
    """Return the beginning of the paths of a cache's sources; None for no cache."""
    found = next((where for cache, where in _CACHES if fnmatchcase(path, cache)), None)
    if found is None:
        return None
    folder, name = posixpath.split(path)
    return found.format(
        folder=folder, above=posixpath.dirname(folder), stem=name.partition(".")[0]
    )


def archive_members(contents: bytes) -> Mapping[str, object] | None:
    """Return a key that is equal for archives of equal contents, by member.

    :returns: None for a file that is no archive, a broken one, or one that holds too
        much. Known are zip (jar, wheel, egg), and what gzip, bzip2 or xz made.
    """
    try:
        if contents.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(BytesIO(contents)) as archive:
                items = archive.infolist()
            few = len(items) <= _MOST_MEMBERS
            return {i.filename: (i.CRC, i.file_size) for i in items} if few else None
        for magic, module in _COMPRESSED.items():
            if contents.startswith(magic):
                with module.open(BytesIO(contents)) as file:
                    unpacked = file.read(UNPACKED_LIMIT_BYTES + 1)
                if len(unpacked) <= UNPACKED_LIMIT_BYTES:
                    return {"": (zlib.crc32(unpacked), len(unpacked))}
    except _BROKEN:
        pass
    return None


def pair_files(old: Mapping[str, int], new: Mapping[str, int]) -> dict[str, str]:
    """Return the old build's files to compare the new one's with, by the latter.

    That is the file of the same path; else one that is gone, whose path differs by
    versions alone, or whose name does; of several the one of the closest length.

    :param old: lengths by path.
    :param new: the same.
    """
    by_key: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for length, path in sorted((old[path], path) for path in old if path not in new):
        for key in _keys(path):
            by_key[key].append((length, path))
    pairs = {}
    for path, length in new.items():
        alike = next((by_key[key] for key in _keys(path) if key in by_key), ())
        if path in old:
            pairs[path] = path
        elif alike:
            index = bisect_left(alike, (length, ""))
            pairs[path] = min(
                alike[max(0, index - 1) : index + 1],
                key=lambda each: (abs(each[0] - length), each),  # at once
            )[1]
    return pairs


def _keys(path: str) -> tuple[str, str]:
    """Return keys that likely pairs have in common, the surest first."""
    whole = _VERSION.sub("#", path)
    return whole, "*/" + whole.rpartition("/")[2]
