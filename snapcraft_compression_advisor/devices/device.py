"""Device profiles: what reading and decompressing cost on a machine.

A kernel's way of reading squashfs is chosen when it is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..core.units import Interval

FileMode = Literal["cache", "direct", "unknown"]
"""If a block is decompressed: into a buffer of squashfs (``SQUASHFS_FILE_CACHE``),
from which its pages are copied, or into the pages (``SQUASHFS_FILE_DIRECT``)."""

Decompressors = Literal["single", "multi", "percpu", "unknown"] | int
"""Of a mount: one, as many as are busy (at most twice the processors), one for each
processor, or a number that was asked for with ``threads=``."""

FIRST_WITH_CHOICE = (6, 2)
"""Linux 6.2 brought ``threads=`` (commit 80f784098ff4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProfile:
    """A kernel, as far as it matters to squashfs.

    :param versions: as ``6.8``, or ``4.15 to 6.8`` for devices of a kind; ``unknown``
        if nothing is known of them.
    :param decompressors: of a mount that doesn't ask for a number, as those of snapd.
    :param source: where this is known from; or why it isn't known.
    """

    versions: str
    file_mode: FileMode
    decompressors: Decompressors
    source: str


NOT_IN_PROFILE = KernelProfile(
    versions="unknown",
    file_mode="unknown",
    decompressors="unknown",
    source="kernel: unknown; the profile doesn't name it",
)
"""Of a profile that was written before kernels were in them."""

_ONCE = Interval.exactly(1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCost:
    """Processor time of one data block.

    It is ``block_s`` + raw bytes x ``raw_s_per_byte`` + stored bytes x
    ``stored_s_per_byte``: what is written and what is decoded count each for itself,
    as the kernel's decompressors show (``study/kernel_blocks.py``).

    The low ends belong together, and so do the high ends: each is one scenario.

    :param block_s: seconds of any block, however small.
    :param raw_s_per_byte: seconds per byte of contents.
    :param stored_s_per_byte: seconds per byte in the image.
    """

    block_s: Interval
    raw_s_per_byte: Interval
    stored_s_per_byte: Interval

    def map(self, change: Callable[[Interval], Interval]) -> BlockCost:
        """Return the cost with each of its parts changed."""
        return BlockCost(
            block_s=change(self.block_s),
            raw_s_per_byte=change(self.raw_s_per_byte),
            stored_s_per_byte=change(self.stored_s_per_byte),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceProfile:
    """A machine that a snap starts on.

    The low ends of all intervals together are a fast device of its kind, the high
    ends a slow one.

    :param name: as ``--device`` takes it.
    :param seek_s: from asking for a block that doesn't follow the last one until
        its first byte, seconds.
    :param read_s_per_byte: storage time per byte of a continuous read.
    :param fill: what reading any block costs, compressed or not: the request, its
        pages, the copy.
    :param decompress: by codec, what decompressing a block adds; :data:`NO_COST` for
        ``none``. A stored block has only ``fill``.
    :param processors: that a launch can use.
    :param sources: where the figures come from: measured, published.
    :param kernel: how it reads squashfs.
    :param decompressions_per_block: how often a launch's blocks are decompressed, as
        far as ``decompress`` has it in it.
    """

    name: str
    description: str
    seek_s: Interval
    read_s_per_byte: Interval
    fill: BlockCost
    decompress: Mapping[str, BlockCost]
    processors: int
    sources: tuple[str, ...]
    kernel: KernelProfile = NOT_IN_PROFILE
    decompressions_per_block: Interval = _ONCE


_NOTHING = Interval.exactly(0.0)
NO_COST = BlockCost(
    block_s=_NOTHING, raw_s_per_byte=_NOTHING, stored_s_per_byte=_NOTHING
)


def block_seconds(cost: BlockCost, *, raw_bytes: float, stored_bytes: float) -> float:
    """Return the middle of a block's cost, in seconds."""
    return (
        cost.block_s.mid
        + raw_bytes * cost.raw_s_per_byte.mid
        + stored_bytes * cost.stored_s_per_byte.mid
    )


def scaled(cost: BlockCost, factor: Interval) -> BlockCost:
    """Return a cost times a factor: its middles alone count."""
    parts = (cost.block_s, cost.raw_s_per_byte, cost.stored_s_per_byte)
    block_s, raw_s, stored_s = map(factor.__mul__, [part.mid for part in parts])
    return BlockCost(block_s=block_s, raw_s_per_byte=raw_s, stored_s_per_byte=stored_s)
