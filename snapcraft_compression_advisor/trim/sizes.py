"""By how much an image shrinks without some files."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..codecs import CODECS
from ..core.units import MIB, Interval
from ..payload.references import needed_directories
from ..payload.source import Payload
from ..trial.look import map_in_order, read_block
from ..trial.result import (
    METADATA_ERROR,
    PADDING_BYTES,
    TrialResult,
    metadata_of,
)
from ..trial.stored import BlockSizes, StoredSizes
from .filters import emptied_directories
from .needed import without_files

MOST_TRIED_BYTES = 64 * MIB
"""With xz, one core compresses as many in some 40 s."""

_SEED = 1


@dataclass(frozen=True, kw_only=True)
class TrimSizes:
    """What files take in an image: their data blocks and their metadata."""

    payload: Payload
    codec: str
    stored: StoredSizes

    def freed(self, paths: Collection[str]) -> Interval:
        """Return by how many bytes the image shrinks without some files and links.

        Directories of which nothing stays go with them.
        """
        data = self.stored.freed(paths, self.codec) or Interval.exactly(0)
        inventory = self.payload.inventory
        gone = {*paths, *emptied_directories(paths, inventory, self._needed)}
        metadata = self._all_metadata_bytes - self._metadata_bytes(gone)
        error = METADATA_ERROR * metadata
        return data + Interval.around(metadata - error, metadata, metadata + error)

    def image_smaller(self, paths: Collection[str]) -> Interval:
        """Return what that makes of the file: mksquashfs pads images to 4 KiB."""
        freed = self.freed(paths)
        if not freed.high:
            return freed
        return Interval(
            low=max(0.0, freed.low - PADDING_BYTES),
            mid=freed.mid,
            high=freed.high + PADDING_BYTES,
        )

    @cached_property
    def _needed(self) -> frozenset[str]:
        return needed_directories(self.payload.snap)

    @cached_property
    def _all_metadata_bytes(self) -> float:
        return self._metadata_bytes(())

    def _metadata_bytes(self, gone: Collection[str]) -> float:
        return metadata_of(without_files(self.payload, gone).inventory)[self.codec]


def trim_sizes(
    payload: Payload, trial: TrialResult, codec: str, paths: Collection[str]
) -> TrimSizes | None:
    """Return sizes for which the blocks of some files were compressed one by one.

    A sample of the whole payload says little of the few files of a kind that go.

    :param trial: whose sizes other files keep.
    :param paths: of the files; at most :data:`MOST_TRIED_BYTES` of their blocks, drawn
        by lot, are compressed.
    :returns: ``None`` if the trial knows no sizes of files.
    """
    stored = trial.stored
    sizes = stored.codecs.get(codec) if stored else None
    if stored is None or sizes is None:
        return None
    tried = _tried(payload, stored, sizes, codec, paths)
    return TrimSizes(
        payload=payload,
        codec=codec,
        stored=replace(stored, codecs={**stored.codecs, codec: tried}),
    )


def _tried(
    payload: Payload,
    stored: StoredSizes,
    sizes: BlockSizes,
    codec: str,
    paths: Collection[str],
) -> BlockSizes:
    """Return sizes, those of files' blocks as the codec makes them."""
    layout = stored.layout
    runs = sizes.runs if len(sizes.runs) else np.zeros(layout.block_count, dtype=int)
    numbers = sorted(
        {
            number
            for path in paths
            for number in layout.blocks_of(path)
            if sizes.errors[number] or runs[number]
        }
    )
    drawn = _drawn(numbers, layout.raw_bytes())
    contents = (read_block(payload, layout.block(number)) for number in drawn)
    found = map(len, map_in_order(CODECS[codec].compress, contents))
    stored_bytes, errors = sizes.stored_bytes.copy(), sizes.errors.copy()
    stored_bytes[drawn] = np.fromiter(found, dtype=np.float64, count=len(drawn))
    errors[drawn] = 0.0
    runs = runs.copy()
    runs[drawn] = 0
    return BlockSizes(stored_bytes=stored_bytes, errors=errors, runs=runs)


def _drawn(numbers: list[int], raw_bytes: NDArray[np.int64]) -> list[int]:
    """Return the numbers of blocks to compress, by lot if they are too many."""
    chance = random.Random(_SEED)  # noqa: S311 # a sample, not a secret
    chance.shuffle(numbers)
    kept = np.cumsum(raw_bytes[numbers]) <= MOST_TRIED_BYTES
    return sorted(number for number, keeps in zip(numbers, kept, strict=True) if keeps)
