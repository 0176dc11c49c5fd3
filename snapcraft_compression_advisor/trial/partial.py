"""What the blocks tried so far say of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..codecs import CODECS
from ..codecs.codec import Codec
from ..core.frozen import frozen
from ..core.units import Interval
from ..payload.layout import Layout
from ..payload.source import Payload, SnapPayload
from .census import Ladder
from .estimate import Estimate, difference_half_width, estimate_total
from .look import map_in_order, read_block
from .phase import Phase, Sample, lower_half
from .result import (
    CodecTrial,
    StoredBlocks,
    TrialResult,
    Wanted,
    blocks_of_layout,
    notes_on_payload,
)
from .stored import (
    BlockSizes,
    StoredSizes,
    errors_of_census,
    errors_of_layout,
    runs_of_unread,
)
from .tables import (
    MetadataTables,
    padded_bytes,
    sample_tables,
    table_bytes,
    tables_of_image,
)

MOST_LAUNCH_BLOCKS = 24
"""A launch set of up to this many blocks is tried whole; of a larger one, the blocks
that happen to be drawn are known and the others predicted."""

HALVED = frozenset({"gzip", "zstd"})
"""Slow codecs that can't be shipped: half of the blocks are enough for comparison."""

TABLE_ERROR = 0.1
"""By how much the estimated size of metadata may be off. With xz and lzo it was within
6 % on ten payloads of 5,700 to 37,000 entries, with all codecs within 6 % on trees of
7,000 to 29,000 files, of which all entries were written.
"""


@frozen
class _Trial:
    """What one codec made of a sample.

    :param phases: that the sample was drawn from; later rounds have others.
    """

    phases: tuple[Phase, ...]
    sample: Sample
    estimate: Estimate
    stored_bytes: NDArray[np.float64]


