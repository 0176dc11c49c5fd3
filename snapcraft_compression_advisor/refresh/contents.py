"""The two streams of bytes that deltas are made of, in chunks that can be told apart.

A plain delta is made of an image as it stands; the chunks are its stored blocks. A
snap-aware delta is made of what ``unsquashfs -pf`` writes: a listing, then all files'
contents in the order of their paths; the chunks are blocks of 128 KiB of a file.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from ..codecs import CODECS
from ..codecs.codec import DATA_BLOCK_BYTES
from ..core.units import MIB
from ..payload.inventory import Entry
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import SIZE_MASK, EntryKind, FileBlocks

_DIGEST_BYTES = 16
_READ_BLOCKS = 8
"""Blocks of an image that are read at once."""


class Chunk(NamedTuple):
    """A piece of a stream.

    :param number: which of its file's chunks, from 0.
    :param start: bytes from the stream's start.
    :param digest: equal for chunks of equal contents, in both streams.
    :param packed_bytes: what it takes in its image; where there is none, its length.
    """

    path: str
    number: int
    start: int
    length: int
    digest: bytes
    packed_bytes: int


@dataclass(frozen=True, kw_only=True)
class Contents:
    """A build's files as one stream.

    :param chunks: in the stream's order; each file's side by side.
    :param counts: how many chunks a file has.
    :param read: returns one chunk's bytes, given its file and its index.
    :param unpacked: whether these are the files' own bytes, not compressed blocks.
    :param at_hand: whether chunks are read as they are stored, without a codec.
    """

    chunks: Sequence[Chunk]
    counts: dict[str, int]
    read: Callable[[str, int], bytes]
    unpacked: bool = False
    at_hand: bool = False

    @property
    def end(self) -> int:
        """How long the stream is, in bytes."""
        last = self.chunks[-1] if self.chunks else None
        return last.start + last.length if last else 0

    @cached_property
    def places(self) -> dict[tuple[str, int], int]:
        """Where each chunk starts, by file and index."""
        return {(chunk.path, chunk.number): chunk.start for chunk in self.chunks}

    @cached_property
    def lengths(self) -> dict[str, int]:
        """Bytes by file, without its holes."""
        lengths: dict[str, int] = defaultdict(int)
        for chunk in self.chunks:
            lengths[chunk.path] += chunk.length
        return dict(lengths)

    def before(self, chunk: Chunk, most: int) -> bytes:
        """Return up to so many bytes that the stream has before a chunk."""
        parts: list[bytes] = []
        index = bisect_left(self.chunks, chunk.start, key=attrgetter("start"))
        while index and sum(map(len, parts)) < most:
            index -= 1
            parts.append(self.read(self.chunks[index].path, self.chunks[index].number))
        return b"".join(reversed(parts))[-most:]


def same_blocks(old: Payload, new: Payload) -> bool:
    """Tell whether equal contents are equal stored blocks in two images.

    With another version of the codec's library they aren't; they then count as changed
    as they do for a plain delta.
    """
    return (
        isinstance(old, SnapPayload)
        and isinstance(new, SnapPayload)
        and old.packed_with == new.packed_with
        and old.image.superblock.block_bytes == new.image.superblock.block_bytes
        and not old.image.superblock.fragment_count
        and not new.image.superblock.fragment_count
    )


def stream_order(payload: Payload) -> list[Entry]:
    """Return the files in the order of ``unsquashfs -pf``: directories by name."""
    return sorted(
        (entry for entry in payload.inventory.files() if entry.size_bytes),
        key=lambda entry: path_key(entry.path),
    )


def path_key(path: str) -> list[bytes]:
    """Return what puts paths in a depth-first order."""
    return path.encode("utf-8", "surrogateescape").split(b"/")


class StoredDigests:
    """Digests of an image's data blocks, each taken once."""

    def __init__(self, payload: SnapPayload) -> None:
        self._read = payload.image.stored_data
        self._known: dict[tuple[int, int], Sequence[bytes]] = {}

    def of(self, blocks: FileBlocks) -> Sequence[bytes]:
        """Return the digests of a file's blocks; of a sparse one, no bytes."""
        place = blocks.start, len(blocks)
        if place not in self._known:
            self._known[place] = [
                _digest(stored) if stored else b""
                for stored in _stored_blocks(self._read, blocks)
            ]
        return self._known[place]


