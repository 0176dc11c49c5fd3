"""Block costs fitted to timed blocks, with intervals that hold for other payloads.

The fit is by non-negative least squares. Each block's variance is taken to be in
proportion to its time, as for counts: then the fitted costs of all blocks sum up to the
measured sum, and large payloads are what is right.

The interval's ends are the whole cost times the smallest and the largest ratio of
measured to predicted sums that payloads left out of the fit show. So it covers what the
formula misses, not noise alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadDataError
from ..core.units import Interval
from ..devices.device import NO_COST, BlockCost, block_seconds
from ..payload.inventory import block_count
from .block_timing import TimedBlock

Floats = NDArray[np.float64]

MINIMUM_BLOCKS = 8
"""Fewer blocks than this don't make a fit of three figures."""

_BOOTSTRAP_DRAWS = 400
_COVERED = 0.95
"""Of the ratios that are drawn, what lies within the interval."""
_REWEIGHTINGS = 4
_LEAST_MISS = 0.02
"""No formula is better than that, even if a few groups seem to show one."""
_LEAST_STORAGE_MISS = 0.05
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedCosts:
    """Costs of blocks on one machine, and what decompressing adds by codec."""

    fill: BlockCost
    decompress: Mapping[str, BlockCost]


def fit_costs(
    blocks: Sequence[TimedBlock], *, noise: Mapping[str, float] | None = None
) -> FittedCosts:
    """Fit what any block costs, then what each codec adds to it.

    :param blocks: with every codec, ``none`` among them; groups as payloads.
    :param noise: by codec, relative standard error of the sums of times; it widens
        the intervals.
    :raises BadDataError: if there are too few uncompressed blocks.
    """
    stored = [block for block in blocks if not block.compressed]
    if len(stored) < MINIMUM_BLOCKS:
        message = f"Only {len(stored)} uncompressed blocks were timed"
        raise BadDataError(
            message, resolution=f"Time at least {MINIMUM_BLOCKS}, of several files."
        )
    noises = noise or {}
    fill = _fit(_rows(stored, use_stored_bytes=False), noises.get("none", 0.0))
    decompress = {}
    for codec in dict.fromkeys(block.codec for block in blocks):
        compressed = [
            block for block in blocks if block.codec == codec and block.compressed
        ]
        decompress[codec] = (
            _fit(_rows(compressed, less=fill), noises.get(codec, 0.0))
            if len(compressed) >= MINIMUM_BLOCKS
            else NO_COST
        )
    return FittedCosts(fill=fill, decompress=decompress)


def fit_storage(
    sizes_bytes: Sequence[int], seconds: Floats, fill: BlockCost
) -> tuple[Interval, Interval]:
    """Fit a seek a file and a time a byte to cold reads of uncompressed files.

    The ends are those of the rounds' totals.

    :param sizes_bytes: of the files, each of which is read in one go.
    :param seconds: rounds x files.
    :param fill: the processor's part of each block, which is taken off.
    :return: seconds until the first byte of a read elsewhere, and of a byte.
    """
    processor_s = np.array(
        [
            block_count(size) * fill.block_s.mid + size * fill.raw_s_per_byte.mid
            for size in sizes_bytes
        ]
    )
    median_s = np.median(seconds, axis=0)
    storage_s = np.maximum(median_s - processor_s, 0.0)
    features = np.column_stack((np.ones(len(sizes_bytes)), sizes_bytes))
    seek_s, read_s = least_squares(features, storage_s, 1 / median_s)
    rounds_s = np.maximum(seconds - processor_s, 0.0).sum(axis=1)
    total_s = max(float(storage_s.sum()), float(np.finfo(float).tiny))
    low = min(1 - _LEAST_STORAGE_MISS, float(rounds_s.min()) / total_s)
    high = max(1 + _LEAST_STORAGE_MISS, float(rounds_s.max()) / total_s)
    return (
        Interval.around(seek_s * low, seek_s, seek_s * high),
        Interval.around(read_s * low, read_s, read_s * high),
    )


def least_squares(
    features: Floats, values: Floats, weights: Floats | None = None
) -> Floats:
    """Return non-negative coefficients of the least sum of weighted squared errors.

    The best of all ways to leave some features out: exact, for the few that there are.

    :param features: rows x features.
    :param weights: of the squared errors, one a row.
    """
    root = np.ones(len(values)) if weights is None else np.sqrt(weights)
    # Columns of like size, so that bytes and blocks lose no digits to each other.
    scale: Floats = np.abs(features).max(axis=0)
    # Of a column that is as good as zero, no coefficient could be held in a float.
    vanishing = scale < np.finfo(np.float64).tiny
    scale[vanishing] = 1.0
    design = np.where(vanishing, 0.0, features / scale) * root[:, None]
    wanted = values * root
    count = features.shape[1]
    best: Floats = np.zeros(count)
    least = float(wanted @ wanted)
    sizes = range(1, count + 1)
    for chosen in chain.from_iterable(combinations(range(count), k) for k in sizes):
        found = np.linalg.lstsq(design[:, chosen], wanted, rcond=None)[0]
        error = design[:, chosen] @ found - wanted
        if (found >= 0).all() and error @ error < least:
            least = float(error @ error)
            best = np.zeros(count)
            best[list(chosen)] = found
    return best / scale


