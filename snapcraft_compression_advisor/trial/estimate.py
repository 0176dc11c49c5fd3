"""From some blocks' sizes to that of all, with an interval that holds.

A regression estimator over several phases. The blocks that a codec tried tell how its
sizes follow from the closest look, which is known of more blocks; those tell how that
follows from the look before, and so on up to all blocks. What each step's prediction
misses is estimated from the blocks of the closer phase, so that a poor prediction
widens the interval but doesn't bias it (Särndal, Swensson and Wretman, Model Assisted
Survey Sampling, 1992, chapters 6 and 9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .phase import Phase, Sample

CONFIDENCE_Z = 2.17
"""Two-sided 97 % of a normal distribution, for intervals that hold in 95 % of draws.

What a prediction misses is skewed: a few blocks compress far better than the others of
their kind. On a browser, an office suite and a game, intervals made with the normal
distribution's own 95 % (1.96) held in 94 to 95 % of 300 draws.
"""

_LARGEST_LEVERAGE = 0.9
_NEXT_TO_NONE = 1e-9
"""Penalty on the mean ratio itself, for the sake of the inverse alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """What one step's prediction misses.

    :param total_bytes: in all.
    :param deviations: for every block that it was found from, weighted to stand for
        the payload; as if the block hadn't been used for the prediction.
    :param shares: the blocks' chances of being among those.
    :param in_file_order: whether they were drawn from file to file and stand so.
    """

    total_bytes: float
    deviations: NDArray[np.float64]
    shares: NDArray[np.float64]
    in_file_order: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What one codec makes of all blocks.

    :param total_bytes: of the whole payload's data blocks.
    :param half_width_bytes: of the interval that holds the truth in 95 % of draws.
    :param predicted_bytes: for each phase, the predicted size of every block in it.
    :param misses: of each step, that of the blocks tried before all.
    :param tried: how many blocks the codec tried.
    """

    total_bytes: float
    half_width_bytes: float
    predicted_bytes: tuple[NDArray[np.float64], ...]
    misses: tuple[Misses, ...]
    tried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """Blocks of a phase whose ratios are known, or predicted from a closer look.

    :param weights: how many blocks of the payload each stands for.
    :param shares: their chances of being known.
    """

    members: NDArray[np.int64]
    ratios: NDArray[np.float64]
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]
    in_file_order: bool


def estimate_total(
    phases: Sequence[Phase], sample: Sample, stored_bytes: NDArray[np.float64]
) -> Estimate:
    """Estimate a codec's total from the blocks of a sample.

    :param phases: from all blocks to those looked at most closely.
    :param stored_bytes: what the codec makes of each block of the sample.
    """
    if not len(sample.members):
        return Estimate(
            total_bytes=0.0,
            half_width_bytes=0.0,
            predicted_bytes=tuple(np.zeros(len(phase.members)) for phase in phases),
            misses=(),
            tried=0,
        )
    places = phases[-1].places_of(sample.members)
    known = _Known(
        members=sample.members,
        ratios=stored_bytes / phases[-1].raw_bytes[places],
        weights=phases[-1].weights[places] / sample.shares,
        shares=sample.shares,
        in_file_order=False,
    )
    misses: list[Misses] = []
    predicted: list[NDArray[np.float64]] = []
    for phase in reversed(phases):
        ratios, missed = _regress(phase, known)
        misses.append(missed)
        predicted.insert(0, ratios * phase.raw_bytes)
        known = _Known(
            members=phase.members,
            ratios=ratios,
            weights=phase.weights,
            shares=phase.shares,
            in_file_order=phase.in_file_order,
        )
    total_bytes = float((phases[0].weights * predicted[0]).sum())
    tried = len(sample.members)
    return Estimate(
        total_bytes=total_bytes + sum(each.total_bytes for each in misses),
        half_width_bytes=_half_width(misses, tried),
        predicted_bytes=tuple(predicted),
        misses=tuple(misses),
        tried=tried,
    )


def difference_half_width(first: Estimate, second: Estimate) -> float:
    """Return the half width of a difference of two codecs tried on the same blocks.

    The same blocks went through all phases, so what one codec's sizes miss is much the
    same as what the other's miss.
    """
    misses = tuple(
        Misses(
            total_bytes=one.total_bytes - other.total_bytes,
            deviations=one.deviations - other.deviations,
            shares=one.shares,
            in_file_order=one.in_file_order,
        )
        for one, other in zip(first.misses, second.misses, strict=True)
    )
    return _half_width(misses, first.tried)


def _regress(phase: Phase, known: _Known) -> tuple[NDArray[np.float64], Misses]:
    """Fit the known blocks' ratios and predict those of all blocks of the phase."""
    places = phase.places_of(known.members)
    columns, penalties = phase.predictors(known=len(places))
    rows = np.column_stack((np.ones(len(phase.members)), columns))
    bytes_each = known.weights * phase.raw_bytes[places]
    x, w = rows[places], bytes_each / np.mean(bytes_each)
    gram = (x * w[:, None]).T @ x
    penalties = np.concatenate(([_NEXT_TO_NONE], penalties))
    inverse = np.linalg.inv(gram + w.sum() * np.diag(penalties))
    coefficients = inverse @ (x * w[:, None]).T @ known.ratios
    predicted = np.where(phase.zeros, 0.0, np.clip(rows @ coefficients, 0.0, 1.0))
    missed = bytes_each * (known.ratios - predicted[places])
    leverage = w * np.einsum("ij,jk,ik->i", x, inverse, x)
    return predicted, Misses(
        total_bytes=float(missed.sum()),
        deviations=missed / (1 - np.minimum(leverage, _LARGEST_LEVERAGE)),
        shares=known.shares,
        in_file_order=known.in_file_order,
    )


def _half_width(misses: Sequence[Misses], tried: int) -> float:
    variance = sum(map(_variance, misses))
    return quantile(tried) * float(np.sqrt(variance))


def quantile(count: int) -> float:
    """Return the 98.5 % quantile of Student's distribution for a sample.

    The expansion of Cornish and Fisher's in the degrees of freedom (Abramowitz and
    Stegun, 26.7.5), good to a thousandth from five degrees on.
    """
    z, n = CONFIDENCE_Z, max(2.0, count - 6.0)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def _variance(misses: Misses) -> float:
    """Return the variance of the sum of deviations.

    Blocks drawn from file to file: from the differences of neighbours, as nothing else
    is left to chance where they are drawn at equal steps. Others: as if the draws were
    independent; equal steps through an ordered list do better, which makes the interval
    err on the safe side. Certain blocks add none.
    """
    uncertain = misses.shares < 1
    deviations = misses.deviations[uncertain]
    missing = 1 - misses.shares[uncertain]
    count = len(deviations)
    if count < 2:  # noqa: PLR2004 # a spread takes two
        return float((deviations**2).sum())
    if misses.in_file_order:
        return float((np.diff(deviations) ** 2 * missing[1:]).sum() / 2)
    return float((missing * deviations**2).sum()) * count / (count - 1)
