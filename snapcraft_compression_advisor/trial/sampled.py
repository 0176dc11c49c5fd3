"""The sampled trial: every codec's image size from some of the blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..codecs import CODECS, SHIPPABLE
from ..codecs.codec import Codec
from ..core.units import Interval
from ..payload.layout import Layout, lay_out
from ..payload.source import Payload, SnapPayload
from .census import (
    SPREAD_BLOCKS,
    Phase,
    Sample,
    closer_phase,
    draw,
    most_blocks,
    take_census,
)
from .estimate import Estimate, block_models, difference_half_width, estimate_total
from .look import closer_look, look_at_blocks, map_in_order, read_block
from .result import (
    METADATA_ERROR,
    TABLES_ERROR_BYTES,
    Progress,
    TrialResult,
    load_result,
    metadata_bytes,
    notes_on_payload,
    padded_bytes,
    sampled_result,
    save_result,
    saved_file,
    size_difference,
)
from .stored import BlockSizes, StoredSizes, block_errors

CLOSER_BLOCKS = 400
SNAP_CLOSER_BLOCKS = 320
"""Blocks looked at closely in the first round; of a snap, where to read a block takes
longer than to look at it, and all sizes of one codec are known."""

TRIED_BLOCKS = 24
"""Blocks tried in the first round. A model fitted beforehand predicts them from the
closer look; that they are tried shows how far the payload is unlike those that it was
fitted to. With 16, one of 42 sizes of a payload of programs was off by more than twice
its half width. 24 of 400 are off by 0.84 % of the size with xz and 0.70 % of that with
lzo, 48 of 640 by 0.57 and 0.48 % in twice the time (root of the mean square;
``study/data/block-sizes.csv``)."""

TRIED_ALONE_BLOCKS = 56
"""Tried without a model, if a library is missing or a snap has a codec that can't be
shipped: these blocks alone tell how sizes follow from the closer look. A payload that
has no more is tried whole."""


class Ladder:
    """The phases of a payload, and the blocks that the codecs try."""

    def __init__(self, payload: Payload, layout: Layout, *, seed: int = 0) -> None:
        self._payload = payload
        self._layout = layout
        self._most = most_blocks(payload, layout)
        most = round(min(SPREAD_BLOCKS, self._most))
        self.census = take_census(payload, layout, spread_blocks=most, seed=seed)
        self.phases: tuple[Phase, ...] = self.census.phases
        self.sample = Sample(members=np.zeros(0, np.int64), shares=np.zeros(0))
        known = self.census.codec
        self._look = closer_look(known=known)
        names = self._look.column_names
        self.models = block_models(known, names if known is None else (known, *names))
        self._seen: dict[int, NDArray[np.float64]] = {}

    def climb(self, *, scale: float) -> None:
        """Look closer at some blocks and choose those to try.

        :param scale: scale factor of the first round's number.
        """
        closer = CLOSER_BLOCKS if self.census.codec is None else SNAP_CLOSER_BLOCKS
        few = len(self.census.blocks.members) <= TRIED_ALONE_BLOCKS * scale
        tried = TRIED_BLOCKS if self.models and not few else TRIED_ALONE_BLOCKS
        count = round(closer * min(scale, self._most / closer))
        drawn = draw(self.census.blocks, count)
        new = np.array(
            [m for m in drawn.members.tolist() if m not in self._seen], dtype=np.int64
        )
        rows = look_at_blocks(self._payload, self._layout, new, self._look)
        self._seen.update(zip(new.tolist(), rows, strict=True))
        sizes = [self._seen[member] for member in drawn.members.tolist()]
        table = np.array(sizes).reshape(len(sizes), self._look.columns)
        phase = closer_phase(self.census.blocks, drawn, table)
        self.phases = (*self.census.phases, phase)
        self.sample = draw(phase, round(tried * scale))


SCALES = (1.0, 1.5, 2.0)
"""Scale factor of the number of blocks in each round. More blocks include the first
ones, which needn't be tried twice."""
NARROW_ENOUGH = 0.025
"""Half width of an interval, as a share of its middle, that needs no further round."""


