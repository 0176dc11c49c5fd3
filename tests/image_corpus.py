"""The corpus of hostile images, built the same each time.

It isn't kept in the repository: it takes seconds to build, a thousand images would
weigh more than all code, and a change of the script shows what changed in it.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from image_bombs import bombs
from image_mutation import NUMBERS, mutate_image
from image_parts import SUPERBLOCK
from image_seeds import small_images

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FLIPS, _CUTS, _MUTATIONS = 8, 8, 40


def corpus(scratch: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every image with a name for messages.

    :param scratch: a directory to build the right ones in.
    """
    yield from bombs()
    for name, raw in small_images(scratch).items():
        yield f"{name}-right", raw
        yield from _damaged(name, raw)
        yield from _lying(name, raw)


def _damaged(name: str, raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield an image with a bit flipped, truncated, or changed in its tables."""
    for number in range(_FLIPS):
        flipped = bytearray(raw)
        position = number * len(raw) // _FLIPS + 5 * number % 96
        flipped[position % len(raw)] ^= 1 << number
        yield f"{name}-flip{number}", bytes(flipped)
    for number in range(_CUTS):
        yield f"{name}-cut{number}", raw[: number * len(raw) // _CUTS]
    for number in range(_MUTATIONS):
        random = Random(f"{name} {number}")
        changed = raw
        for _ in range(1 + number % 3):
            changed = mutate_image(changed, random)
        yield f"{name}-table{number}", changed


def _lying(name: str, raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield an image with an absurd number in each field of its superblock."""
    fields = SUPERBLOCK.unpack_from(raw)
    random = Random(name)
    for number in range(1, len(fields)):
        changed = list(fields)
        top = 1 << 8 * (4 if number < 5 else 2 if number < 11 else 8)
        changed[number] = random.choice(NUMBERS) % top
        yield (
            f"{name}-field{number}",
            SUPERBLOCK.pack(*changed) + raw[SUPERBLOCK.size :],
        )
