"""How large deltas are, estimated without making them.

Chunks of the new stream that the old one has as well, and within xdelta3's reach, cost
nothing. Of the others some are drawn and matched against their file in the old build;
see :mod:`.matching`. docs/refresh.md says how far off that is from real deltas.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.units import MIB, Interval
from .contents import Chunk, Contents
from .drawing import draw
from .matching import (
    COPY_FACTORS,
    TEXT_COPY_FACTOR,
    find_matches,
    joined,
    section_rates,
)
from .pairing import pair_files
from .pieces import Match, likely_sources, matched

REACH_BYTES = 32 * MIB
"""How far a match may be from its place: xdelta3 reads so much of the old stream ahead,
half of its source window (``XD3_DEFAULT_SRCWINSZ``, ``xd3_srcwin_move_point``)."""
DRAWS: Mapping[int, float] = {8: 0.25, 24: 0.5, 72: math.inf}
"""How many changed chunks are matched; the next number where the sum may be off by more
than this share of it."""
_FEW_CHUNKS = 24
"""So few are matched whole: a change in one of them counts."""
_WINDOW_BYTES = 8 * MIB
"""What xdelta3 takes of the new stream at once (``XD3_DEFAULT_WINSIZE``)."""
_HEADER_BYTES = 80
_BYTES_PER_WINDOW = 40
"""Of headers, checksums and three empty sections: measured between equal images."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the chunks of a stream add to a delta.

    :param size_bytes: of all, with the interval of the draw.
    :param files: bytes by path; those that add nothing aren't in it.
    :param sent_bytes: of chunks that aren't found whole.
    :param coded_share: of all, what LZMA makes shorter, so a device has to decode.
    :param text_share: of all, what is sent of text.
    """

    size_bytes: Interval
    files: Mapping[str, float]
    sent_bytes: int
    coded_share: float
    text_share: float = 0.0


def chunks_cost(
    old: Contents,
    new: Contents,
    *,
    level: int,
    reach_bytes: float = REACH_BYTES,
    draws: Mapping[int, float] = DRAWS,
) -> Cost:
    """Estimate what the chunks of a stream add to a delta.

    :param level: of xdelta3.
    :param reach_bytes: in the stream's own bytes.
    :param draws: see :data:`DRAWS`.
    """
    if _end(old) <= 2 * reach_bytes:  # xdelta3's window holds all of it
        reach_bytes = math.inf
    changed = list(_changed(old, new, reach_bytes))
    headers = Interval.exactly(_headers_bytes(new))
    if not changed:
        return Cost(size_bytes=headers, files={}, sent_bytes=0, coded_share=0.0)
    pairs = pair_files(_file_lengths(old), _file_lengths(new))
    lengths = [chunk.length for chunk in changed]
    whole = len(changed) <= _FEW_CHUNKS
    places = {(chunk.path, chunk.number): chunk.start for chunk in old.chunks}
    known: dict[int, Match] = {}
    for most, enough in draws.items():
        drawn = draw(lengths, most)
        numbers = drawn.chosen.tolist()
        for number in (each for each in numbers if each not in known):
            chunk = changed[number]
            sources = [
                (path, index)
                for path, index in likely_sources(
                    old, new, chunk, pairs.get(chunk.path)
                )
                if abs(places.get((path, index), math.inf) - chunk.start) <= reach_bytes
            ]
            known[number] = matched(old, new, chunk, sources, whole=whole)
        matches = [known[number] for number in numbers]
        costs, coded = _costs(matches, level=level)
        size = drawn.total(costs, np.array([each.seen_bytes for each in matches]))
        if size.high - size.mid <= enough * size.mid:
            break
    text = np.array([each.text for each in matches])
    return Cost(
        size_bytes=size + headers,
        files=_by_file(changed, drawn.chosen, costs / drawn.lengths[drawn.chosen]),
        sent_bytes=sum(lengths),
        coded_share=float((drawn.weights * coded).sum()) / max(1.0, size.mid),
        text_share=float((drawn.weights * costs)[text].sum()) / max(1.0, size.mid),
    )


def text_cost(old: bytes, new: bytes, *, level: int) -> int:
    """Return what a listing or an image's tables add to a delta."""
    match = Match(sections=find_matches(old, new), scale=1.0, seen_bytes=len(new))
    return round(float(_costs([match], level=level)[0].sum()))


def _headers_bytes(new: Contents) -> int:
    """Return what a delta takes where nothing changed."""
    return _HEADER_BYTES + _BYTES_PER_WINDOW * -(-_end(new) // _WINDOW_BYTES)


def _end(contents: Contents) -> int:
    """Return how long a stream is."""
    last = contents.chunks[-1] if contents.chunks else None
    return last.start + last.length if last else 0


def _changed(old: Contents, new: Contents, reach_bytes: float) -> Iterator[Chunk]:
    """Yield the chunks that xdelta3 can't find whole.

    One that came before in the new stream counts once: images hold copies once, and
    xdelta3 or LZMA, whose dictionary spans some MiB, find them.
    """
    places: dict[bytes, list[int]] = defaultdict(list)
    for chunk in old.chunks:
        places[chunk.digest].append(chunk.start)
    sent: set[bytes] = set()
    for chunk in new.chunks:
        found = places.get(chunk.digest)
        if chunk.digest in sent:
            continue
        if found is None or _distance(found, chunk.start) > reach_bytes:
            sent.add(chunk.digest)
            yield chunk


def _distance(places: Sequence[int], start: int) -> int:
    """Return how far the nearest of some places is; they are in ascending order."""
    index = bisect_left(places, start)
    return min(abs(place - start) for place in places[max(0, index - 1) : index + 1])


def _file_lengths(contents: Contents) -> dict[str, int]:
    lengths: dict[str, int] = defaultdict(int)
    for chunk in contents.chunks:
        lengths[chunk.path] += chunk.length
    return lengths


def _costs(
    matches: Sequence[Match], *, level: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each chunk takes in the delta, all compressed with one another.

    :returns: with it how much of that LZMA has to decode.
    """
    parts = [each.sections for each in matches]
    rates, coded_rates = section_rates(joined(parts), level=level)
    lengths = np.array([each.lengths for each in parts], dtype=np.float64)
    lengths[:, 1:] *= np.array([[_copy_factor(each, level)] for each in matches])
    scales = np.array([each.scale for each in matches])
    costs: NDArray[np.float64] = (lengths @ np.array(rates)) * scales
    coded: NDArray[np.float64] = (lengths @ np.array(coded_rates)) * scales
    return costs, coded


def _copy_factor(match: Match, level: int) -> float:
    return TEXT_COPY_FACTOR if match.text else COPY_FACTORS[level]


def _by_file(
    changed: Sequence[Chunk],
    chosen: NDArray[np.int64],
    rates: NDArray[np.float64],
) -> dict[str, float]:
    """Share the bytes among files; a chunk that wasn't drawn costs as its neighbour."""
    lengths = np.array([chunk.length for chunk in changed], dtype=np.float64)
    nearest = np.searchsorted(chosen, np.arange(len(changed)))
    nearest = np.minimum(nearest, len(chosen) - 1)
    files: dict[str, float] = defaultdict(float)
    for chunk, cost in zip(changed, (lengths * rates[nearest]).tolist(), strict=True):
        files[chunk.path] += cost
    return dict(files)