class PartialTrial:
    """A trial in progress: what the blocks tried so far say of all.

    :param wanted: paths of the files whose data blocks are reported; asked for as late
        as can be.
    :ivar ladder: climbed before each round.
    """

    def __init__(
        self,
        payload: Payload,
        layout: Layout,
        wanted: Wanted,
        *,
        seed: int,
    ) -> None:
        self._payload = payload
        self._layout = layout
        self._wanted = wanted
        self.ladder = Ladder(payload, layout, certain=self._launch_blocks, seed=seed)
        self._known: dict[str, dict[int, int]] = {}
        self._trials: dict[str, _Trial] = {}
        self._table_bytes: dict[str, float] = {}

    def try_codecs(self, names: Sequence[str]) -> None:
        """Try codecs on the sample; those that are :data:`HALVED` on half of it.

        :param names: of codecs, which may know some of its blocks already.
        """
        whole, half = self.ladder.sample, lower_half(self.ladder.sample)
        samples = {name: half if name in HALVED else whole for name in names}
        with ThreadPoolExecutor(1, thread_name_prefix="tables") as beside:
            sized = beside.submit(self._size_tables, names)
            self._compress(samples)
            sized.result()
        for name, sample in samples.items():
            known = self._known[name]
            stored = np.array(
                [known[int(member)] for member in sample.members], dtype=np.float64
            )
            self._trials[name] = _Trial(
                phases=self.ladder.phases,
                sample=sample,
                estimate=estimate_total(
                    self.ladder.phases, sample, stored, self.ladder.models.get(name)
                ),
                stored_bytes=stored,
            )

    def _compress(self, samples: Mapping[str, Sample]) -> None:
        """Have each codec compress those blocks of its sample that it doesn't know."""
        codecs: dict[int, list[str]] = {}
        for name, sample in samples.items():
            known = self._known.setdefault(name, {})
            for member in map(int, sample.members):
                if member not in known:
                    codecs.setdefault(member, []).append(name)

        def sizes(member: int) -> list[int]:
            contents = read_block(self._payload, self._layout.block(member))
            return [len(CODECS[name].compress(contents)) for name in codecs[member]]

        members = sorted(codecs)
        for member, found in zip(members, map_in_order(sizes, members), strict=True):
            for name, stored_bytes in zip(codecs[member], found, strict=True):
                self._known[name][member] = stored_bytes

    def _size_tables(self, names: Sequence[str]) -> None:
        """Find out what the metadata come to, meanwhile."""
        for name in (*names, "none"):
            if name not in self._table_bytes and name != self.known_codec:
                self._table_bytes[name] = table_bytes(self._tables, CODECS[name])

    @property
    def known_codec(self) -> str | None:
        """The codec that the payload is packed with, whose sizes are exact."""
        return self.ladder.census.codec

    def _launch_blocks(self) -> list[int]:
        """Return the numbers of the blocks that a launch reads, where they are few."""
        numbers = [n for path in self._wanted() for n in self._layout.blocks_of(path)]
        return numbers if len(numbers) <= MOST_LAUNCH_BLOCKS else []

    def result(self) -> TrialResult:
        """Return what is known so far."""
        stored = self._stored_sizes()
        return TrialResult(
            mode="sampled",
            tool=", ".join(
                codec.implementation
                for codec in CODECS.values()
                if codec.available and codec.name != "none"
            ),
            codecs={
                name: self._codec_trial(codec, stored.codecs.get(name))
                for name, codec in CODECS.items()
            },
            lzo_less_xz_bytes=self._lzo_less_xz(),
            notes=(*notes_on_payload(self._payload), *_notes()),
            stored=stored,
        )

    def _stored_sizes(self) -> StoredSizes:
        # Not the legacy lzma: reports don't name it, nothing here compresses with it.
        known = [name for name in CODECS if name == self.known_codec]
        codecs = {}
        for name in ("none", *known):
            sizes = self._block_sizes(name)
            codecs[name] = BlockSizes(stored_bytes=sizes, errors=np.zeros(len(sizes)))
        codecs |= {name: self._predicted_blocks(name) for name in self._trials}
        return StoredSizes(layout=self._layout, codecs=codecs)

    def _predicted_blocks(self, name: str) -> BlockSizes:
        trial, blocks = self._trials[name], self.ladder.census.blocks
        errors = errors_of_census(
            trial.phases,
            blocks,
            trial.estimate.predicted_bytes,
            trial.sample.members,
            trial.stored_bytes,
        )
        sizes = self._block_sizes(name)
        return BlockSizes(
            stored_bytes=sizes,
            errors=sizes * errors_of_layout(self._layout, blocks, errors),
            runs=runs_of_unread(self._layout, blocks),
        )

    def _codec_trial(self, codec: Codec, sizes: BlockSizes | None) -> CodecTrial:
        if sizes is None:
            return CodecTrial(codec=codec.name, image_bytes=None)
        return CodecTrial(
            codec=codec.name,
            image_bytes=self._image_bytes(codec),
            blocks=self._blocks(sizes.stored_bytes),
        )

    def _image_bytes(self, codec: Codec) -> Interval:
        if codec.name == self.known_codec and isinstance(self._payload, SnapPayload):
            return Interval.exactly(self._payload.image.image_bytes)
        if codec.name not in self._table_bytes:
            self._size_tables([codec.name])
        metadata = self._table_bytes[codec.name]
        data, half_width = self._data_bytes(codec.name)
        error = float(np.hypot(half_width, TABLE_ERROR * metadata))
        size = data + metadata
        return Interval(
            low=padded_bytes(size - error),
            mid=padded_bytes(size),
            high=padded_bytes(size + error),
        )

    def _data_bytes(self, name: str) -> tuple[float, float]:
        """Return what the data blocks come to, and its half width."""
        if name == "none":
            return self.ladder.census.raw_bytes, 0.0
        if self.known_codec == name:
            return self.ladder.census.known_bytes, 0.0
        estimate = self._trials[name].estimate
        return estimate.total_bytes, estimate.half_width_bytes

    def _lzo_less_xz(self) -> Interval | None:
        if not {"xz", "lzo"} <= {*self._trials, self.known_codec}:
            return None
        lzo, xz = (self._image_bytes(CODECS[name]) for name in ("lzo", "xz"))
        middle = lzo.mid - xz.mid
        if self.known_codec in ("lzo", "xz"):
            error = sum(self._data_bytes(name)[1] for name in ("lzo", "xz"))
        else:
            error = difference_half_width(
                self._trials["lzo"].estimate, self._trials["xz"].estimate
            )
        return Interval(low=middle - error, mid=middle, high=middle + error)

    @cached_property
    def _tables(self) -> MetadataTables:
        """The metadata: that of a snap, else with the sizes that the census found."""
        if self.known_codec is not None and isinstance(self._payload, SnapPayload):
            return tables_of_image(self._payload.image)
        sizes = self.ladder.spread_out(self.ladder.census.known_sizes)
        return sample_tables(self._payload.inventory, self._blocks(sizes))

    def _blocks(self, stored_bytes: NDArray[np.float64]) -> StoredBlocks:
        """Return every file's blocks from the size of every block in the layout."""
        return blocks_of_layout(self._layout, stored_bytes)

    def _block_sizes(self, name: str) -> NDArray[np.float64]:
        """Return every block's size: as tried, else as predicted; 0 for zeros."""
        if name == "none":
            return self.ladder.spread_out(self.ladder.census.blocks.raw_bytes)
        if self.known_codec == name:
            return self.ladder.spread_out(self.ladder.census.known_sizes)
        trial = self._trials[name]
        sizes = self.ladder.closest(trial.phases, trial.estimate.predicted_bytes)
        places = self.ladder.census.blocks.places_of(trial.sample.members)
        sizes[places] = trial.stored_bytes
        return self.ladder.spread_out(sizes)


def _notes() -> tuple[str, ...]:
    """Return which codecs aren't the ones that mksquashfs links."""
    return tuple(
        f"{codec.name}: compressed by {codec.implementation}, not by the library that "
        "mksquashfs uses; sizes may differ slightly"
        for codec in CODECS.values()
        if codec.available and not codec.exact
    )
