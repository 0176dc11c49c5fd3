"""What a trial found out: sizes of images, and of files' data blocks in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..codecs import CODECS
from ..core.units import Interval
from ..payload.layout import Layout
from ..payload.source import Payload, SnapPayload
from ..squashfs.entry import ImageBlock
from .stored import StoredSizes


class BlockPlaces(Protocol):
    """Knows which blocks a file has."""

    def blocks_of(self, path: str) -> range:
        """Return the numbers of a file's blocks; none for a file without contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlocks:
    """The data blocks of files, all in one row: a launch may read 100,000.

    Arrays have an element for each block.

    :param places: which of them a file has.
    :param raw_bytes: their lengths in the files.
    :param stored_bytes: their lengths in the image; 0 for blocks of zeros.
    :param compressed: whether the kernel has to decompress them.
    """

    places: BlockPlaces
    raw_bytes: NDArray[np.int64]
    stored_bytes: NDArray[np.float64]
    compressed: NDArray[np.bool_]

    def with_files_of(self, other: StoredBlocks, paths: Iterable[str]) -> StoredBlocks:
        """Return these blocks, those of some files as another image holds them.

        :param paths: of files that are the same in both; one that either of them
            doesn't have stays as it is.
        """
        stored_bytes, compressed = self.stored_bytes.copy(), self.compressed.copy()
        for path in paths:
            own, its = self.places.blocks_of(path), other.places.blocks_of(path)
            if len(own) == len(its):
                here, there = slice(own.start, own.stop), slice(its.start, its.stop)
                stored_bytes[here] = other.stored_bytes[there]
                compressed[here] = other.compressed[there]
        return replace(self, stored_bytes=stored_bytes, compressed=compressed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranges:
    """Places of files whose blocks stand one behind the other."""

    ranges: Mapping[str, range]

    def blocks_of(self, path: str) -> range:
        return self.ranges.get(path, range(0))


def blocks_of_files(
    files: Mapping[str, Sequence[ImageBlock]],
) -> StoredBlocks:
    """Return the data blocks of files, given by path."""
    ranges: dict[str, range] = {}
    rows: list[ImageBlock] = []
    for path, blocks in files.items():
        ranges[path] = range(len(rows), len(rows) + len(blocks))
        rows += blocks
    return StoredBlocks(
        places=_Ranges(ranges=ranges),
        raw_bytes=np.array([row.raw_bytes for row in rows], dtype=np.int64),
        stored_bytes=np.array([row.stored_bytes for row in rows], dtype=np.float64),
        compressed=np.array([row.compressed for row in rows], dtype=np.bool_),
    )


def blocks_of_layout(layout: Layout, stored_bytes: NDArray[np.float64]) -> StoredBlocks:
    """Return all blocks of a layout, given the size of each in an image."""
    raw_bytes = layout.raw_bytes()
    return StoredBlocks(
        places=layout,
        raw_bytes=raw_bytes,
        stored_bytes=stored_bytes,
        compressed=(stored_bytes > 0) & (stored_bytes < raw_bytes),
    )


Progress = Callable[[str], None]
"""Is told what long work is doing: a line that the next one replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecTrial:
    """One codec's image.

    :param image_bytes: the image's size; None if the codec isn't available.
    :param blocks: the data blocks of all files.
    """

    codec: str
    image_bytes: Interval | None
    blocks: StoredBlocks = field(
        default_factory=lambda: blocks_of_files({}), compare=False
    )

    @property
    def shippable(self) -> bool:
        """Whether snapcraft and the store accept it."""
        return CODECS[self.codec].shippable

    @property
    def available(self) -> bool:
        """Whether this machine can pack with it."""
        return self.image_bytes is not None


def notes_on_payload(payload: Payload) -> tuple[str, ...]:
    """Return what a reader should know of sizes made from a payload."""
    unlike = payload.unlike_snap_pack() if isinstance(payload, SnapPayload) else None
    if unlike is None:
        return ()
    sizes = "Sizes are for images that 'snap pack' would make, not for this one"
    return (f"{sizes}: {unlike}",)


def size_difference(
    first: CodecTrial | None, second: CodecTrial | None
) -> Interval | None:
    """Return how much larger one codec's image is, the ends combined the worst way."""
    if first is None or second is None:
        return None
    one, other = first.image_bytes, second.image_bytes
    if one is None or other is None:
        return None
    return Interval(
        low=one.low - other.high, mid=one.mid - other.mid, high=one.high - other.low
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """Every codec's image.

    :param tool: source of the sizes, with its version.
    :param codecs: by name, in the order of the report.
    :param lzo_less_xz_bytes: the difference of the two sizes, whose interval is
        narrower than theirs, since the same blocks went to both; ``None`` if either
        isn't available.
    :param notes: what a reader should know of these sizes.
    :param stored: what every file comes to, if that is known.
    """

    mode: Literal["exact", "sampled"]
    tool: str
    codecs: Mapping[str, CodecTrial]
    lzo_less_xz_bytes: Interval | None
    notes: tuple[str, ...] = ()
    stored: StoredSizes | None = field(default=None, compare=False, repr=False)
