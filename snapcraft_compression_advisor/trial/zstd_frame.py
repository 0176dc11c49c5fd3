"""What a zstd frame says of its contents without decompressing it.

How much of a block is literals, and how many repeats the rest is made of, tells more
about what other compressors make of it than its size alone. The format is that of
RFC 8878, section 3.1.1.
"""

from __future__ import annotations

from dataclasses import dataclass

_MAGIC_BYTES = 4
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_RAW_BLOCK, _RLE_BLOCK, _COMPRESSED_BLOCK = range(3)
_LONG_SEQUENCE_COUNT = 0x7F00


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameParts:
    """What a frame consists of, its blocks summed.

    :param literals: bytes of contents that are literals.
    :param literal_bytes: bytes that these take in the frame.
    :param sequences: repeats.
    :param sequence_bytes: bytes that these take.
    """

    literals: int
    literal_bytes: int
    sequences: int
    sequence_bytes: int


def frame_parts(frame: bytes) -> FrameParts:
    """Return what a frame consists of.

    :param frame: as libzstd wrote it, without a checksum.
    """
    literals = literal_bytes = sequences = sequence_bytes = 0
    position, last = _frame_header_bytes(frame), False
    while not last:
        header = int.from_bytes(frame[position : position + 3], "little")
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        position += 3
        if kind == _COMPRESSED_BLOCK:
            count, taken = _literals(frame, position)
            literals += count
            literal_bytes += taken
            sequences += _sequence_count(frame, position + taken)
            sequence_bytes += size - taken
        else:
            literals += size if kind == _RAW_BLOCK else 0
            literal_bytes += size if kind == _RAW_BLOCK else 1
        position += 1 if kind == _RLE_BLOCK else size
    return FrameParts(
        literals=literals,
        literal_bytes=literal_bytes,
        sequences=sequences,
        sequence_bytes=sequence_bytes,
    )


def _frame_header_bytes(frame: bytes) -> int:
    """Return where the first block begins (section 3.1.1.1)."""
    descriptor = frame[_MAGIC_BYTES]
    single_segment = descriptor >> 5 & 1
    size_flag = descriptor >> 6
    size_bytes = (single_segment, 2, 4, 8)[size_flag]
    window_bytes = 1 - single_segment
    identifier_bytes = _DICTIONARY_ID_BYTES[descriptor & 3]
    return _MAGIC_BYTES + 1 + window_bytes + identifier_bytes + size_bytes


def _literals(frame: bytes, position: int) -> tuple[int, int]:
    """Return the literals of a block, and what their section takes (3.1.1.3.1)."""
    kind, form = frame[position] & 3, frame[position] >> 2 & 3
    header = int.from_bytes(frame[position : position + 5], "little")
    if kind <= 1:  # raw, or one byte repeated
        header_bytes = (1, 2, 1, 3)[form]
        count = (header & (1 << 8 * header_bytes) - 1) >> (4 if form & 1 else 3)
        return count, header_bytes + (count if kind == 0 else 1)
    header_bytes, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
    count = header >> 4 & (1 << bits) - 1
    stored = header >> 4 + bits & (1 << bits) - 1
    return count, header_bytes + stored


def _sequence_count(frame: bytes, position: int) -> int:
    """Return the number of sequences that a block begins with (3.1.1.3.2)."""
    first = frame[position]
    if first < 128:  # noqa: PLR2004 # one byte holds it
        return first
    if first < 255:  # noqa: PLR2004 # two bytes hold it
        return (first - 128 << 8) + frame[position + 1]
    return frame[position + 1] + (frame[position + 2] << 8) + _LONG_SEQUENCE_COUNT
