"""Both deltas between two builds, for any codec, estimated without making them."""

from __future__ import annotations

import math
from functools import cached_property

from ..codecs import CODECS
from ..codecs.codec import DATA_BLOCK_BYTES, METADATA_BLOCK_BYTES
from ..core.units import Interval
from ..payload.source import Payload, SnapPayload
from ..trial.result import StoredBlock, blocks_of_files
from ..trial.tables import build_tables, tables_of_image
from .compare import REACH_BYTES, Cost, chunks_cost, text_cost
from .contents import (
    Contents,
    StoredDigests,
    listing,
    packed_contents,
    raw_contents,
    same_blocks,
    stored_contents,
)
from .delta import PLAIN, SNAP_AWARE, DeltaFormat, DeltaSize

PLAIN_LEVEL, SNAP_AWARE_LEVEL = 3, 7
"""xdelta3's, as snapd sets them (``xdelta3PlainTuning``, ``xdelta3Tuning``)."""
ABOVE_ERROR, BELOW_ERROR = 0.3, 0.4
"""Shares by which an estimate may be too small and too large, whatever is drawn:
docs/refresh.md. xdelta3 has more of what was sent before than the search."""
PACKED_DRAWS = {8: 0.25, 16: math.inf}
"""Changed blocks that are compressed where no image holds them: with xz, each takes
some hundredths of a second."""
_PACKED_REACH = 2 * REACH_BYTES
"""Of an image that isn't there, in bytes of its files: they come to about twice."""


_Image = tuple[SnapPayload, StoredDigests]


class DeltaEstimator:
    """Estimates the deltas between two builds.

    What codecs have in common is read once.
    """

    def __init__(self, old: Payload, new: Payload) -> None:
        self._old = old
        self._new = new

    def deltas(self, codec: str) -> dict[DeltaFormat, DeltaSize]:
        """Estimate the deltas between both builds, packed with a codec.

        A format that snapd would refuse for it is left out: see :func:`refusal`.

        :raises AdvisorError: where a build is broken or changes meanwhile.
        """
        found = {PLAIN: self.plain(codec)}
        if refusal(self._new, codec) is None:
            found[SNAP_AWARE] = self.snap_aware
        return found

    @cached_property
    def _stored(self) -> tuple[_Image, _Image] | None:
        """Both images, where equal contents are equal blocks in them."""
        old, new = self._old, self._new
        if (
            isinstance(old, SnapPayload)
            and isinstance(new, SnapPayload)
            and same_blocks(old, new)
        ):
            return (old, StoredDigests(old)), (new, StoredDigests(new))
        return None

    @cached_property
    def _raw(self) -> tuple[Contents, Contents]:
        if self._stored is None:
            return raw_contents(self._old), raw_contents(self._new)
        old, new = self._stored
        return raw_contents(*old), raw_contents(*new)

    @cached_property
    def snap_aware(self) -> DeltaSize:
        """The snap-aware delta, which is the same for every codec."""
        cost = chunks_cost(*self._raw, level=SNAP_AWARE_LEVEL)
        names = text_cost(
            listing(self._old), listing(self._new), level=SNAP_AWARE_LEVEL
        )
        return _delta(cost, names)

    def plain(self, codec: str) -> DeltaSize:
        """Estimate the plain delta between both builds, packed with a codec."""
        if self._stored is not None and self._new.packed_with == codec:
            before, after = self._stored
            cost = chunks_cost(
                stored_contents(*before), stored_contents(*after), level=PLAIN_LEVEL
            )
            tables = text_cost(
                _stored_tables(before[0]), _stored_tables(after[0]), level=PLAIN_LEVEL
            )
            return _delta(cost, tables)
        old, new = self._old, self._new
        raw_old, raw_new = self._raw
        cost = chunks_cost(
            packed_contents(raw_old, codec),
            packed_contents(raw_new, codec),
            level=PLAIN_LEVEL,
            reach_bytes=_PACKED_REACH,
            draws=PACKED_DRAWS,
        )
        tables = text_cost(
            packed_tables(old, raw_old, codec),
            packed_tables(new, raw_new, codec),
            level=PLAIN_LEVEL,
        )
        return _delta(cost, tables)


def estimate_deltas(
    old: Payload, new: Payload, codec: str
) -> dict[DeltaFormat, DeltaSize]:
    """Estimate both deltas between two builds: see :class:`DeltaEstimator`."""
    return DeltaEstimator(old, new).deltas(codec)


def refusal(new: Payload, codec: str) -> str | None:
    """Return why snapd makes no snap-aware delta to a build; ``None`` where it does.

    It can't tell mksquashfs about compressor options (``newDeltaHeaderFromSnap``).
    """
    if isinstance(new, SnapPayload) and new.packed_with == codec:
        refused = new.image.compressor_options is not None
    else:
        refused = codec in CODECS and CODECS[codec].default_options is not None
    if not refused:
        return None
    return f"images with {codec} and compressor options have no snap-aware delta"


def _delta(cost: Cost, rest_bytes: int) -> DeltaSize:
    size = cost.size_bytes
    below = 1 + BELOW_ERROR
    return DeltaSize(
        size_bytes=Interval(
            low=(size.low + rest_bytes) / below,
            mid=size.mid + rest_bytes,
            high=(size.high + rest_bytes) * (1 + ABOVE_ERROR),
        ),
        files=cost.files,
        coded_share=cost.coded_share * size.mid / max(1.0, size.mid + rest_bytes),
    )


def _stored_tables(payload: SnapPayload) -> bytes:
    """Return an image's tables as they stand behind the data."""
    block = payload.image.superblock
    start = block.inode_table_start
    return payload.image.stored_data(start, block.used_bytes - start)


def packed_tables(payload: Payload, raw: Contents, codec: str) -> bytes:
    """Return what an image's tables would be with a codec."""
    if isinstance(payload, SnapPayload):
        tables = tables_of_image(payload.image)
    else:
        tables = build_tables(payload.inventory, blocks_of_files(_made_up(raw)))
    compress = CODECS[codec].compress
    return b"".join(
        compress(
            table[start : start + METADATA_BLOCK_BYTES],
            block_bytes=METADATA_BLOCK_BYTES,
        )
        for table in (tables.inodes, tables.directories, tables.references)
        for start in range(0, len(table), METADATA_BLOCK_BYTES)
    )


def _made_up(raw: Contents) -> dict[str, list[StoredBlock]]:
    """Return blocks by file whose sizes differ wherever their contents do."""
    files: dict[str, list[StoredBlock]] = {}
    for chunk in raw.chunks:
        share = int.from_bytes(chunk.digest[:2], "little") / (1 << 16)
        files.setdefault(chunk.path, []).append(
            StoredBlock(
                raw_bytes=chunk.length,
                stored_bytes=max(1, round(chunk.length * (0.2 + 0.4 * share))),
                compressed=chunk.length <= DATA_BLOCK_BYTES,
            )
        )
    return files
