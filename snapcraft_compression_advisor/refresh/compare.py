"""How large deltas are, estimated without making them.

Chunks of the new stream that the old one has as well, and within xdelta3's reach, cost
nothing. Of the others some are drawn and matched against their file in the old build;
see :mod:`.matching`. docs/refresh.md says how far off that is from real deltas.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import frozen
from ..core.units import KIB, MIB, Interval
from .coded import SURELY_CODED, coded_share
from .contents import Chunk, Contents
from .drawing import draw
from .matching import Surroundings, find_matches
from .pairing import pair_files
from .pieces import Match, PieceMatcher
from .sections import Sections, joined, section_rates

REACH_BYTES = 32 * MIB
"""How far a match may be from its place: xdelta3 reads so much of the old stream ahead,
half of its source window (``XD3_DEFAULT_SRCWINSZ``, ``xd3_srcwin_move_point``)."""
DRAWS: Mapping[int, float] = {8: 0.25, 24: 0.5, 72: math.inf}
"""How many changed chunks are matched; the next number where the sum may be off by more
than this share of it."""
_FEW_CHUNKS = 8
"""So few are matched whole: a change in one of them counts."""
_WINDOW_BYTES = 8 * MIB
"""What xdelta3 takes of the new stream at once (``XD3_DEFAULT_WINSIZE``)."""
_CHUNKS_AT_HAND = 512
"""Old chunks that are kept once read: 64 MiB at most."""
_MOST_COPIES = 1 << 15
"""What its buffer of copies holds (``XD3_DEFAULT_IOPT_SIZE``)."""
LOST_BYTES, LOST_SPREAD = 19_000, 86_000
"""Mean and standard deviation of what a window adds whose copies are more: 122 windows
of 40 real deltas (``study/data/refresh-lost.csv``). Nine of these lost 49 to 696 kB."""
_TEXT_PIECES, _TEXT_PIECE_BYTES = 16, 16 * KIB
"""Of a longer text, so many pieces are compared. All of it took up to 40 % of an
estimate's time."""
_TEXT_REACH_BYTES, _TEXT_SENT_BYTES = 256 * KIB, 64 * KIB
"""What a piece is compared with of the old text on either side, and of the new one."""
_HEADER_BYTES = 80
_BYTES_PER_WINDOW = 40
"""Of headers, checksums and three empty sections: measured between equal images."""


@frozen
class Cost:
    """What the chunks of a stream add to a delta.

    :param size_bytes: of all, with the interval of the draw.
    :param files: bytes by path; those that add nothing aren't in it.
    :param sent_bytes: of chunks that aren't found whole.
    :param coded_share: of all, what LZMA makes shorter, so a device has to decode.
    """

    size_bytes: Interval
    files: Mapping[str, float]
    sent_bytes: int
    coded_share: float


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
    old = replace(old, read=lru_cache(_CHUNKS_AT_HAND)(old.read))
    if old.end <= 2 * reach_bytes:  # xdelta3's window holds all of it
        reach_bytes = math.inf
    pairs = pair_files(old.lengths, new.lengths)
    changed = sorted(
        _changed(old, new, reach_bytes),
        key=lambda chunk: _unlikeness(old, new, chunk.path, pairs.get(chunk.path)),
    )
    headers = Interval.exactly(_headers_bytes(new))
    if not changed:
        return Cost(size_bytes=headers, files={}, sent_bytes=0, coded_share=0.0)
    sizes = [chunk.packed_bytes for chunk in changed]
    whole = len(changed) <= _FEW_CHUNKS
    matcher = PieceMatcher(old=old, new=new, level=level, reach_bytes=reach_bytes)
    known: dict[int, Match] = {}
    for most, enough in draws.items():
        drawn = draw(sizes, most)
        numbers = drawn.chosen.tolist()
        for number in (each for each in numbers if each not in known):
            chunk = changed[number]
            known[number] = matcher.match(chunk, pairs.get(chunk.path), whole=whole)
        matches = [known[number] for number in numbers]
        costs, coded, literal_rate = _costs(matches, level=level)
        size = drawn.total(costs, np.array([each.seen_share for each in matches]))
        if size.high - size.mid <= enough * size.mid:
            break
    sent_coded = float((drawn.weights * coded).sum())
    if new.at_hand and SURELY_CODED < literal_rate < 1:
        literals = [each.sections.lengths[0] * each.scale for each in matches]
        stored = 1 - coded_share(matcher, pairs, changed)
        sent_coded = size.mid - stored * float((drawn.weights * literals).sum())
    copies = np.array([each.sections.copies * each.scale for each in matches])
    lost = _lost_bytes(changed, float((drawn.weights * copies).sum()))
    return Cost(
        size_bytes=size + headers + lost,
        files=_by_file(changed, drawn.chosen, costs / drawn.sizes[drawn.chosen]),
        sent_bytes=sum(chunk.length for chunk in changed),
        coded_share=max(0.0, sent_coded) / max(1.0, size.mid),
    )


