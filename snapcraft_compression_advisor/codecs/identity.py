"""No compression at all: every block is stored."""

from __future__ import annotations

from snapcraft_compression_advisor.codecs.bound import broken_block
from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES


class Identity:
    """What ``mksquashfs -noI -noD -noF -noX`` does: the bytes stay as they are."""

    name = "none"
    shippable = False
    available = True
    exact = True
    implementation = "stored"

    def compress(self, block: bytes, *, block_bytes: int = DATA_BLOCK_BYTES) -> bytes:
        """Return the block itself."""
        del block_bytes
        return block

    def decompress(self, block: bytes, *, max_bytes: int) -> bytes:
        """Return the block itself.

        :raises BadDataError: where it is longer than allowed.
        """
        if len(block) > max_bytes:
            raise broken_block(self.name, f"more than {max_bytes} bytes")
        return block
