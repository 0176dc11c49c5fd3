"""Which files two payloads share, and what the others do to the image's size."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from ..core.units import MIB, Interval
from ..payload.source import SnapPayload
from ..squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ..payload.inventory import Entry
    from ..payload.source import Payload
    from .build import Build

Change = Literal["added", "removed", "changed"]
NONE = Interval.exactly(0)
_WORKERS = 2
_CHUNK_BYTES = MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file, link or device that isn't the same in both builds.

    A content that several names share counts under one of them.

    :param old_bytes: its length before; ``None`` if it is new.
    :param new_bytes: its length now; ``None`` if it is gone.
    :param old_stored_bytes: what it took of the image.
    """

    path: str
    change: Change
    old_bytes: int | None
    new_bytes: int | None
    old_stored_bytes: Interval
    new_stored_bytes: Interval

    @property
    def stored_change(self) -> Interval:
        """What it adds to the image."""
        return self.new_stored_bytes + -self.old_stored_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesDifference:
    """What became of all files.

    :param changes: the largest in the image first.
    :param unchanged: names that are the same.
    :param repacked_bytes: what the unchanged ones add to the image: nothing unless
        they are packed differently.
    """

    changes: tuple[FileChange, ...]
    unchanged: int
    repacked_bytes: Interval

    def share(self, change: FileChange) -> float:
        """Return a file's part of all changes, by their absolute sizes."""
        turnover = sum(abs(each.stored_change.mid) for each in self.changes)
        return abs(change.stored_change.mid) / turnover if turnover else 0.0

    def of(self, change: Change) -> tuple[FileChange, ...]:
        """Return the files that were added, removed or changed."""
        return tuple(each for each in self.changes if each.change == change)

    def stored_change(self, change: Change) -> Interval:
        """Return the bytes that all of these add to the image."""
        return sum((each.stored_change for each in self.of(change)), NONE)


def unchanged_paths(old: Payload, new: Payload) -> frozenset[str]:
    """Return the paths that both payloads have with the same kind and contents.

    Files in two images of one codec are the same if their stored blocks are, without
    decompression. If they differ (another version of the codec's library makes other
    blocks of the same contents), and in all other payloads, contents are compared.
    Permissions and times don't count.

    :raises BadDataError: if an image is broken.
    :raises StorageError: if a file changes meanwhile.
    """
    entries = old.inventory.entries
    pairs = [
        (entries[path], entry)
        for path, entry in new.inventory.entries.items()
        if path in entries
    ]
    alike = [pair for pair in pairs if _listed(pair[0]) == _listed(pair[1])]
    contents = [(_content(old, one), _content(new, other)) for one, other in alike]
    # Copies of one content that were copies before are compared once.
    distinct = dict(zip(contents, (entry for _, entry in alike), strict=True))
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        compared = pool.map(partial(_same_contents, old, new), distinct.values())
        same = dict(zip(distinct, compared, strict=True))
    return frozenset(
        entry.path
        for (_, entry), each in zip(alike, contents, strict=True)
        if same[each]
    )


def _content(payload: Payload, entry: Entry) -> Hashable:
    """Return a key that is equal for names of a payload with the same contents."""
    blocks = None
    if isinstance(payload, SnapPayload) and entry.kind is EntryKind.FILE:
        blocks = payload.stored_blocks(entry.path)
    if blocks is None or blocks.fragment or not blocks.stored_bytes:
        return entry.kind, entry.identity
    return blocks.start, blocks.size_bytes, blocks.stored_bytes


def _listed(entry: Entry) -> Hashable:
    """Return all that a listing says of an entry's contents."""
    return entry.kind, entry.size_bytes, entry.link_target


def _same_contents(old: Payload, new: Payload, entry: Entry) -> bool:
    if entry.kind is not EntryKind.FILE or not entry.size_bytes:
        return True
    if _same_stored_blocks(old, new, entry.path):
        return True
    return all(
        old.read(entry.path, offset=start + offset, length=length)
        == new.read(entry.path, offset=start + offset, length=length)
        for start, end in _filled(old, new, entry.path)
        for offset, length in _chunks(end - start)
    )


def _filled(old: Payload, new: Payload, path: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a file that aren't holes in both; no byte twice."""
    ranges = sorted((*old.data_ranges(path), *new.data_ranges(path)))
    covered = 0
    for start, end in ranges:
        if end > covered:
            yield max(start, covered), end
            covered = end


def _same_stored_blocks(old: Payload, new: Payload, path: str) -> bool:
    """Return whether two images hold a file as the same bytes; ``False`` in doubt."""
    if not (isinstance(old, SnapPayload) and isinstance(new, SnapPayload)):
        return False
    one, other = old.stored_blocks(path), new.stored_blocks(path)
    if one is None or other is None or one.fragment or other.fragment:
        return False
    return (
        (old.packed_with, one.block_bytes) == (new.packed_with, other.block_bytes)
        and one.size_words == other.size_words
        and all(
            old.image.stored_data(one.start + offset, length)
            == new.image.stored_data(other.start + offset, length)
            for offset, length in _chunks(one.stored_bytes)
        )
    )


def _chunks(size_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield offset and length of pieces that are compared one after the other."""
    for offset in range(0, size_bytes, _CHUNK_BYTES):
        yield offset, min(_CHUNK_BYTES, size_bytes - offset)


def compare_files(old: Build, new: Build, unchanged: frozenset[str]) -> FilesDifference:
    """Compare what two builds consist of.

    :param unchanged: see :func:`unchanged_paths`.
    """
    before, after = _attributed(old, unchanged), _attributed(new, unchanged)
    olds, news = old.payload.inventory.entries, new.payload.inventory.entries
    changes = [
        FileChange(
            path=path,
            change="added"
            if path not in before
            else "changed"
            if path in after
            else "removed",
            old_bytes=olds[path].size_bytes if path in before else None,
            new_bytes=news[path].size_bytes if path in after else None,
            old_stored_bytes=before.get(path, NONE),
            new_stored_bytes=after.get(path, NONE),
        )
        for path in dict.fromkeys((*before, *after))
        if path not in unchanged
    ]
    same = sorted(unchanged & after.keys())
    # Between estimates with one codec, only the draws of their trials differ.
    as_drawn = old.codec == new.codec and not (
        old.image_bytes.known and new.image_bytes.known
    )
    return FilesDifference(
        changes=tuple(
            sorted(changes, key=lambda each: (-abs(each.stored_change.mid), each.path))
        ),
        unchanged=len(same),
        repacked_bytes=NONE
        if as_drawn
        else sum((after[path] + -before[path] for path in same), NONE),
    )


def _attributed(build: Build, unchanged: frozenset[str]) -> dict[str, Interval]:
    """Return every name's bytes of the image, each content counted once.

    Unchanged names come first, so that a copy that comes or goes beside them weighs
    nothing.
    """
    taken: set[object] = set()
    entries = build.payload.inventory.entries
    sizes = {
        path: NONE
        for path, entry in entries.items()
        if entry.kind is not EntryKind.DIRECTORY
    }
    for path in sorted(sizes, key=lambda path: path not in unchanged):
        if entries[path].kind is not EntryKind.FILE or not entries[path].size_bytes:
            continue
        found = build.sizes(path)
        if found is not None and found[0] not in taken:
            taken.add(found[0])
            sizes[path] = found[1]
    return sizes
