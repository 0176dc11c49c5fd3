"""Files compared with each other."""

from __future__ import annotations

from pathlib import Path

from .units import MIB


def first_difference(first: Path, second: Path) -> int | None:
    """Return the first byte in which two files differ; ``None`` where in none."""
    position = 0
    with first.open("rb") as one, second.open("rb") as other:
        while True:
            left, right = one.read(MIB), other.read(MIB)
            if left != right:
                return position + common_bytes(left, right)
            if not left:
                return None
            position += len(left)


def common_bytes(left: bytes, right: bytes) -> int:
    """Return how many bytes are equal before the first difference."""
    pairs = zip(left, right, strict=False)
    shorter = min(len(left), len(right))
    return next((at for at, (a, b) in enumerate(pairs) if a != b), shorter)
