"""Which files of two payloads have the same contents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.core.units import MIB
from snapcraft_compression_advisor.payload.source import SnapPayload
from snapcraft_compression_advisor.squashfs.entry import EntryKind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from snapcraft_compression_advisor.payload.inventory import Entry
    from snapcraft_compression_advisor.payload.source import Payload

_WORKERS = 2
_CHUNK_BYTES = MIB


def unchanged_paths(old: Payload, new: Payload) -> frozenset[str]:
    """Return the paths that both payloads have with the same kind and contents.

    Files in two images of one codec are the same where their stored blocks are: these
    are compared as they stand, without decompression. Where they differ (another
    version of the codec's library makes other blocks of the same contents), and in all
    other payloads, contents are compared up to their first difference. Permissions and
    times don't count.

    :raises BadDataError: where an image is broken.
    :raises StorageError: where a file changes meanwhile.
    """
    entries = old.inventory.entries
    pairs = [
        (entries[path], entry)
        for path, entry in new.inventory.entries.items()
        if path in entries
    ]
    alike = [pair for pair in pairs if _may_be_same(*pair)]
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
    """Return what is equal for names of a payload that have the same contents."""
    blocks = None
    if isinstance(payload, SnapPayload) and entry.kind is EntryKind.FILE:
        blocks = payload.stored_blocks(entry.path)
    if blocks is None or blocks.fragment or not blocks.stored_bytes:
        return entry.kind, entry.identity
    return blocks.start, blocks.size_bytes, blocks.stored_bytes


def _may_be_same(old: Entry, new: Entry) -> bool:
    """Tell whether two entries are alike in all that a listing says."""
    return (old.kind, old.size_bytes, old.link_target) == (
        new.kind,
        new.size_bytes,
        new.link_target,
    )


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
    """Tell whether two images hold a file as the same bytes; ``False`` in doubt."""
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
