"""What xdelta3 finds of one run of bytes, and what is left to send.

As xdelta3 does (``xd3_string_match`` of ``xdelta3.c``, 3.0.11): a table of checksums of
the old bytes gives at most one candidate for a place in the new ones. Where there is
none, it looks at the last places in the new ones that begin with the same four bytes.
A match is left out where the next place has a longer one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import frozen
from .sections import Sections
from .vcdiff import Instructions

KEY_BYTES = 8
"""What the table of the old bytes has of a place: one machine word."""
LEAST_OLD_MATCH, LEAST_NEW_MATCH = 9, 4
"""Shortest matches in the old bytes and in those sent before (``LLOOK``, ``SLOOK``)."""
OLD_STEPS: Mapping[int, int] = {3: 8, 7: 2}
"""By level: every so manieth place of the old bytes is in the table (``LSTEP``)."""
CHAINS: Mapping[int, int] = {3: 4, 7: 4}
"""By level: so many earlier places are looked at. xdelta3 looks at 44 at level 7
(``SCHAIN``); those after the first few hardly gain anything, and cost time."""
_FAR: Mapping[int, int] = {4: 1 << 14, 5: 1 << 21}
"""From how far xdelta3 copies no four or five bytes (``xd3_smatch``)."""
_LAZY, _ENOUGH = 16, 70
"""Matches of so many bytes are taken without a look at the next place; from so many on
no other candidate is looked at (``LONGENOUGH``). xdelta3 looks ahead up to 90."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing
_PLACE_BITS = np.uint64(32)
_FIRST_STEP, _MOST_STEP = 32, 4096
"""Bytes that are compared at once."""


class _Copy(NamedTuple):
    """Some bytes of the new ones that were found.

    :param source: their place in the old ones, or earlier in the new ones.
    """

    length: int
    source: int
    is_old: bool


_NONE = _Copy(0, 0, is_old=False)


@frozen
class Surroundings:
    """What xdelta3 knows beside the bytes that are compared.

    :param sent: new bytes before these.
    :param expected: the place in the old bytes where they most likely are.
    :param old_start: where these old bytes are in the window of all.
    :param window_bytes: how many the window has: addresses of new bytes come after it.
    """

    sent: bytes = b""
    expected: int = 0
    old_start: int = 0
    window_bytes: int = 0


NOWHERE = Surroundings()


def find_matches(
    old: bytes, new: bytes, *, level: int, around: Surroundings = NOWHERE
) -> Sections:
    """Return what xdelta3 would send of ``new`` to who has ``old``.

    :param level: xdelta3's, as snapd sets it: 3 or 7.
    """
    matcher = _Matcher(old, around.sent + new, len(around.sent), level)
    window = max(around.window_bytes, around.old_start + len(old))
    written, literals = Instructions(), []
    copies = 0
    done = len(around.sent)
    shift = around.expected - done
    while (match := matcher.next_match(done, shift)) is not None:
        place, (length, source, is_old) = match
        literals.append(matcher.new[done:place])
        address = (around.old_start if is_old else window) + source
        written.copy(length, address, window + place, literals=place - done)
        done = place + length
        copies += 1
        if is_old:
            shift = source - place
    if rest := matcher.new[done:]:
        literals.append(rest)
        written.add(len(rest))
    return Sections(
        literals=b"".join(literals),
        instructions=bytes(written.codes),
        addresses=bytes(written.addresses),
        copies=copies,
    )


class _Matcher:
    def __init__(self, old: bytes, new: bytes, start: int, level: int) -> None:
        self.new = new
        self._old = old
        self._start = start
        self._chain = CHAINS[level]
        found = _in_old(old, new[start:], OLD_STEPS[level])
        earlier = _earlier(new)
        self._found = found.data
        self._earlier = earlier.data
        may_match = np.zeros(len(new) - start + 1, dtype=np.bool_)
        may_match[: max(0, len(earlier) - start)] = earlier[start:] >= 0
        may_match[: len(found)] |= found >= 0
        places = np.where(may_match, np.arange(start, len(new) + 1), len(new))
        self._next = np.minimum.accumulate(places[::-1])[::-1].data

    def next_match(self, done: int, shift: int) -> tuple[int, _Copy] | None:
        """Return the next match from a place on, and where it begins."""
        place = self._next[done - self._start]
        while not (best := self._longest(place, shift)).length:
            if place >= len(self.new):
                return None
            place = self._next[place + 1 - self._start]
        while best.length < _LAZY:
            after = self._longest(place + 1, shift)
            if after.length <= best.length + 1:
                break
            best, place = after, place + 1
        if best.length < _ENOUGH and best.source != place + shift:
            place, best = self._until_old_goes_on(place, best, shift)
        if best.is_old:
            back = self._agree_backwards(best.source, place, place - done)
            place -= back
            best = _Copy(best.length + back, best.source - back, is_old=True)
        return place, best

    def _until_old_goes_on(
        self, place: int, copy: _Copy, shift: int
    ) -> tuple[int, _Copy]:
        """Cut a copy short where the old bytes that came last go on with more."""
        end = place + copy.length
        source = end + shift
        last = LEAST_OLD_MATCH - 1
        if source < last or not self._same(source - last, end - last, last + 1):
            return place, copy
        first = end - self._agree_backwards(source, end, copy.length)
        if first - place >= LEAST_NEW_MATCH:
            return place, copy._replace(length=first - place)
        length = end - first + _agree(self._old, self.new, source, end)
        return first, _Copy(length, first + shift, is_old=True)

    def _same(self, source: int, place: int, length: int) -> bool:
        here = self.new[place : place + length]
        return self._old[source : source + length] == here and len(here) == length

    def _longest(self, place: int, shift: int) -> _Copy:
        index = place - self._start
        found = self._found[index] if index < len(self._found) else -1
        length = source = 0
        candidates = {place + shift: None, found: None} if found >= 0 else {}
        for candidate in candidates:
            agree = _agree(self._old, self.new, candidate, place)
            if candidate >= 0 and agree > length:
                length, source = agree, candidate
        if length >= LEAST_OLD_MATCH:
            return _Copy(length, source, is_old=True)
        return self._longest_sent(place)

    def _longest_sent(self, place: int) -> _Copy:
        """Return the longest match in what was sent before."""
        earlier, new = self._earlier, self.new
        length = LEAST_NEW_MATCH - 1
        beyond = new[place + length : place + length + 1]
        source = candidate = earlier[place] if place < len(earlier) else -1
        for _ in range(self._chain):
            if candidate < 0 or length >= _ENOUGH:
                break
            if new[candidate + length : candidate + length + 1] == beyond:
                agree = _agree(new, new, candidate, place)
                if agree > length:
                    length, source = agree, candidate
                    beyond = new[place + length : place + length + 1]
            candidate = earlier[candidate]
        if length < LEAST_NEW_MATCH or place - source >= _FAR.get(length, place + 1):
            return _NONE
        return _Copy(length, source, is_old=False)

    def _agree_backwards(self, source: int, place: int, most: int) -> int:
        """Return how many bytes before two places are equal."""
        count = 0
        most = min(most, source)
        old, new = self._old, self.new
        while count < most and old[source - count - 1] == new[place - count - 1]:
            count += 1
        return count


