"""The sampled trial: every codec's image size from some of the blocks.

Its words (census, phase, lots, ladder) are in docs/glossary.md, under *Trial*.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..codecs import CODECS
from ..core.units import Interval
from ..payload.layout import Layout, lay_out
from ..payload.source import Payload, SnapPayload
from .census import (
    CENSUS_BLOCKS,
    Census,
    Phase,
    Sample,
    closer_phase,
    draw,
    readable_blocks,
    take_census,
)
from .estimate import (
    BlockModel,
    Estimate,
    block_models,
    difference_half_width,
    estimate_total,
)
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

CLOSER_BLOCKS = 320
SNAP_CLOSER_BLOCKS = 160
"""Blocks looked at closely. Eight draws each from ten payloads were off by 0.60 % with
300, by 0.48 % with 400 (median of xz and lzo). Of a snap, all sizes with one codec are
known, which tell more: with xz's, lzo's are off by 0.61 % with 160, by 0.57 % with
200; with lzo's, xz's by 0.69 % with both (median, five draws each from the ten snaps
of a lot)."""

TRIED_BLOCKS = 24
"""Blocks tried. A model fitted beforehand predicts them from the closer look; that they
are tried shows how far the payload is unlike those that it was fitted to. With 16, one
of 42 sizes of a payload of programs was off by more than twice its half width. 24 of
400 are off by 0.84 % of the size with xz and 0.70 % of that with lzo, 48 of 640 by 0.57
and 0.48 % in twice the time (root of the mean square; ``study/data/block-sizes.csv``).
"""
OTHERS_TRIED_BLOCKS = 12
"""Tried with the codecs that no snap in the store may have: nothing is decided by them.
Five payloads of 52 to 446 MB were off by 1.2 % with 12, by 0.9 % with 24 (root of the
mean square of 20 draws each, gzip, zstd and lz4); they save 6 % of an advice's time.
"""

TRIED_ALONE_BLOCKS = 56
"""Tried without a model, if a library is missing or a snap has a codec that can't be
shipped: these blocks alone tell how sizes follow from the closer look. A payload that
has no more is tried whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """The phases of a payload, and the blocks that the codecs try.

    :param sample: for the codecs that a snap may have.
    :param others_sample: part of it, for the other codecs.
    :param models: by codec, that predict a block's size from the looks at it.
    """

    census: Census
    phases: tuple[Phase, ...]
    sample: Sample
    others_sample: Sample
    models: Mapping[str, BlockModel]


def climb(payload: Payload, layout: Layout, *, seed: int = 0) -> Ladder:
    """Look at blocks, closer at some of them, and choose those to try."""
    most = readable_blocks(payload, layout)
    census = take_census(
        payload, layout, most_blocks=round(min(CENSUS_BLOCKS, most)), seed=seed
    )
    look = closer_look(known=census.codec)
    known = () if census.codec is None else (census.codec,)
    models = block_models(census.codec, (*known, *look.column_names))
    closer = CLOSER_BLOCKS if census.codec is None else SNAP_CLOSER_BLOCKS
    drawn = draw(census.blocks, round(min(closer, most)))
    sizes = look_at_blocks(payload, layout, drawn.members, look)
    phase = closer_phase(census.blocks, drawn, sizes)
    few = len(census.blocks.members) <= TRIED_ALONE_BLOCKS
    alone = few or not models
    return Ladder(
        census=census,
        phases=(*census.phases, phase),
        sample=draw(phase, TRIED_ALONE_BLOCKS if alone else TRIED_BLOCKS),
        others_sample=draw(phase, TRIED_ALONE_BLOCKS if alone else OTHERS_TRIED_BLOCKS),
        models=models,
    )


def run_sampled_trial(
    payload: Payload,
    *,
    progress: Progress,
    seed: int = 0,
    names: Collection[str] = tuple(CODECS),
) -> TrialResult:
    """Estimate every codec's image size, with intervals that hold in 95 % of draws.

    :param seed: another one draws other blocks.
    :param names: of the codecs to try; a result without some isn't kept.
    """
    saved = saved_file(payload, seed)
    result = load_result(saved)
    if result is None:
        progress("Reading the payload's blocks")
        layout = lay_out(payload)
        ladder = climb(payload, layout, seed=seed)
        progress("Compressing a sample of blocks with every codec")
        result = _SampledTrial(payload, layout, ladder, names).result()
        if len(names) == len(CODECS):
            save_result(saved, result)
    return _with_packed(result, payload, progress, names)


