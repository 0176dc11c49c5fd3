"""Which files of two payloads have the same contents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.source import SnapPayload
from snapcraft_compression_advisor.squashfs.entry import EntryKind
from snapcraft_compression_advisor.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    with ThreadPoolExecutor(max_workers=_WORKERS) as pool:
        same = pool.map(lambda pair: _same_contents(old, new, pair[1]), alike)
        return frozenset(
            entry.path for (_, entry), each in zip(alike, same, strict=True) if each
        )


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
        old.read(entry.path, offset=offset, length=length)
        == new.read(entry.path, offset=offset, length=length)
        for offset, length in _chunks(entry.size_bytes)
    )


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
