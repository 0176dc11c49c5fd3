"""Which files make a delta large, what happened to them, and what would help."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal

from ..core.frozen import frozen
from ..core.units import MIB
from ..payload.needless import is_documentation
from ..payload.source import Payload
from .archives import read_archive
from .caches import same_files, sources_of
from .pairing import pair_files

ChangeKind = Literal[
    "added",
    "moved",
    "changed",
    "rebuilt",
    "archive",
    "recompressed",
    "timestamp",
    "cache",
    "documentation",
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
_PIECE_BYTES = 4096


@frozen
class FileChange:
    """A file that adds to a delta.

    :param change: ``added``: no file of the old build resembles it; ``moved``: its
        contents are those of a file at another path, farther away than xdelta3 looks;
        ``cache``: its sources are the same; ``recompressed``: an archive whose contents
        are the same; ``timestamp``: of the same length, only some bytes differ;
        ``documentation``: changed, and needn't ship; ``archive``: some members of a
        compressed archive changed; ``rebuilt``: a program or library; else
        ``changed``.
    :param old_path: of what it was compared with; ``None`` where there is nothing.
    :param delta_bytes: what it adds to the snap-aware delta, estimated.
    :param plain_bytes: what it adds to the plain delta, by codec, estimated: its blocks
        from the first change on, compressed.
    """

    path: str
    old_path: str | None
    change: ChangeKind
    delta_bytes: float
    plain_bytes: Mapping[str, float] = field(default_factory=dict)


@frozen
class KindTotal:
    """What all files to which the same happened add to deltas.

    :param files: how many they are.
    :param delta_bytes: as :class:`FileChange` has it; likewise the other.
    """

    change: ChangeKind
    files: int
    delta_bytes: float
    plain_bytes: Mapping[str, float]


def totals(changes: Sequence[FileChange]) -> Sequence[KindTotal]:
    """Return what each kind of change adds, those first that add most."""
    by_kind: dict[ChangeKind, list[FileChange]] = defaultdict(list)
    for each in changes:
        by_kind[each.change].append(each)
    found = [_total(kind, some) for kind, some in by_kind.items()]
    return sorted(found, key=lambda each: (-_most(each), each.change))


def _total(kind: ChangeKind, changes: Sequence[FileChange]) -> KindTotal:
    codecs = changes[0].plain_bytes
    return KindTotal(
        change=kind,
        files=len(changes),
        delta_bytes=sum(each.delta_bytes for each in changes),
        plain_bytes={
            codec: sum(each.plain_bytes[codec] for each in changes) for codec in codecs
        },
    )


def _most(total: KindTotal) -> float:
    return max((total.delta_bytes, *total.plain_bytes.values()))


def find_changes(
    old: Payload,
    new: Payload,
    files: Mapping[str, float],
    plain: Mapping[str, Mapping[str, float]] | None = None,
    *,
    most: int = LOOKED_FILES,
) -> Sequence[FileChange]:
    """Tell what happened to the files that add most to deltas.

    :param files: what each adds to the snap-aware delta, by path; to a plain one where
        that alone is asked for.
    :param plain: what each adds to plain deltas, by codec and path.
    :param most: how many files to look into.
    """
    by_codec = plain or {}
    adds: dict[str, float] = defaultdict(float)
    for each in (files, *by_codec.values()):
        for path, size in each.items():
            adds[path] = max(adds[path], size)
    largest = sorted(adds, key=lambda path: (-adds[path], path))[:most]
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
    """Tells what happened to files, as long as not too much was read."""

    def __init__(self, old: Payload, new: Payload, changed: Iterable[str]) -> None:
        self._old, self._new = old, new
        self._changed = frozenset(changed)
        lengths = [_lengths(each) for each in (old, new)]
        self._pairs = pair_files(*lengths)
        self._gone: dict[int, list[str]] = defaultdict(list)
        for path in sorted(lengths[0].keys() - lengths[1].keys()):
            self._gone[lengths[0][path]].append(path)
        self._same: dict[str, bool] = {}
        self._left_bytes = _ALL_LIMIT_BYTES

    def look(self, path: str) -> tuple[ChangeKind, str | None]:
        """Return what happened to a file, and its path in the old build."""
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
        alike = self._gone.get(self._new.inventory.entries[path].size_bytes)
        now = self._read(self._new, path) if alike else None
        if alike is None or now is None:
            return None
        return next(
            (each for each in alike if self._read(self._old, each) == now), None
        )

    def _sources_are_same(self, path: str) -> bool:
        """Tell whether a file is a cache of files that didn't change."""
        start = sources_of(path)
        if start is None:
            return False
        if start not in self._same:
            self._same[start] = same_files(start, self._old, self._new, self._changed)
        return self._same[start]

    def _read(self, payload: Payload, path: str) -> bytes | None:
        """Return a file's contents; ``None`` where that is too much to look into."""
        length = payload.inventory.entries[path].size_bytes
        if length > min(_LOOK_LIMIT_BYTES, self._left_bytes):
            return None
        self._left_bytes -= length
        return payload.read(path, offset=0, length=length)


def _lengths(payload: Payload) -> dict[str, int]:
    return {
        entry.path: entry.size_bytes
        for entry in payload.inventory.files()
        if entry.size_bytes
    }


def _kind(path: str, before: bytes, now: bytes) -> ChangeKind:
    if path.startswith(_METADATA):  # a new version is no timestamp
        return "changed"
    archive = read_archive(now)
    if archive is not None:
        previous = read_archive(before)
        if previous is not None and previous.members == archive.members:
            return "recompressed"
    if len(before) == len(now) and _differing(before, now) <= _TIMESTAMP_BYTES:
        return "timestamp"
    if is_documentation(path):
        return "documentation"
    if archive is not None and archive.compressed:
        return "archive"
    return "rebuilt" if now.startswith(_ELF) else "changed"


def _differing(one: bytes, other: bytes) -> int:
    """Return in how many bytes two files of one length differ, up to some more."""
    count = 0
    for start in range(0, len(one), _PIECE_BYTES):
        left, right = (each[start : start + _PIECE_BYTES] for each in (one, other))
        if left != right:
            count += sum(a != b for a, b in zip(left, right, strict=True))
            if count > _TIMESTAMP_BYTES:
                break
    return count