def _with_packed(
    result: TrialResult, payload: Payload, progress: Progress, names: Collection[str]
) -> TrialResult:
    """Have mksquashfs itself pack with the codecs whose library is missing."""
    lacking = [name for name in names if not result.codecs[name].available]
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
    """What one codec made of a sample."""

    sample: Sample
    estimate: Estimate
    stored_bytes: NDArray[np.float64]


class _SampledTrial:
    """What the blocks tried tell of all."""

    def __init__(
        self, payload: Payload, layout: Layout, ladder: Ladder, names: Collection[str]
    ) -> None:
        self._names = names
        self._payload = payload
        self._layout = layout
        self._ladder = ladder
        self._metadata_bytes = metadata_bytes(payload)
        self._known_codec = ladder.census.codec  # whose sizes are exact
        self._tried = self._try_codecs()

    def _try_codecs(self) -> dict[str, _Tried]:
        """Return what each codec that isn't known makes of its sample."""
        ladder, known = self._ladder, ("none", self._known_codec)
        samples = {
            name: ladder.sample if codec.shippable else ladder.others_sample
            for name, codec in CODECS.items()
            if name in self._names and name not in known and codec.available
        }
        members = {name: {*each.members.tolist()} for name, each in samples.items()}

        drawn = sorted(set().union(*members.values()))
        places = {member: self._layout.block(member) for member in drawn}

        def sizes(member: int) -> dict[str, int]:
            contents = read_block(self._payload, places[member])
            return {
                name: len(CODECS[name].compress(contents))
                for name in samples
                if member in members[name]
            }

        rows = [*map_in_order(sizes, places)]
        found = {}
        for name, sample in samples.items():
            sizes_there = [row[name] for row in rows if name in row]
            stored = np.array(sizes_there, dtype=np.float64)
            model = ladder.models.get(name)
            estimate = estimate_total(ladder.phases, sample, stored, model)
            found[name] = _Tried(sample, estimate, stored)
        return found

    def result(self) -> TrialResult:
        """Return the trial's result."""
        # Not the legacy lzma: reports don't name it, nothing here compresses with it.
        names = [name for name in CODECS if name in ("none", self._known_codec)]
        sizes = {name: self._sizes(name) for name in (*names, *self._tried)}
        there = [codec for codec in CODECS.values() if codec.available]
        inexact = (
            f"{codec.name}: compressed by {codec.implementation}, not by the library "
            "that mksquashfs uses; sizes may differ slightly"
            for codec in there
            if not codec.exact
        )
        tools = [each.implementation for each in there if each.name != "none"]
        images = {name: self._image_bytes(name) for name in CODECS if name in sizes}
        return sampled_result(
            StoredSizes(layout=self._layout, codecs=sizes),
            {name: images.get(name) for name in CODECS},
            self._lzo_less_xz(images),
            tool=", ".join(tools),
            notes=(*notes_on_payload(self._payload), *inexact),
        )

    def _sizes(self, name: str) -> BlockSizes:
        """Return every block's size: as tried, else as predicted; 0 for zeros."""
        ladder, census = self._ladder, self._ladder.census
        if name in ("none", self._known_codec):
            exact = census.blocks.raw_bytes if name == "none" else census.known_sizes
            known = census.spread_out(exact)
            return BlockSizes(stored_bytes=known, errors=np.zeros(len(known)))
        tried = self._tried[name]
        predicted = tried.estimate.predicted_bytes
        sizes = np.maximum(1.0, census.closest(ladder.phases, predicted).round())
        stored = census.blocks.ratios[:, 0] >= 1
        sizes = np.where(stored, census.blocks.raw_bytes, sizes)
        places = np.searchsorted(census.blocks.members, tried.sample.members)
        sizes[places] = tried.stored_bytes
        every = census.spread_out(sizes)
        errors, runs = block_errors(
            census, ladder.phases, predicted, tried.sample, tried.stored_bytes
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
            return self._ladder.census.raw_bytes, 0.0
        if name == self._known_codec:
            return float(self._ladder.census.known_sizes.sum()), 0.0
        estimate = self._tried[name].estimate
        return estimate.total_bytes, estimate.half_width_bytes

    def _lzo_less_xz(self, images: Mapping[str, Interval]) -> Interval | None:
        if not {"xz", "lzo"} <= images.keys():
            return None
        middle = images["lzo"].mid - images["xz"].mid
        if self._known_codec in ("lzo", "xz"):
            error = sum(self._data_bytes(name)[1] for name in ("lzo", "xz"))
        else:
            error = difference_half_width(
                self._tried["lzo"].estimate, self._tried["xz"].estimate
            )
        return Interval(low=middle - error, mid=middle, high=middle + error)
