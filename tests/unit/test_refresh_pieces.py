"""What a changed chunk sends, told from a piece of it."""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import replace

from snapcraft_compression_advisor.refresh.contents import Chunk, Contents
from snapcraft_compression_advisor.refresh.pieces import Match, PieceMatcher

CHUNK_BYTES = 131_072
NOISE = random.Random(1).randbytes(4 * CHUNK_BYTES)
FRESH = random.Random(2).randbytes(CHUNK_BYTES)


def digest(chunk: bytes) -> bytes:
    """Return what tells a chunk; its first byte puts the piece in the middle."""
    return b"\x80" + hashlib.sha256(chunk).digest()


def contents(data: bytes) -> Contents:
    """Return a file's contents in chunks."""
    chunks = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]

    def read_chunk(_: str, index: int) -> bytes:
        return chunks[index]

    return Contents(
        chunks=[
            Chunk(
                "file",
                index,
                index * CHUNK_BYTES,
                len(chunk),
                digest(chunk),
                len(chunk),
            )
            for index, chunk in enumerate(chunks)
        ],
        counts={"file": len(chunks)},
        read=read_chunk,
        unpacked=True,
    )


def match_of(
    old: bytes,
    new: bytes,
    number: int,
    *,
    whole: bool = False,
) -> Match:
    after = contents(new)
    before = contents(old)
    matcher = PieceMatcher(old=before, new=after, level=7, reach_bytes=math.inf)
    return matcher.match(after.chunks[number], "file", whole=whole)


def sent_bytes(match: Match) -> float:
    return match.scale * len(match.sections.literals)


def test_one_changed_place_is_sent_alone() -> None:
    new = NOISE[:70_000] + b"changed" + NOISE[70_007:]
    match = match_of(NOISE, new, 0)
    assert match.scale == 1.0
    assert match.seen_share == 1.0
    assert len(match.sections.literals) <= len(b"changed")


def test_piece_stands_for_all_that_differs() -> None:
    match = match_of(NOISE, FRESH + NOISE[CHUNK_BYTES:], 0)
    assert match.scale == 4.0
    assert match.seen_share == 0.25
    assert sent_bytes(match) == CHUNK_BYTES


def test_all_of_few_chunks_is_matched() -> None:
    match = match_of(NOISE, FRESH + NOISE[CHUNK_BYTES:], 0, whole=True)
    assert (match.scale, match.seen_share) == (1.0, 1.0)


def test_contents_that_moved_to_the_next_chunk_are_found() -> None:
    shifted = FRESH[:100_000] + NOISE
    assert sent_bytes(match_of(NOISE, shifted, 2)) == 0


def test_compressed_blocks_beside_are_looked_at_where_a_file_grew() -> None:
    before, after = (
        replace(contents(each), unpacked=False) for each in (NOISE, FRESH + NOISE)
    )
    matcher = PieceMatcher(old=before, new=after, level=3, reach_bytes=math.inf)
    assert sent_bytes(matcher.match(after.chunks[3], "file", whole=False)) == 0


def test_contents_that_moved_far_are_found() -> None:
    new = NOISE[300_000:] + NOISE[:300_000]
    for number in range(4):
        assert sent_bytes(match_of(NOISE, new, number)) < 100


def test_what_another_chunk_sent_before_is_not_sent_again() -> None:
    new = FRESH[:80_000] + NOISE[:1_000] + FRESH[:80_000]
    assert sent_bytes(match_of(NOISE, new, 1)) < 30_000


def test_file_without_a_counterpart_is_sent() -> None:
    after = contents(FRESH)
    matcher = PieceMatcher(old=contents(b""), new=after, level=7, reach_bytes=math.inf)
    match = matcher.match(after.chunks[0], None, whole=True)
    assert match.sections.literals == FRESH
