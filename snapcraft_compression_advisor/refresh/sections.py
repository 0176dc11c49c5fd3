"""The sections of a delta: literals, instructions, addresses, each compressed.

xdelta3 compresses each with LZMA (``xdelta3-lzma.h``).
"""

from __future__ import annotations

import lzma
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import frozen
from ..core.units import KIB, MIB

_DICTIONARY_BYTES = 8 * MIB
_LEAST_DICTIONARY_BYTES = 4 * KIB
"""What liblzma takes; a larger one than the section only costs time."""
_LITERALS_BYTES = 128 * KIB
"""Of literals that are compressed, as a sample of all."""
_LZMA_CHUNK, _LZMA_PROPERTIES = 0x80, 0xC0
"""Control bytes of LZMA2 from which on a chunk is compressed, and has properties."""
_CONTEXT_SHIFT, _CONTEXTS = 5, 8
"""LZMA codes a literal by the upper three bits of the byte before it (``lc``)."""
_CODED_ENTROPY = 0.9965
"""Of a chunk's literals, up to which LZMA makes them shorter: as a share of their bits.
``study/refresh_coded.py`` compares it with what LZMA did in real deltas."""
_LEAST_GAIN = 2
"""A section that LZMA makes no shorter stays as it is (``SECONDARY_MIN_SAVINGS``)."""


@frozen
class Sections:
    """What a delta sends of some bytes, before its compression.

    :param literals: bytes that weren't found.
    :param instructions: lengths of literals and copies, in their order.
    :param addresses: where copies come from.
    :param copies: how many copies there are.
    """

    literals: bytes
    instructions: bytes
    addresses: bytes
    copies: int = 0

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
        copies=sum(each.copies for each in parts),
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


def is_coded(literals: bytes) -> bool:
    """Tell whether LZMA most likely makes a chunk's literals shorter.

    Where it doesn't, a device has nothing to decode. That goes by their entropy, given
    the byte before (with the correction of Miller and Madow for few samples).

    :param literals: about 64 KiB, which is how much LZMA2 decides upon at once.
    """
    values = np.frombuffer(literals, dtype=np.uint8).astype(np.int64)
    if len(values) <= 1:
        return False
    pairs = (values[:-1] >> _CONTEXT_SHIFT << 8) + values[1:]
    counts = np.bincount(pairs, minlength=_CONTEXTS << 8).reshape(_CONTEXTS, -1)
    contexts = counts.sum(axis=1)
    seen = np.count_nonzero(counts) - np.count_nonzero(contexts)
    bits = _log_sum(contexts) - _log_sum(counts.ravel()) + seen / 2 / math.log(2)
    return bool(bits < _CODED_ENTROPY * 8 * len(pairs))


def _log_sum(counts: NDArray[np.int64]) -> float:
    some = counts[counts > 0]
    return float((some * np.log2(some)).sum())