def run_sampled_trial(
    payload: Payload, *, progress: Progress, seed: int = 0
) -> TrialResult:
    """Estimate every codec's image size, with intervals that hold in 95 % of draws.

    :param seed: another one draws other blocks.
    """
    saved = saved_file(payload, seed)
    result = load_result(saved)
    if result is None:
        result = _try_blocks(payload, seed, progress)
        save_result(saved, result)
    return _with_packed(result, payload, progress)


def _try_blocks(payload: Payload, seed: int, progress: Progress) -> TrialResult:
    """Try more blocks until xz's and lzo's sizes are known well enough."""
    progress("Reading the payload's blocks")
    trial = _SampledTrial(payload, lay_out(payload), seed=seed)
    for scale in SCALES:
        progress("Examining some blocks more closely")
        trial.ladder.climb(scale=scale)
        progress("Compressing a sample of blocks with every codec")
        trial.try_codecs(CODECS if scale == SCALES[0] else SHIPPABLE)
        result = trial.result()
        sizes = [result.codecs[each].image_bytes for each in SHIPPABLE]
        if all(
            (each.high - each.low) / 2 <= NARROW_ENOUGH * each.mid
            for each in sizes
            if each
        ):
            break
    return result


def _with_packed(
    result: TrialResult, payload: Payload, progress: Progress
) -> TrialResult:
    """Have mksquashfs itself pack with the codecs whose library is missing."""
    lacking = [name for name, codec in result.codecs.items() if not codec.available]
    if not lacking:
        return result
    from .exact import run_exact_trial  # noqa: PLC0415 # most machines have them

    packed = run_exact_trial(payload, progress=progress, names=lacking).codecs
    codecs = {**result.codecs, **packed}
    notes = (
        f"{name}: packed with mksquashfs because its library is missing"
        for name in lacking
        if packed[name].available
    )
    return replace(
        result,
        codecs=codecs,
        lzo_less_xz_bytes=size_difference(codecs["lzo"], codecs["xz"]),
        notes=(*result.notes, *notes),
    )


@dataclass(frozen=True, slots=True)
class _Tried:
    """What one codec made of a sample, and the phases that it was drawn from."""

    phases: tuple[Phase, ...]
    sample: Sample
    estimate: Estimate
    stored_bytes: NDArray[np.float64]