def _in_old(old: bytes, new: bytes, step: int) -> NDArray[np.int64]:
    """Return for places in ``new`` where their next bytes are in ``old``, or -1."""
    if min(len(old), len(new)) < KEY_BYTES:
        return np.zeros(0, dtype=np.int64)
    old_keys = keys_of(old, step=step)
    new_keys = keys_of(new)
    bits = max(8, len(old_keys).bit_length())
    table = np.full(1 << bits, -1, dtype=np.int32)
    numbers = np.arange(len(old_keys), dtype=np.int32)
    table[hashed(old_keys, bits)[::-1]] = numbers[::-1]  # the first stays
    found = table[hashed(new_keys, bits)]
    hits = np.flatnonzero(found >= 0)
    hits = hits[old_keys[found[hits]] == new_keys[hits]]
    places = np.full(len(new_keys), -1, dtype=np.int64)
    places[hits] = found[hits].astype(np.int64) * step
    return places


def _earlier(new: bytes) -> NDArray[np.int64]:
    """Return for each place the last one before it with the same four bytes, or -1.

    Sorted as one number a place, of its bytes and the place.
    """
    keys = keys_of(new, key_bytes=LEAST_NEW_MATCH)
    keys <<= _PLACE_BITS
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    places = keys.astype(np.uint32)
    keys >>= _PLACE_BITS
    same = keys[1:] == keys[:-1]
    earlier = np.full(len(keys), -1, dtype=np.int64)
    earlier[places[1:][same]] = places[:-1][same]
    return earlier


def keys_of(
    contents: bytes, *, step: int = 1, key_bytes: int = KEY_BYTES
) -> NDArray[np.uint64]:
    """Return the bytes at every so manieth place as a number each.

    :param step: divides the next one.
    :param key_bytes: how many bytes: four or eight.
    """
    count = max(0, (len(contents) - key_bytes) // step + 1)
    keys = np.empty(count, dtype=np.uint64)
    lanes = key_bytes // step
    for lane in range(min(lanes, count)):
        offset = lane * step
        keys[lane::lanes] = np.frombuffer(
            contents,
            dtype=f"u{key_bytes}",
            count=(len(contents) - offset) // key_bytes,
            offset=offset,
        )
    return keys


def hashed(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    """Return a place for each key in a table of 2 to the power of ``bits``."""
    places: NDArray[np.uint64] = keys * _GOLDEN
    places >>= np.uint64(64 - bits)
    return places.view(np.int64)


def _agree(old: bytes, new: bytes, source: int, place: int) -> int:
    """Return how many bytes from two places on are equal."""
    known, step = 0, _FIRST_STEP
    while True:
        one = old[source + known : source + known + step]
        other = new[place + known : place + known + step]
        if one != other:
            differing = int.from_bytes(one, "little") ^ int.from_bytes(other, "little")
            lowest = (differing & -differing).bit_length() - 1  # -1 beyond the shorter
            return known + min(lowest // 8 % step, len(one), len(other))
        if len(one) < step:
            return known + len(one)
        known += step
        step = min(4 * step, _MOST_STEP)


def equal_bytes(one: bytes, other: bytes) -> int:
    """Return how many bytes two runs have in common from their start."""
    most = min(len(one), len(other))
    return _lowest_differing(
        int.from_bytes(one[:most], "little") ^ int.from_bytes(other[:most], "little"),
        most,
    )


def equal_end_bytes(one: bytes, other: bytes) -> int:
    """Return how many bytes two runs have in common up to their end."""
    most = min(len(one), len(other))
    ends = one[len(one) - most :], other[len(other) - most :]
    return _lowest_differing(
        int.from_bytes(ends[0], "big") ^ int.from_bytes(ends[1], "big"), most
    )


def _lowest_differing(differing: int, most: int) -> int:
    """Return how many bytes of a number are zero before the first that isn't."""
    return ((differing & -differing).bit_length() - 1) // 8 if differing else most
