"""What xdelta3 finds of one run of bytes in another, and what is left to send.

As xdelta3 does (``xdelta3.c``, 3.0.11): a table of checksums of the old bytes gives
for every place in the new ones at most one candidate, which is then followed as far
as both agree. What no match covers is sent as it is. Literals, instructions and
addresses are three sections, each compressed with LZMA (``xdelta3-lzma.h``).
"""

from __future__ import annotations

import lzma
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.units import KIB, MIB

KEY_BYTES = 8
"""Shortest match looked for: one of eight bytes is one machine word, so its own
checksum. xdelta3 looks for nine (``large_look``)."""
OLD_STEP = 8
"""Every so manieth place of the old bytes is in the table (``large_step``)."""
COPY_FACTORS: Mapping[int, float] = {3: 2.37, 7: 2.04}
"""By level, scale factor of instructions and addresses: xdelta3 also copies short runs
from what it sent before, which takes more of these than it saves in literals. Fitted by
``study/refresh_matching.py`` to rebuilt programs."""
TEXT_COPY_FACTOR = 0.76
"""Likewise of text, at level 7: a new version of a text says again what others of its
lines say, so copies from what was sent before take the place of several from the old
text. The median of modules in Python and Ruby."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hashing
_DICTIONARY_BYTES = 8 * MIB
_LEAST_DICTIONARY_BYTES = 4 * KIB
"""What liblzma takes; a larger one than the section only costs time."""
_NEAR = 16
"""How many bytes after a match its distance is looked at first."""
_SMALL = tuple(bytes([value]) for value in range(0x80))
_FIRST_STEP, _MOST_STEP = 32, 4096
"""Bytes that are compared at once."""
_LITERALS_BYTES = 128 * KIB
"""Of literals that are compressed, as a sample of all."""
_LZMA_CHUNK, _LZMA_PROPERTIES = 0x80, 0xC0
"""Control bytes of LZMA2 from which on a chunk is compressed, and has properties."""
_LEAST_GAIN = 2
"""A section that LZMA makes no shorter stays as it is (``SECONDARY_MIN_SAVINGS``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """What a delta sends of some bytes, before its compression.

    :param literals: bytes that weren't found.
    :param instructions: lengths of literals and copies, in their order.
    :param addresses: where copies come from, each counted from the end of the last.
    """

    literals: bytes
    instructions: bytes
    addresses: bytes

    @property
    def lengths(self) -> tuple[int, int, int]:
        """Bytes of each section."""
        return len(self.literals), len(self.instructions), len(self.addresses)


def joined(parts: Sequence[Sections]) -> Sections:
    """Return several parts as those of one delta; of each part's literals the first."""
    lengths = sum(len(each.literals) for each in parts)
    share = max(1, -(-lengths // _LITERALS_BYTES))
    return Sections(
        literals=b"".join(
            each.literals[: -(-len(each.literals) // share)] for each in parts
        ),
        instructions=b"".join(each.instructions for each in parts),
        addresses=b"".join(each.addresses for each in parts),
    )


@dataclass(frozen=True, slots=True)
class Compressed:
    """How long a section is in a delta.

    :param length: in bytes.
    :param coded: how many of these LZMA has to decode.
    """

    length: int
    coded: int


def compressed(section: bytes, *, level: int) -> Compressed:
    """Return the length of a section in a delta.

    :param level: xdelta3's, which is the preset of liblzma.
    """
    chain = {
        "id": lzma.FILTER_LZMA2,
        "preset": level,
        "dict_size": min(max(len(section), _LEAST_DICTIONARY_BYTES), _DICTIONARY_BYTES),
    }
    stream = lzma.compress(section, lzma.FORMAT_RAW, filters=[chain])
    if len(stream) + _LEAST_GAIN > len(section):
        return Compressed(len(section), 0)
    return Compressed(len(stream), _coded_bytes(stream))


def _coded_bytes(stream: bytes) -> int:
    """Return how many bytes are in compressed chunks of LZMA2.

    Of chunks that LZMA makes no shorter, it stores the contents. A chunk has a control
    byte, two bytes of its contents' length, and, if it is compressed, two of its own
    and one of properties where the control byte says so (``lzma2_decoder.c``).
    """
    place = coded = 0
    while place < len(stream) and (control := stream[place]):
        lengths = stream[place + 1 : place + 5]
        if control < _LZMA_CHUNK:
            place += 3 + int.from_bytes(lengths[:2], "big") + 1
        else:
            length = int.from_bytes(lengths[2:], "big") + 1
            place += 5 + (control >= _LZMA_PROPERTIES) + length
            coded += length
    return coded


def section_rates(sections: Sections, *, level: int) -> tuple[list[float], list[float]]:
    """Return what a byte of each section takes in a delta.

    :param level: xdelta3's, as snapd sets it: 3 or 7.
    :returns: with it how much of that LZMA has to decode.
    """
    rates, coded_rates = [], []
    for part in (sections.literals, sections.instructions, sections.addresses):
        found = compressed(part, level=level)
        rates.append(found.length / max(1, len(part)))
        coded_rates.append(found.coded / max(1, len(part)))
    return rates, coded_rates


def find_matches(old: bytes, new: bytes, *, expected: int = 0) -> Sections:
    """Return what xdelta3 would send of ``new`` to who has ``old``.

    After a match it is the same distance that is tried first: xdelta3 follows several
    candidates and keeps the longest, which that one nearly always is.

    :param expected: the place in ``old`` that the last match before ``new`` led to.
    """
    literals: list[bytes] = []
    instructions, addresses = bytearray(), bytearray()
    places, sources = _candidates(old, new)
    done = index = 0
    while done < len(new):
        index = _first_from(places, done, index)
        place, source = done, expected
        ahead = places[index] if index < len(places) else len(new)
        gap = _resumes_after(old, new, expected, done, _NEAR)
        if gap is not None:
            place, source = done + gap, expected + gap
        elif index < len(places):
            place, source = ahead, sources[index]
            back = _agree_backwards(old, new, source, place, place - done)
            place, source = place - back, source - back
        else:
            break
        length = _agree(old, new, source, place)
        literals.append(new[done:place])
        instructions += _number(place - done) + _number(length)
        addresses += _signed(source - expected)
        done, expected = place + length, source + length
    literals.append(new[done:])
    return Sections(
        literals=b"".join(literals),
        instructions=bytes(instructions),
        addresses=bytes(addresses),
    )


def _resumes_after(
    old: bytes, new: bytes, source: int, place: int, most: int
) -> int | None:
    """Return after how many bytes two places agree again, if soon."""
    for gap in range(most + 1):
        key = old[source + gap : source + gap + KEY_BYTES]
        if key == new[place + gap : place + gap + KEY_BYTES]:
            return gap if len(key) == KEY_BYTES else None
    return None


def _candidates(old: bytes, new: bytes) -> tuple[list[int], list[int]]:
    """Return places in ``new`` whose next bytes are in ``old``, and where there."""
    if min(len(old), len(new)) < KEY_BYTES:
        return [], []
    old_keys = np.frombuffer(old, dtype=np.uint64, count=len(old) // OLD_STEP)
    new_keys = _keys(new)
    bits = max(8, len(old_keys).bit_length() + 1)
    table = np.full(1 << bits, -1, dtype=np.int32)
    table[_hashed(old_keys, bits)] = np.arange(len(old_keys), dtype=np.int32)
    found = table[_hashed(new_keys, bits)]
    hits = np.flatnonzero(found >= 0)
    hits = hits[old_keys[found[hits]] == new_keys[hits]]
    return hits.tolist(), (found[hits].astype(np.int64) * OLD_STEP).tolist()


def _keys(contents: bytes) -> NDArray[np.uint64]:
    """Return the eight bytes at every place as a number each."""
    keys = np.empty(len(contents) - KEY_BYTES + 1, dtype=np.uint64)
    for offset in range(min(KEY_BYTES, len(keys))):
        count = (len(contents) - offset) // KEY_BYTES
        keys[offset::KEY_BYTES] = np.frombuffer(
            contents, dtype=np.uint64, count=count, offset=offset
        )
    return keys


def _hashed(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    hashed: NDArray[np.int64] = ((keys * _GOLDEN) >> np.uint64(64 - bits)).astype(
        np.int64
    )
    return hashed


def _agree(old: bytes, new: bytes, source: int, place: int) -> int:
    """Return how many bytes from two places on are equal."""
    known, step = 0, _FIRST_STEP
    while True:
        one = old[source + known : source + known + step]
        other = new[place + known : place + known + step]
        if one != other:
            return known + equal_bytes(one, other)
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


def _agree_backwards(old: bytes, new: bytes, source: int, place: int, most: int) -> int:
    """Return how many bytes before two places are equal."""
    count = 0
    most = min(most, source)
    while count < most and old[source - count - 1] == new[place - count - 1]:
        count += 1
    return count


def _first_from(places: list[int], start: int, index: int) -> int:
    """Return the index of the first place from ``start`` on."""
    if index < len(places) and places[index] >= start:
        return index
    step = 8
    while index + step < len(places) and places[index + step] < start:
        step *= 8
    return bisect_left(places, start, index, min(len(places), index + step + 1))


def _number(value: int) -> bytes:
    """Return a number in groups of seven bits, as VCDIFF has it (RFC 3284, 2)."""
    if value < len(_SMALL):
        return _SMALL[value]
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(0x80 | value & 0x7F)
    return bytes(reversed(groups))


def _signed(value: int) -> bytes:
    return _number(2 * value if value >= 0 else -2 * value - 1)
