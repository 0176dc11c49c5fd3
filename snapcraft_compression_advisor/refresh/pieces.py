"""What a changed chunk sends beyond what the old build has of its file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ..core.frozen import frozen
from ..core.units import KIB, MIB
from .contents import Chunk, Contents
from .matching import Surroundings, equal_bytes, equal_end_bytes, find_matches
from .moved import MovedContents, Source
from .sections import Sections

_PIECES = 4
_PIECE_BYTES = 16 * KIB
"""Of a chunk, a piece is a fourth, or so much."""
_MOST_MOVED = 4
"""So many old chunks are compared with a piece beside the one in its place."""
_MOST_BESIDE = 8
"""So many chunks of the same old file, at most, between two that are likely."""
_LEAST_SENT_BYTES, _SENT_BYTES = 16 * KIB, 64 * KIB
"""Of what is sent before a piece; chunks before its own are read where that has less
than the first. xdelta3 has up to 8 MiB of it; with so much, the search found 1 to 5 %
less to send, and took twice as long."""
WINDOW_BYTES = 64 * MIB
"""What xdelta3 has of the old stream at once (``XD3_DEFAULT_SRCWINSZ``)."""


@frozen
class Match:
    """What a chunk sends, told from a piece of it.

    :param sections: of the piece.
    :param scale: how many such pieces the chunk has.
    :param seen_share: of the chunk, in the piece or known to be equal.
    """

    sections: Sections
    scale: float
    seen_share: float


@dataclass(frozen=True, kw_only=True)
class PieceMatcher:
    """Compares chunks of the new build with what the old one has.

    :param level: of xdelta3.
    :param reach_bytes: how far a match may be from its place, in the streams' bytes.
    """

    old: Contents
    new: Contents
    level: int
    reach_bytes: float

    def match(self, chunk: Chunk, old_path: str | None, *, whole: bool) -> Match:
        """Compare a chunk with the file that it was made of, and with others.

        :param old_path: that file; ``None`` where there is none.
        :param whole: else only a piece is matched of what differs from the old chunk
            in its place.
        """
        contents = self.new.read(chunk.path, chunk.number)
        here = self._likely_place(chunk, old_path)
        before = self.old.read(*here) if here else b""
        start, end = equal_bytes(before, contents), equal_end_bytes(before, contents)
        end = max(start, len(contents) - end)
        piece = _piece_of(contents, chunk, start, end, whole=whole)
        return Match(
            sections=self._found(piece, chunk, contents, here),
            scale=piece.differing / piece.length if piece.length else 1.0,
            seen_share=1 - (piece.differing - piece.length) / chunk.length,
        )

    def _likely_place(self, chunk: Chunk, old_path: str | None) -> Source | None:
        """Return the chunk of the old file in a chunk's place, within reach."""
        if old_path is None:
            return None
        here = old_path, min(chunk.number, self.old.counts[old_path] - 1)
        distance = abs(self.old.places.get(here, math.inf) - chunk.start)
        return here if distance <= self.reach_bytes else None

    def _around(self, here: Source, chunk: Chunk) -> list[Source]:
        """Return an old chunk, then those where its contents may be by now.

        Counted from the file's start as from its end: between the two, something may
        have been inserted.
        """
        path, number = here
        grown = self.old.counts[path] - self.new.counts.get(chunk.path, 1)
        ends = sorted((number, chunk.number + grown))
        near = range(ends[0] - 1, min(ends[1], ends[0] + _MOST_BESIDE) + 2)
        beside = ((path, each) for each in near if each != number)
        return [here, *(each for each in beside if each in self.old.places)]

    @cached_property
    def _moved(self) -> MovedContents:
        return MovedContents(self.old, self.new)

    def _found(
        self, piece: _Piece, chunk: Chunk, contents: bytes, here: Source | None
    ) -> Sections:
        """Return what a piece sends to who has the old chunks that are most like it."""
        new = contents[piece.start : piece.start + piece.length]
        moved = self._moved.sources(new, chunk, self.reach_bytes)
        sources = self._around(here, chunk) if here else []
        known = set(sources)
        sources += islice((each for each in moved if each not in known), _MOST_MOVED)
        window = max(1, min(self.old.end, WINDOW_BYTES))
        sent = contents[max(0, piece.start - _SENT_BYTES) : piece.start]
        if self.new.unpacked and len(sent) < _LEAST_SENT_BYTES:
            sent = self.new.before(chunk, _SENT_BYTES - len(sent)) + sent
        around = Surroundings(
            sent=sent,
            expected=piece.start,
            old_start=self.old.places[sources[0]] % window if sources else 0,
            window_bytes=window,
        )
        old = b"".join(self.old.read(*source) for source in sources)
        return find_matches(old, new, level=self.level, around=around)


class _Piece(NamedTuple):
    """Some of the bytes between the first and the last in which a chunk differs.

    :param differing: how many bytes are between these.
    """

    start: int
    length: int
    differing: int


def _piece_of(
    contents: bytes, chunk: Chunk, start: int, end: int, *, whole: bool
) -> _Piece:
    """Choose a piece; where it is doesn't depend on what is there."""
    most = end - start
    if not whole:
        most = min(most, max(_PIECE_BYTES, len(contents) // _PIECES))
    first = start + (end - start - most) * chunk.digest[0] // 255
    return _Piece(start=first, length=most, differing=end - start)
