"""Where the dynamic loader finds libraries of a snap, a base or a content snap."""

from __future__ import annotations

from snapcraft_compression_advisor.payload.linkage import TRIPLETS

LIBRARY_DIRECTORIES = tuple(
    f"{prefix}{directory}"
    for prefix in ("", "usr/")
    for directory in ("lib", *(f"lib/{triplet}" for triplet in TRIPLETS.values()))
)
"""What snapcraft puts on a snap's library path by itself, and what bases have."""