def raw_contents(payload: Payload, digests: StoredDigests | None = None) -> Contents:
    """Return the files' contents, unpacked; holes are left out.

    :param digests: of an image, to tell chunks apart by its stored blocks, which needs
        no decompression: see :func:`same_blocks`.
    """
    chunks: list[Chunk] = []
    counts = {}
    start = 0
    for entry in stream_order(payload):
        counts[entry.path] = -(-entry.size_bytes // DATA_BLOCK_BYTES)
        for number, digest, packed_bytes in _digests(payload, entry, digests):
            place = start + number * DATA_BLOCK_BYTES
            length = min(DATA_BLOCK_BYTES, start + entry.size_bytes - place)
            chunks.append(
                Chunk(entry.path, number, place, length, digest, packed_bytes or length)
            )
        start += entry.size_bytes

    def read(path: str, index: int) -> bytes:
        offset = index * DATA_BLOCK_BYTES
        return payload.read(path, offset=offset, length=DATA_BLOCK_BYTES)

    return Contents(chunks=chunks, counts=counts, read=read, unpacked=True)


def stored_contents(payload: SnapPayload, digests: StoredDigests) -> Contents:
    """Return the files' data blocks as an image has them; each content once."""
    chunks: list[Chunk] = []
    counts: dict[str, int] = {}
    places: dict[tuple[str, int], tuple[int, int]] = {}
    seen: set[int] = set()
    for entry in payload.entries:
        blocks = entry.blocks
        if blocks is None or not blocks.stored_bytes or blocks.start in seen:
            continue
        seen.add(blocks.start)
        start = blocks.start
        for index, digest in enumerate(digests.of(blocks)):
            length = blocks.size_words[index] & SIZE_MASK
            if length:
                chunks.append(Chunk(entry.path, index, start, length, digest, length))
            places[entry.path, index] = start, length
            start += length
        counts[entry.path] = len(blocks)
    chunks.sort(key=lambda chunk: chunk.start)

    def read(path: str, index: int) -> bytes:
        return payload.image.stored_data(*places[path, index])

    return Contents(chunks=chunks, counts=counts, read=read, at_hand=True)


def packed_contents(raw: Contents, codec: str) -> Contents:
    """Return contents as a codec would store them; lengths stay those unpacked."""
    compress = CODECS[codec].compress

    def read(path: str, index: int) -> bytes:
        return compress(raw.read(path, index))

    return Contents(chunks=raw.chunks, counts=raw.counts, read=read)


def _digests(
    payload: Payload, entry: Entry, stored: StoredDigests | None
) -> Iterator[tuple[int, bytes, int]]:
    """Yield number, digest and packed bytes of a file's chunks that aren't holes.

    Where no image has them, of packed bytes none.
    """
    if stored is not None and isinstance(payload, SnapPayload):
        blocks = payload.stored_blocks(entry.path)
        if blocks is not None:
            for number, digest in enumerate(stored.of(blocks)):
                if digest:
                    yield number, digest, blocks.size_words[number] & SIZE_MASK
        return
    done = 0
    for start, end in payload.data_ranges(entry.path):
        last = -(-end // DATA_BLOCK_BYTES)
        for number in range(max(done, start // DATA_BLOCK_BYTES), last):
            offset = number * DATA_BLOCK_BYTES
            contents = payload.read(entry.path, offset=offset, length=DATA_BLOCK_BYTES)
            yield number, _digest(contents), 0
        done = last


def _stored_blocks(
    read: Callable[[int, int], bytes], blocks: FileBlocks
) -> Iterator[bytes]:
    """Yield a file's blocks as the image has them; of a sparse one nothing."""
    lengths = [word & SIZE_MASK for word in blocks.size_words]
    position = blocks.start
    for first in range(0, len(lengths), _READ_BLOCKS):
        some = lengths[first : first + _READ_BLOCKS]
        stored = memoryview(read(position, sum(some)))
        for length in some:
            yield bytes(stored[:length])
            stored = stored[length:]
            position += length


def _digest(contents: bytes) -> bytes:
    return hashlib.blake2b(contents, digest_size=_DIGEST_BYTES).digest()


LISTING_LIMIT_BYTES = 8 * MIB
"""As much of a listing is compared; longer ones are taken to be alike."""

_KINDS = {
    EntryKind.DIRECTORY: "D",
    EntryKind.FILE: "R",
    EntryKind.SYMLINK: "S",
}


def listing(payload: Payload) -> bytes:
    """Return what ``unsquashfs -pf`` writes before the contents.

    ``write_pseudo_file`` of unsquashfs 4.5 and later: name, kind, time, mode, owner,
    then a file's length and where its contents begin, or what a link points to. A
    name of a file that was listed before says so.
    """
    lines = ["/ D 0 755 0 0"]
    start = 0
    firsts: dict[int, str] = {}
    entries = payload.inventory.entries
    for path in sorted(entries, key=path_key):
        entry = entries[path]
        first = firsts.setdefault(entry.identity, path)
        if entry.kind is EntryKind.FILE and first != path:
            lines.append(f"{path} L {first}")
            continue
        kind = _KINDS.get(entry.kind, "I")
        line = f"{path} {kind} {entry.modified_s} {entry.mode:o} 0 0"
        if entry.kind is EntryKind.FILE:
            line += f" {entry.size_bytes} {start}"
            start += entry.size_bytes
        elif entry.link_target is not None:
            line += f" {entry.link_target}"
        lines.append(line)
    return "\n".join(lines).encode("utf-8", "surrogateescape")[:LISTING_LIMIT_BYTES]
