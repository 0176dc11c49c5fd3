"""Changes to images as an attacker, a bad disk or chance would make them."""

from random import Random

from image_parts import ImageParts, compress, put_together, take_apart
from snapcraft_compression_advisor.core.errors import AdvisorError

NUMBERS = (
    *(0, 1, 2, 3, 4, 8, 16, 31, 32, 255, 256, 257, 4095, 4096, 4097, 8191, 8192),
    *((1 << n) + more for n in (15, 16, 17, 20, 24, 31, 32, 63) for more in (-1, 0)),
    *(0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, 1 << 24 | 4096, 1 << 24 | 1),
)
"""Lengths, counts and flags at which the format, or arithmetic, has an edge."""
_FIELD_BYTES = (*[4] * 5, *[2] * 6, *[8] * 8)
_TABLE_SHARES = ("inodes",) * 5 + ("directories",) * 4 + ("fragments", "exports", "ids")


def mutate_image(raw: bytes, random: Random) -> bytes:
    """Return an image with some change in its tables, its superblock or its bytes."""
    if random.random() < 0.15:
        return mutate_bytes(raw, random)
    try:
        parts = take_apart(raw)
    except (AdvisorError, ValueError, LookupError, ArithmeticError):
        return mutate_bytes(raw, random)
    except Exception as error:
        if type(error).__name__ != "error":  # struct.error, zlib.error
            raise
        return mutate_bytes(raw, random)
    parts.stored = random.random() < 0.7
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _mutate_parts(parts, random)
    return put_together(parts)


def _mutate_parts(parts: ImageParts, random: Random) -> None:
    choice = random.random()
    if choice < 0.7:
        name = random.choice(_TABLE_SHARES)
        parts.tables[name] = mutate_bytes(parts.tables[name], random)
    elif choice < 0.85:
        number = random.randrange(len(_FIELD_BYTES))
        top = 1 << 8 * _FIELD_BYTES[number]
        near = parts.fields[number] + random.randint(-4, 4)
        parts.overrides[number] = random.choice((near, random.choice(NUMBERS))) % top
    elif choice < 0.9:
        name = random.choice(("fragments", "exports", "ids"))
        parts.shifts[name, 0] = random.choice((-9000, -3, -2, -1, 1, 2, 9000))
    else:
        parts.data = _mutate_data(parts, random)


def _mutate_data(parts: ImageParts, random: Random) -> bytes:
    """Return other data: changed bytes, or a whole block that decompresses."""
    if random.random() < 0.5 or not parts.data:
        return mutate_bytes(parts.data, random)
    contents = bytes([random.randrange(256)]) * random.choice((1, 4096, 4097, 131073))
    block = compress(contents, parts.codec)[: len(parts.data)]
    return block + parts.data[len(block) :]


def mutate_bytes(contents: bytes, random: Random) -> bytes:
    """Return contents with a number, a bit, a piece or their length changed."""
    changed = bytearray(contents)
    position = random.randrange(len(changed) + 1)
    if random.random() < 0.6:
        position &= ~1
    kind = random.randrange(8)
    if kind <= 3:
        length = random.choice((1, 2, 2, 4, 4, 4, 8))
        value = random.choice(NUMBERS)
        if random.random() < 0.3:
            before = int.from_bytes(changed[position : position + length], "little")
            value = before + random.randint(-3, 3)
        number = (value % (1 << 8 * length)).to_bytes(length, "little")
        changed[position : position + length] = number
    elif kind == 4:
        if position < len(changed):
            changed[position] ^= 1 << random.randrange(8)
    elif kind == 5:
        del changed[position : position + random.choice((1, 2, 4, 8, 16, 32, 100))]
    else:
        start = random.randrange(len(changed) + 1)
        piece = changed[start : start + random.choice((1, 2, 4, 8, 16, 32, 64, 256))]
        end = position + (len(piece) if kind == 6 else 0)
        changed[position:end] = piece
    return bytes(changed)
