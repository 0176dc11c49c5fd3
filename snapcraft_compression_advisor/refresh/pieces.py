"""What a changed chunk sends beyond what the old build has of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..core.units import KIB
from .contents import Chunk, Contents
from .matching import Sections, equal_bytes, equal_end_bytes, find_matches

_PIECES = 4
_PIECE_BYTES = 16 * KIB
"""Of a chunk, a piece is a fourth, or so much."""
_FEW_FOUND = 0.2
"""Share of a piece that isn't in the chunk of the old file that it's compared with,
from which on the chunks beside that one are read as well."""
_NEIGHBOURS = 1
"""Chunks of the old file that are looked at on each side of where a chunk was."""
_MOST_SOURCES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a chunk sends, told from a piece of it.

    :param sections: of the piece.
    :param scale: how many such pieces the chunk has.
    :param seen_bytes: of the chunk, in the piece or known to be equal.
    :param text: whether the file's own bytes are text.
    """

    sections: Sections
    scale: float
    seen_bytes: float
    text: bool = False


def matched(
    old: Contents,
    new: Contents,
    chunk: Chunk,
    sources: Sequence[tuple[str, int]],
    *,
    whole: bool,
) -> Match:
    """Compare a chunk with the file that it was made of.

    :param sources: where in the old build its contents may have been: paths and
        numbers of chunks.
    :param whole: else only a piece is matched of what differs from the old chunk in
        its place.
    """
    contents = new.read(chunk.path, chunk.number)
    piece_of = partial(
        _piece_of,
        contents,
        chunk,
        whole=whole,
        text=new.unpacked and b"\0" not in contents,
    )
    if not sources:
        return piece_of(0, len(contents)).match(b"", 0)
    nearest = min(sources, key=lambda source: abs(source[1] - chunk.number))
    here = old.read(*nearest)
    start, end = equal_bytes(here, contents), equal_end_bytes(here, contents)
    end = max(start, len(contents) - end)
    piece = piece_of(start, end)
    match = piece.match(here, piece.start)
    if len(match.sections.literals) > _FEW_FOUND * len(piece.contents):
        parts = [here if each == nearest else old.read(*each) for each in sources]
        before = sum(map(len, parts[: sources.index(nearest)]))
        match = piece.match(b"".join(parts), before + piece.start)
    return match


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """Some of the bytes between the first and the last in which a chunk differs."""

    contents: bytes
    start: int
    differing: int
    chunk_bytes: int
    text: bool

    def match(self, old: bytes, expected: int) -> Match:
        """Return what the chunk sends to who has some old bytes.

        :param expected: where the piece likely is in these.
        """
        length = len(self.contents)
        return Match(
            sections=find_matches(old, self.contents, expected=expected),
            scale=self.differing / length if length else 1.0,
            seen_bytes=self.chunk_bytes - self.differing + length,
            text=self.text,
        )


def _piece_of(  # noqa: PLR0913 # three of them are bound once
    contents: bytes, chunk: Chunk, start: int, end: int, *, whole: bool, text: bool
) -> _Piece:
    """Choose a piece; where it is doesn't depend on what is there."""
    most = end - start
    if not whole:
        most = min(most, max(_PIECE_BYTES, len(contents) // _PIECES))
    first = start + (end - start - most) * chunk.digest[0] // 255
    return _Piece(
        contents=contents[first : first + most],
        start=first,
        differing=end - start,
        chunk_bytes=len(contents),
        text=text,
    )


def likely_sources(
    old: Contents, new: Contents, chunk: Chunk, old_path: str | None
) -> list[tuple[str, int]]:
    """Return the chunks of the old file where a chunk's contents may have been.

    Counted from the file's start as from its end: between the two, something may have
    been inserted.

    :param old_path: that file; ``None`` where there is none.
    """
    if old_path is None:
        return []
    index, old_count = chunk.number, old.counts[old_path]
    ends = sorted((index, index + old_count - new.counts.get(chunk.path, 1)))
    first = max(0, min(ends[0] - _NEIGHBOURS, old_count - 1))
    last = min(old_count - 1, max(ends[1] + _NEIGHBOURS, 0))
    last = min(last, first + _MOST_SOURCES - 1)
    return [(old_path, each) for each in range(first, last + 1)]
