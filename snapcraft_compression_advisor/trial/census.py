"""Every data block with a size that foretells what the slow codecs make of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.codecs.codec import DATA_BLOCK_BYTES
from snapcraft_compression_advisor.codecs.deflate import Gzip
from snapcraft_compression_advisor.codecs.pool import map_in_order
from snapcraft_compression_advisor.codecs.zstandard import Zstd
from snapcraft_compression_advisor.errors import StorageError
from snapcraft_compression_advisor.payload.source import SnapPayload
from snapcraft_compression_advisor.trial.zstd_frame import frame_parts
from snapcraft_compression_advisor.units import MIB

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.codecs.codec import Codec
    from snapcraft_compression_advisor.payload.layout import DataBlock, Layout
    from snapcraft_compression_advisor.payload.source import Payload

MOST_BLOCKS = 16_384
MOST_BYTES = 320 * MIB
"""Payloads of up to so many blocks and bytes are looked at whole."""

SPREAD_BLOCKS = 2_048
"""Blocks looked at of a larger payload, evenly spread. That they aren't all adds to the
interval: on a browser and an office suite, 0.2 to 0.3 % of the size (one standard
deviation), half of what the sample itself does."""

FAST_LEVEL = 1
"""zstd's fastest ordinary level: some twenty times as fast as level 15, and on blocks
of Debian packages a better predictor of the slow codecs than lz4."""

_BATCH_BLOCKS = 16
_ZEROS = bytes(DATA_BLOCK_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """The blocks that stand for a payload, each with a predicting size.

    Arrays have one element for each block; blocks of zeros aren't among them.

    :param numbers: of the blocks in the layout, ascending.
    :param raw_bytes: their lengths.
    :param fast_bytes: their sizes with a fast codec, or in the snap that they are
        read from.
    :param parts: what that codec's frames consist of, a column each for literals,
        sequences and the sequences' bytes; no columns where that isn't known.
    :param weights: how many blocks of the payload each stands for; 1 where all are in.
    :param codec: whose sizes ``fast_bytes`` are, where they are those of a built snap.
    """

    numbers: NDArray[np.int64]
    raw_bytes: NDArray[np.float64]
    fast_bytes: NDArray[np.float64]
    parts: NDArray[np.float64]
    weights: NDArray[np.float64]
    codec: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every block of the payload is in it."""
        return bool((self.weights == 1).all())


def take_census(
    payload: Payload,
    layout: Layout,
    *,
    always: Collection[int] = (),
    spread_blocks: int = SPREAD_BLOCKS,
) -> Census:
    """Get a predicting size for a payload's blocks.

    Of a built snap these are the sizes in it, which cost nothing; else blocks are read
    and compressed with a fast codec.

    :param always: numbers of blocks that are to be in it.
    :param spread_blocks: how many blocks stand for a payload that is large.
    :raises StorageError: where a file changes or vanishes meanwhile.
    """
    raw_bytes = layout.raw_bytes()
    codec = None
    if isinstance(payload, SnapPayload) and _packed_alike(payload, layout):
        codec = payload.packed_with
        numbers = np.arange(layout.block_count)
        weights = np.ones(len(numbers))
        columns = _sizes_in_snap(payload, layout)
    else:
        numbers, weights = _frame(layout, raw_bytes, always, spread_blocks)
        columns = _fast_sizes(payload, layout, numbers)
    kept = columns[:, 0] > 0
    return Census(
        numbers=numbers[kept],
        raw_bytes=raw_bytes[numbers][kept].astype(np.float64),
        fast_bytes=columns[kept, 0],
        parts=columns[kept, 1:],
        weights=weights[kept],
        codec=codec,
    )