class _Rows(NamedTuple):
    """Blocks as a table: features are (1, raw bytes, stored bytes).

    The seconds are to be explained; those of the whole read (``total_s``) say how much
    each row scatters.
    """

    features: Floats
    seconds: Floats
    total_s: Floats
    groups: Floats

    def where(self, rows: NDArray[np.bool_]) -> _Rows:
        return _Rows(*(each[rows] for each in self))


def _rows(
    blocks: Sequence[TimedBlock],
    *,
    less: BlockCost = NO_COST,
    use_stored_bytes: bool = True,
) -> _Rows:
    """Return blocks as a table, the times without a cost that is known already."""
    names = sorted({block.group for block in blocks})
    total_s = np.array([block.median_s for block in blocks])
    spent_s = [
        block_seconds(less, raw_bytes=block.raw_bytes, stored_bytes=block.stored_bytes)
        for block in blocks
    ]
    features = [
        (1.0, block.raw_bytes, use_stored_bytes * block.stored_bytes)
        for block in blocks
    ]
    return _Rows(
        features=np.array(features),
        seconds=total_s - spent_s,
        total_s=total_s,
        groups=np.array([float(names.index(block.group)) for block in blocks]),
    )


def _fit(rows: _Rows, noise: float) -> BlockCost:
    coefficients = _coefficients(rows)
    low, high = _misses(rows, noise)
    parts = (
        Interval.around(value * low, value, value * high) for value in coefficients
    )
    block_s, raw, stored = parts
    return BlockCost(block_s=block_s, raw_s_per_byte=raw, stored_s_per_byte=stored)


def _coefficients(rows: _Rows) -> Floats:
    """Fit with weights by the fitted time itself, and right in the sum."""
    variance = rows.total_s
    for _ in range(_REWEIGHTINGS):
        found = least_squares(rows.features, rows.seconds, 1 / variance)
        fitted = rows.features @ found
        # What the other part of the read takes scatters, too.
        variance = fitted + np.maximum(rows.total_s - rows.seconds, 0.0)
        variance = np.maximum(variance, rows.total_s.mean() / 100)
    predicted = float(fitted.sum())
    return found * max(rows.seconds.sum(), 0.0) / predicted if predicted else found


def _misses(rows: _Rows, noise: float) -> tuple[float, float]:
    """Return the ends of the interval, as factors of the middle."""
    ratios = np.array(list(_left_out_ratios(rows)) or [1.0])
    tail = (1 - _COVERED) / 2
    low, high = np.quantile(ratios, (tail, 1 - tail))
    # Twice the standard error of the machine's noise, in the way of independent errors.
    below = np.hypot(max(1 - low, _LEAST_MISS), 2 * noise)
    above = np.hypot(max(high - 1, _LEAST_MISS), 2 * noise)
    return max(0.0, float(1 - below)), float(1 + above)


def _left_out_ratios(rows: _Rows) -> Iterator[float]:
    """Yield measured / predicted sums of payloads left out of the fit.

    A payload is a drawing, with repetition, from the blocks of one group; the fit is
    that of all other groups. A single group is split at random.
    """
    chance = np.random.default_rng(_SEED)
    groups = rows.groups
    names, counts = np.unique(groups, return_counts=True)
    if len(names[counts >= MINIMUM_BLOCKS]) < 2:  # noqa: PLR2004 # one in, one out
        groups = (chance.permutation(len(groups)) % 4).astype(np.float64)
        names, counts = np.unique(groups, return_counts=True)
    for name, count in zip(names, counts, strict=True):
        others = groups != name
        if count < MINIMUM_BLOCKS or others.sum() < MINIMUM_BLOCKS:
            continue
        payload = rows.where(~others)
        predicted = payload.features @ _coefficients(rows.where(others))
        draws = chance.integers(count, size=(_BOOTSTRAP_DRAWS // len(names) + 1, count))
        measured_s = payload.seconds[draws].sum(axis=1)
        predicted_s = predicted[draws].sum(axis=1)
        yield from measured_s[predicted_s > 0] / predicted_s[predicted_s > 0]
