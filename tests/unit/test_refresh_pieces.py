"""What a changed chunk sends, told from a piece of it."""

from __future__ import annotations

import random

from snapcraft_compression_advisor.refresh.contents import Chunk, Contents
from snapcraft_compression_advisor.refresh.pieces import Match, likely_sources, matched

CHUNK_BYTES = 131_072
NOISE = random.Random(1).randbytes(4 * CHUNK_BYTES)
FRESH = random.Random(2).randbytes(CHUNK_BYTES)


def contents(data: bytes, *, read: list[int] | None = None) -> Contents:
    """Return a file's contents in chunks; note which are read."""
    chunks = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]

    def read_chunk(_: str, index: int) -> bytes:
        if read is not None:
            read.append(index)
        return chunks[index]

    return Contents(
        chunks=[
            Chunk("file", index, index * CHUNK_BYTES, len(chunk), b"\x80")
            for index, chunk in enumerate(chunks)
        ],
        counts={"file": len(chunks)},
        read=read_chunk,
    )


def match_of(
    old: bytes,
    new: bytes,
    number: int,
    *,
    whole: bool = False,
    read: list[int] | None = None,
) -> Match:
    after = contents(new)
    before = contents(old, read=read)
    chunk = after.chunks[number]
    sources = likely_sources(before, after, chunk, "file")
    return matched(before, after, chunk, sources, whole=whole)


def sent_bytes(match: Match) -> float:
    return match.scale * len(match.sections.literals)


def test_one_changed_place_is_sent_alone() -> None:
    new = NOISE[:70_000] + b"changed" + NOISE[70_007:]
    match = match_of(NOISE, new, 0)
    assert match.scale == 1.0
    assert match.seen_bytes == CHUNK_BYTES
    assert len(match.sections.literals) <= len(b"changed")


def test_piece_stands_for_all_that_differs() -> None:
    match = match_of(NOISE, FRESH + NOISE[CHUNK_BYTES:], 0)
    assert match.scale == 4.0
    assert match.seen_bytes == CHUNK_BYTES / 4
    assert sent_bytes(match) == CHUNK_BYTES


def test_all_of_few_chunks_is_matched() -> None:
    match = match_of(NOISE, FRESH + NOISE[CHUNK_BYTES:], 0, whole=True)
    assert (match.scale, match.seen_bytes) == (1.0, CHUNK_BYTES)


def test_neighbours_are_read_only_where_the_chunk_itself_has_little() -> None:
    read: list[int] = []
    scattered = bytearray(NOISE)
    for place in range(0, len(scattered), 500):
        scattered[place] ^= 1
    match_of(NOISE, bytes(scattered), 1, read=read)
    assert read == [1]


def test_contents_that_moved_to_the_next_chunk_are_found() -> None:
    read: list[int] = []
    shifted = FRESH[:100_000] + NOISE
    match = match_of(NOISE, shifted, 2, read=read)
    assert set(read) >= {1, 2}
    assert sent_bytes(match) == 0


def test_file_without_a_counterpart_is_sent() -> None:
    after = contents(FRESH)
    match = matched(contents(b""), after, after.chunks[0], [], whole=True)
    assert match.sections.literals == FRESH