def _frame(
    layout: Layout,
    raw_bytes: NDArray[np.int64],
    always: Collection[int],
    spread_blocks: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of the census's blocks, ascending, and their weights."""
    eligible = ~layout.holes
    count = int(np.count_nonzero(eligible))
    if count <= MOST_BLOCKS and raw_bytes[eligible].sum() <= MOST_BYTES:
        return np.flatnonzero(eligible), np.ones(count)
    sure = np.zeros(layout.block_count, dtype=np.bool_)
    sure[list(always)] = True
    sure &= eligible
    rest, weights = spread(raw_bytes, eligible & ~sure, spread_blocks)
    numbers = np.concatenate((np.flatnonzero(sure), rest))
    ascending = np.argsort(numbers)
    every = np.concatenate((np.ones(int(np.count_nonzero(sure))), weights))
    return numbers[ascending], every[ascending]


def spread(
    sizes: NDArray[np.int64], eligible: NDArray[np.bool_], most: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Choose elements evenly along the sum of their sizes, larger ones more often.

    :param sizes: of all elements.
    :param eligible: which may be chosen.
    :param most: how many to choose; all where there are no more.
    :returns: indices, ascending, and how many elements each stands for.
    """
    indices = np.flatnonzero(eligible)
    if len(indices) <= most:
        return indices, np.ones(len(indices))
    ends = np.cumsum(sizes[indices], dtype=np.float64)
    points = (np.arange(most) + 0.5) / most * ends[-1]
    chosen = np.unique(np.searchsorted(ends, points))
    expected = most * sizes[indices[chosen]] / ends[-1]
    return indices[chosen], 1 / np.minimum(1.0, expected)


def read_block(payload: Payload, block: DataBlock) -> bytes:
    """Return a block's contents.

    :raises StorageError: where the file isn't what was listed any more.
    """
    contents = payload.read(block.path, offset=block.offset, length=block.raw_bytes)
    if len(contents) == block.raw_bytes:
        return contents
    message = f"{block.path!r} became shorter while it was read"
    raise StorageError(
        message, resolution="Wait until the build is complete and try again."
    )


def _packed_alike(payload: SnapPayload, layout: Layout) -> bool:
    """Tell whether a snap has the blocks that ``snap pack`` would make.

    One with other block sizes, with fragments or with options of its own hasn't.
    """
    superblock = payload.image.superblock
    if superblock.uncompressed_data or payload.image.compressor_options is not None:
        return False
    blocks = (payload.stored_blocks(path) for path in layout.paths)
    counts = (0 if each is None or each.fragment else len(each) for each in blocks)
    same_size = superblock.block_bytes == DATA_BLOCK_BYTES
    return same_size and list(counts) == np.diff(layout.first_block).tolist()


def _sizes_in_snap(payload: SnapPayload, layout: Layout) -> NDArray[np.float64]:
    sizes = (
        block.stored_bytes
        for path in layout.paths
        for block in payload.stored_blocks(path) or ()
    )
    return np.fromiter(sizes, dtype=np.float64, count=layout.block_count)[:, None]


def _fast_sizes(
    payload: Payload, layout: Layout, numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return each block's size with a fast codec, and the parts of its frame."""
    fast = Zstd(level=FAST_LEVEL)
    look = partial(_zstd_row, codec=fast) if fast.available else _gzip_row

    def rows(batch: list[bytes]) -> list[tuple[int, ...]]:
        return [look(contents) for contents in batch]

    batches: Iterator[list[bytes]] = (
        [read_block(payload, layout.block(int(number))) for number in batch]
        for batch in _batches(numbers)
    )
    found = [row for batch in map_in_order(rows, batches) for row in batch]
    columns = len(found[0]) if found else 1
    return np.array(found, dtype=np.float64).reshape(len(numbers), columns)


def _zstd_row(contents: bytes, *, codec: Codec) -> tuple[int, ...]:
    if _is_zero(contents):
        return 0, 0, 0, 0
    frame = codec.compress(contents)
    if len(frame) == len(contents):
        return len(contents), len(contents), 0, 0
    parts = frame_parts(frame)
    return len(frame), parts.literals, parts.sequences, parts.sequence_bytes


def _gzip_row(contents: bytes) -> tuple[int, ...]:
    return (0,) if _is_zero(contents) else (len(Gzip().compress(contents)),)


def _is_zero(contents: bytes) -> bool:
    """Tell whether mksquashfs makes a hole of a block."""
    return contents == _ZEROS[: len(contents)]


def _batches(numbers: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(numbers), _BATCH_BLOCKS):
        yield numbers[start : start + _BATCH_BLOCKS]
