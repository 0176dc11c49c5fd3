"""How much of a plain delta a device has to decode.

LZMA takes literals 64 KiB at a time, and stores those that it makes no shorter. Blocks
that a codec has packed are often at that edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from operator import attrgetter

from ..core.units import KIB
from .contents import Chunk
from .drawing import draw
from .pieces import PieceMatcher
from .sections import is_coded

SURELY_CODED = 0.975
"""Literals that LZMA makes as short as this, or shorter, are coded throughout: 92 % of
them and more, in ``study/data/refresh-coded.csv``."""
_PLACES = 24
_CHUNK_BYTES = 64 * KIB
"""The most that LZMA2 stores of in one piece (``LZMA2_CHUNK_MAX``)."""


def coded_share(
    matcher: PieceMatcher, pairs: Mapping[str, str | None], changed: Sequence[Chunk]
) -> float:
    """Return the share of the literals that LZMA most likely makes shorter.

    :param pairs: the file of the old build that each new one was made of.
    :param changed: chunks of the new one; at least one.
    """
    ordered = sorted(changed, key=attrgetter("start"))
    drawn = draw([chunk.length for chunk in ordered], _PLACES)
    stands_for = drawn.weights * drawn.sizes[drawn.chosen]
    coded = [
        is_coded(_literals(matcher, pairs, ordered, number))
        for number in drawn.chosen.tolist()
    ]
    return float((stands_for * coded).sum() / stands_for.sum())


def _literals(
    matcher: PieceMatcher,
    pairs: Mapping[str, str | None],
    changed: Sequence[Chunk],
    number: int,
) -> bytes:
    """Return what is sent of the chunks from one on that are stored in one piece."""
    parts: list[bytes] = []
    length = 0
    for chunk in islice(changed, number, None):
        match = matcher.match(chunk, pairs.get(chunk.path), whole=True)
        parts.append(match.sections.literals)
        length += chunk.length
        if length >= _CHUNK_BYTES:
            break
    return b"".join(parts)[:_CHUNK_BYTES]