class _SampledTrial:
    """A trial in progress: what the blocks tried so far say of all."""

    def __init__(self, payload: Payload, layout: Layout, *, seed: int) -> None:
        self._payload = payload
        self._layout = layout
        self.ladder = Ladder(payload, layout, seed=seed)
        self._metadata_bytes = metadata_bytes(payload)
        self._known: dict[str, dict[int, int]] = {}
        self._tried: dict[str, _Tried] = {}
        self._known_codec = self.ladder.census.codec  # whose sizes are exact

    def try_codecs(self, names: Sequence[str] | Mapping[str, Codec]) -> None:
        """Try codecs on the sample, of which they may know some blocks already."""
        known = ("none", self._known_codec)
        tried = [each for each in names if CODECS[each].available and each not in known]
        phases, sample = self.ladder.phases, self.ladder.sample
        members: list[int] = sample.members.tolist()
        self._compress(members, tried)
        for name in tried:
            sizes = [self._known[name][member] for member in members]
            stored = np.array(sizes, dtype=np.float64)
            estimate = estimate_total(
                phases, sample, stored, self.ladder.models.get(name)
            )
            self._tried[name] = _Tried(phases, sample, estimate, stored)

    def _compress(self, members: Sequence[int], names: Sequence[str]) -> None:
        """Have each codec compress those blocks that it doesn't know."""
        known = {name: self._known.setdefault(name, {}) for name in names}

        def sizes(member: int) -> dict[str, int]:
            contents = read_block(self._payload, self._layout.block(member))
            return {
                name: len(CODECS[name].compress(contents))
                for name in names
                if member not in known[name]
            }

        new = [m for m in members if any(m not in each for each in known.values())]
        for member, found in zip(new, map_in_order(sizes, new), strict=True):
            for name, stored_bytes in found.items():
                known[name][member] = stored_bytes

    def result(self) -> TrialResult:
        """Return the trial's result so far."""
        # Not the legacy lzma: reports don't name it, nothing here compresses with it.
        names = [name for name in CODECS if name in ("none", self._known_codec)]
        sizes = {name: self._sizes(name) for name in (*names, *self._tried)}
        tools = (
            codec.implementation
            for codec in CODECS.values()
            if codec.available and codec.name != "none"
        )
        inexact = (
            f"{codec.name}: compressed by {codec.implementation}, not by the library "
            "that mksquashfs uses; sizes may differ slightly"
            for codec in CODECS.values()
            if codec.available and not codec.exact
        )
        return sampled_result(
            StoredSizes(layout=self._layout, codecs=sizes),
            {
                each: self._image_bytes(each) if each in sizes else None
                for each in CODECS
            },
            self._lzo_less_xz(),
            tool=", ".join(tools),
            notes=(*notes_on_payload(self._payload), *inexact),
        )

    def _sizes(self, name: str) -> BlockSizes:
        """Return every block's size: as tried, else as predicted; 0 for zeros."""
        census = self.ladder.census
        if name in ("none", self._known_codec):
            exact = census.blocks.raw_bytes if name == "none" else census.known_sizes
            known = census.spread_out(exact)
            return BlockSizes(stored_bytes=known, errors=np.zeros(len(known)))
        tried = self._tried[name]
        predicted = tried.estimate.predicted_bytes
        sizes = np.maximum(1.0, census.closest(tried.phases, predicted).round())
        stored = census.blocks.ratios[:, 0] >= 1
        sizes = np.where(stored, census.blocks.raw_bytes, sizes)
        sizes[census.blocks.places_of(tried.sample.members)] = tried.stored_bytes
        every = census.spread_out(sizes)
        errors, runs = block_errors(
            census, tried.phases, predicted, tried.sample, tried.stored_bytes
        )
        return BlockSizes(stored_bytes=every, errors=every * errors, runs=runs)

    def _image_bytes(self, name: str) -> Interval:
        if name == self._known_codec and isinstance(self._payload, SnapPayload):
            return Interval.exactly(self._payload.image.image_bytes)
        metadata = self._metadata_bytes[name]
        data, half_width = self._data_bytes(name)
        off_bytes = METADATA_ERROR * metadata + TABLES_ERROR_BYTES
        error = float(np.hypot(half_width, off_bytes))
        size = data + metadata
        return Interval(
            low=padded_bytes(size - error),
            mid=padded_bytes(size),
            high=padded_bytes(size + error),
        )

    def _data_bytes(self, name: str) -> tuple[float, float]:
        """Return the size of the data blocks, and the half width of its interval."""
        if name == "none":
            return self.ladder.census.raw_bytes, 0.0
        if name == self._known_codec:
            return float(self.ladder.census.known_sizes.sum()), 0.0
        estimate = self._tried[name].estimate
        return estimate.total_bytes, estimate.half_width_bytes

    def _lzo_less_xz(self) -> Interval | None:
        if not {"xz", "lzo"} <= {*self._tried, self._known_codec}:
            return None
        lzo, xz = (self._image_bytes(name) for name in ("lzo", "xz"))
        middle = lzo.mid - xz.mid
        if self._known_codec in ("lzo", "xz"):
            error = sum(self._data_bytes(name)[1] for name in ("lzo", "xz"))
        else:
            error = difference_half_width(
                self._tried["lzo"].estimate, self._tried["xz"].estimate
            )
        return Interval(low=middle - error, mid=middle, high=middle + error)