def _unlikeness(old: Contents, new: Contents, path: str, old_path: str | None) -> float:
    """Return what puts files in an order along which deltas tend to grow.

    Chunks drawn evenly along it stand for all others better than any.
    """
    if old_path is None:
        return math.inf
    before, after = old.lengths[old_path], new.lengths[path]
    return abs(math.log(after / before)) if before else math.inf


def text_cost(old: bytes, new: bytes, *, level: int) -> int:
    """Return what a listing or an image's tables add to a delta.

    Of a long one, some pieces are compared with what is about as far into the old one.
    """
    if len(new) <= _TEXT_PIECES * _TEXT_PIECE_BYTES:
        parts, scale = [find_matches(old, new, level=level)], 1.0
    else:
        starts = range(0, len(new) - _TEXT_PIECE_BYTES + 1, _TEXT_PIECE_BYTES)
        every = -(-len(starts) // _TEXT_PIECES)
        chosen = starts[every // 2 :: every]
        parts = [_text_sections(old, new, start, level) for start in chosen]
        scale = len(new) / (_TEXT_PIECE_BYTES * len(chosen))
    matches = [Match(sections=each, scale=scale, seen_share=1.0) for each in parts]
    return round(float(_costs(matches, level=level)[0].sum()))


def _text_sections(old: bytes, new: bytes, start: int, level: int) -> Sections:
    """Return what a piece of a text sends to who has the text before it."""
    likely = start * len(old) // len(new)
    end = start + _TEXT_PIECE_BYTES
    first = max(0, likely - _TEXT_REACH_BYTES)
    around = Surroundings(
        sent=new[max(0, start - _TEXT_SENT_BYTES) : start],
        expected=likely - first,
        old_start=first,
        window_bytes=len(old),
    )
    near = old[first : likely + _TEXT_PIECE_BYTES + _TEXT_REACH_BYTES]
    return find_matches(near, new[start:end], level=level, around=around)


def _lost_bytes(changed: Sequence[Chunk], copies: float) -> Interval:
    """Return what is sent although the old stream has it.

    xdelta3 collects the copies of a window. Where its buffer fills up, it decides which
    part of the old stream the window refers to, and finds nothing else any more
    (``xd3_srcwin_setup``).

    :param copies: in all changed chunks.
    """
    per_byte = copies / max(1, sum(chunk.length for chunk in changed))
    windows = Counter[int]()
    for chunk in changed:
        windows[chunk.start // _WINDOW_BYTES] += chunk.length
    full = sum(length * per_byte > _MOST_COPIES for length in windows.values())
    mid = full * LOST_BYTES
    return Interval(low=0.0, mid=mid, high=mid + 2 * math.sqrt(full) * LOST_SPREAD)


def _headers_bytes(new: Contents) -> int:
    """Return what a delta takes where nothing changed."""
    return _HEADER_BYTES + _BYTES_PER_WINDOW * -(-new.end // _WINDOW_BYTES)


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


def _costs(
    matches: Sequence[Match], *, level: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return what each chunk takes in the delta, all compressed with one another.

    :returns: with it how much of that LZMA has to decode, and what a literal takes.
    """
    parts = [each.sections for each in matches]
    rates, coded_rates = section_rates(joined(parts), level=level)
    lengths = np.array([each.lengths for each in parts], dtype=np.float64)
    scales = np.array([each.scale for each in matches])
    costs: NDArray[np.float64] = (lengths @ np.array(rates)) * scales
    coded: NDArray[np.float64] = (lengths @ np.array(coded_rates)) * scales
    return costs, coded, rates[0]


def _by_file(
    changed: Sequence[Chunk],
    chosen: NDArray[np.int64],
    rates: NDArray[np.float64],
) -> dict[str, float]:
    """Share the bytes among files; a chunk that wasn't drawn costs as its neighbour."""
    sizes = np.array([chunk.packed_bytes for chunk in changed], dtype=np.float64)
    nearest = np.searchsorted(chosen, np.arange(len(changed)))
    nearest = np.minimum(nearest, len(chosen) - 1)
    files: dict[str, float] = defaultdict(float)
    for chunk, cost in zip(changed, (sizes * rates[nearest]).tolist(), strict=True):
        files[chunk.path] += cost
    return dict(files)
