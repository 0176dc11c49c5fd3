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
from .matching import Sections, find_matches, joined, section_rates
from .pairing import pair_files

REACH_BYTES = 32 * MIB
"""How far a match may be from its place: xdelta3 reads so much of the old stream ahead,
half of its source window (``XD3_DEFAULT_SRCWINSZ``, ``xd3_srcwin_move_point``)."""
DRAWN_CHUNKS = 24
"""Chunks that are matched, of those that changed."""
_NEIGHBOURS = 2
"""Chunks of the old file that are looked at on each side of where a chunk was."""
_MOST_SOURCES = 16
_WINDOW_BYTES = 8 * MIB
"""What xdelta3 takes of the new stream at once (``XD3_DEFAULT_WINSIZE``)."""
_HEADER_BYTES = 80
_BYTES_PER_WINDOW = 40
"""Of headers, checksums and three empty sections: measured between equal images."""
CONFIDENCE_Z = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the chunks of a stream add to a delta.

    :param size_bytes: of all, with the interval of the draw.
    :param files: bytes by path; those that add nothing aren't in it.
    :param sent_bytes: of chunks that aren't found whole.
    """

    size_bytes: Interval
    files: Mapping[str, float]
    sent_bytes: int


def chunks_cost(
    old: Contents,
    new: Contents,
    *,
    level: int,
    reach_bytes: float = REACH_BYTES,
    drawn: int = DRAWN_CHUNKS,
) -> Cost:
    """Estimate what the chunks of a stream add to a delta.

    :param level: of xdelta3.
    :param reach_bytes: in the stream's own bytes.
    :param drawn: how many changed chunks are matched at most.
    """
    if _end(old) <= 2 * reach_bytes:  # xdelta3's window holds all of it
        reach_bytes = math.inf
    changed = list(_changed(old, new, reach_bytes))
    headers = _headers_bytes(new)
    if not changed:
        size = Interval.exactly(headers)
        return Cost(size_bytes=size, files={}, sent_bytes=0)
    pairs = pair_files(_file_lengths(old), _file_lengths(new))
    chosen, weights = _draw([chunk.length for chunk in changed], drawn)
    places = {(chunk.path, chunk.number): chunk.start for chunk in old.chunks}
    sections = []
    for number in chosen.tolist():
        chunk = changed[number]
        sources = [
            (path, index)
            for path, index in _sources(old, new, chunk, pairs.get(chunk.path))
            if abs(places.get((path, index), math.inf) - chunk.start) <= reach_bytes
        ]
        sections.append(_matched(old, new, chunk, sources))
    costs = _costs(sections, level=level)
    lengths = np.array([chunk.length for chunk in changed], dtype=np.float64)
    rates = costs / lengths[chosen]
    return Cost(
        size_bytes=_total(lengths, chosen, weights, costs) + Interval.exactly(headers),
        files=_by_file(changed, chosen, rates),
        sent_bytes=int(lengths.sum()),
    )


def text_cost(old: bytes, new: bytes, *, level: int) -> int:
    """Return what a listing or an image's tables add to a delta."""
    sections = find_matches(old, new)
    return round(float(_costs([sections], level=level).sum()))


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


def _draw(
    lengths: Sequence[int], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Choose chunks evenly along the sum of their lengths.

    :returns: their numbers, and how many chunks each stands for.
    """
    sizes = np.array(lengths, dtype=np.float64)
    if len(sizes) <= most:
        return np.arange(len(sizes)), np.ones(len(sizes))
    ends = np.cumsum(sizes)
    points = (np.arange(most) + 0.5) / most * ends[-1]
    chosen, hits = np.unique(np.searchsorted(ends, points), return_counts=True)
    return chosen, hits * ends[-1] / most / sizes[chosen]


def _matched(
    old: Contents, new: Contents, chunk: Chunk, sources: Sequence[tuple[str, int]]
) -> Sections:
    contents = new.read(chunk.path, chunk.number)
    if not sources:
        return Sections(literals=contents, instructions=b"", addresses=b"")
    return find_matches(
        b"".join(old.read(path, index) for path, index in sources), contents
    )


def _sources(
    old: Contents, new: Contents, chunk: Chunk, old_path: str | None
) -> list[tuple[str, int]]:
    """Return the chunks of the old file where a chunk's contents may have been.

    Counted from the file's start as from its end: between the two, something may have
    been inserted.
    """
    if old_path is None:
        return []
    index, old_count = chunk.number, old.counts[old_path]
    ends = sorted((index, index + old_count - new.counts.get(chunk.path, 1)))
    first = max(0, min(ends[0] - _NEIGHBOURS, old_count - 1))
    last = min(old_count - 1, max(ends[1] + _NEIGHBOURS, 0))
    last = min(last, first + _MOST_SOURCES - 1)
    return [(old_path, each) for each in range(first, last + 1)]


def _costs(sections: list[Sections], *, level: int) -> NDArray[np.float64]:
    """Return what each part takes in the delta, all compressed with one another."""
    rates = section_rates(joined(sections), level=level)
    lengths = np.array([each.lengths for each in sections], dtype=np.float64)
    costs: NDArray[np.float64] = lengths @ np.array(rates)
    return costs


def _total(
    lengths: NDArray[np.float64],
    chosen: NDArray[np.int64],
    weights: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> Interval:
    """Return the sum over all chunks, with the interval of 95 % of draws."""
    mid = float((weights * costs).sum())
    if len(chosen) == len(lengths):
        return Interval.exactly(mid)
    rates = costs / lengths[chosen]
    covered = weights * lengths[chosen]
    mean = float((covered * rates).sum() / covered.sum())
    left = covered - lengths[chosen]  # what the drawn ones stand for beside themselves
    variance = float((np.maximum(0, left) * covered * (rates - mean) ** 2).sum())
    error = CONFIDENCE_Z * math.sqrt(variance)
    return Interval(low=max(0.0, mid - error), mid=mid, high=mid + error)


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
