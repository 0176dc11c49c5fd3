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

from .block_model import BlockModel
from .phase import RIDGE, Phase, Sample

CONFIDENCE_Z = 1.96
"""Two-sided 95 % of a normal distribution. Of 128 draws from four applications, the
intervals held 126."""

ALONE_CONFIDENCE_Z = 2.4
"""Two-sided 98 %, for intervals that hold in 95 % of draws if a regression on a few
dozen blocks takes the place of a model: it also follows their noise.
"""

SCATTER_WEIGHT = 12
"""As how many blocks a model's known scatter counts beside that of the blocks tried: a
few may all happen to be predicted well."""

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

    @property
    def variance(self) -> float:
        """Variance of the sum of deviations; certain blocks add none.

        Blocks drawn from file to file: from the differences of neighbours, as little
        else is left to chance if they are evenly spread. Others: as if the draws were
        independent.
        """
        uncertain = self.shares < 1
        deviations, missing = self.deviations[uncertain], 1 - self.shares[uncertain]
        count = len(deviations)
        if count < 2:  # noqa: PLR2004 # a spread takes two
            return float((deviations**2).sum())
        if self.in_file_order:
            return float((np.diff(deviations) ** 2 * missing[1:]).sum() / 2)
        return float((missing * deviations**2).sum()) * count / (count - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What one codec makes of all blocks.

    :param total_bytes: of the whole payload's data blocks.
    :param half_width_bytes: of the interval that holds the truth in 95 % of draws.
    :param predicted_bytes: for each phase, the predicted size of every block in it.
    :param misses: of each step, that of the blocks tried before all.
    :param confidence_z: quantile of the normal distribution that intervals are made of.
    """

    total_bytes: float
    half_width_bytes: float
    predicted_bytes: tuple[NDArray[np.float64], ...]
    misses: tuple[Misses, ...]
    confidence_z: float


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
    phases: Sequence[Phase],
    sample: Sample,
    stored_bytes: NDArray[np.float64],
    model: BlockModel | None = None,
) -> Estimate:
    """Estimate a codec's total from the blocks of a sample.

    :param phases: from all blocks to those looked at most closely.
    :param stored_bytes: what the codec makes of each block of the sample.
    :param model: predicts its sizes from the closest look; without one, the sample
        alone tells how they follow from it.
    """
    z = ALONE_CONFIDENCE_Z if model is None else CONFIDENCE_Z
    if not len(sample.members):
        nothing = tuple(np.zeros(len(phase.members)) for phase in phases)
        return Estimate(
            total_bytes=0.0,
            half_width_bytes=0.0,
            predicted_bytes=nothing,
            misses=(),
            confidence_z=z,
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
        if misses or model is None:
            ratios, missed = _regress(phase, known)
        else:
            ratios, missed = _correct(phase, known, model)
        misses.append(missed)
        predicted.insert(0, ratios * phase.raw_bytes)
        known = _Known(
            members=phase.members,
            ratios=ratios,
            weights=phase.weights,
            shares=phase.shares,
            in_file_order=True,  # low lots are evenly spread over files
        )
    total_bytes = float((phases[0].weights * predicted[0]).sum())
    return Estimate(
        total_bytes=total_bytes + sum(each.total_bytes for each in misses),
        half_width_bytes=half_width(misses, z),
        predicted_bytes=tuple(predicted),
        misses=tuple(misses),
        confidence_z=z,
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
    return half_width(misses, first.confidence_z)


def half_width(misses: Sequence[Misses], z: float) -> float:
    """Return the half width of the interval that misses of several steps leave."""
    return z * float(np.sqrt(sum(each.variance for each in misses)))


def _regress(phase: Phase, known: _Known) -> tuple[NDArray[np.float64], Misses]:
    """Fit the known blocks' ratios and predict those of all blocks of the phase."""
    places = phase.places_of(known.members)
    columns = phase.predictors(known=len(places))
    rows = np.column_stack((np.ones(len(phase.members)), columns))
    bytes_each = known.weights * phase.raw_bytes[places]
    x, w = rows[places], bytes_each / np.mean(bytes_each)
    penalties = np.full(rows.shape[1], RIDGE)
    penalties[0] = _NEXT_TO_NONE
    inverse = np.linalg.inv((x * w[:, None]).T @ x + w.sum() * np.diag(penalties))
    fitted = rows @ (inverse @ (x * w[:, None]).T @ known.ratios)
    predicted = np.where(phase.zeros, 0.0, np.clip(fitted, 0.0, 1.0))
    missed = bytes_each * (known.ratios - predicted[places])
    leverage = np.minimum(w * ((x @ inverse) * x).sum(axis=1), _LARGEST_LEVERAGE)
    return predicted, Misses(
        total_bytes=float(missed.sum()),
        deviations=missed / (1 - leverage),
        shares=known.shares,
        in_file_order=known.in_file_order,
    )


def _correct(
    phase: Phase, known: _Known, model: BlockModel
) -> tuple[NDArray[np.float64], Misses]:
    """Predict by a model, corrected by what it misses of the known blocks.

    A payload's bias is one of many, whose spread is known from payloads left out
    (:attr:`BlockModel.bias`). Few blocks tell it less well than that, so what they say
    counts in proportion (an empirical Bayes estimator). If they show more than chance
    explains, the spread is at least the rest: a payload unlike those of the fit isn't
    taken for one of them.
    """
    places = phase.places_of(known.members)
    predicted = np.where(phase.zeros, 0.0, model.predict(phase.ratios, phase.raw_bytes))
    bytes_each = known.weights * phase.raw_bytes[places]
    expected = bytes_each * predicted[places]
    missed = bytes_each * known.ratios - expected
    drawn = known.shares < 1
    correction, deviations = _bias(missed[drawn], expected[drawn], model)
    predicted = np.minimum(1.0, predicted * (1 + correction))
    certain = bytes_each * (known.ratios - predicted[places])
    every = np.zeros(len(missed))
    every[drawn] = deviations
    return predicted, Misses(
        total_bytes=float(certain[~drawn].sum()),
        deviations=every,
        shares=known.shares,
        in_file_order=False,
    )


def _bias(
    missed: NDArray[np.float64], expected: NDArray[np.float64], model: BlockModel
) -> tuple[float, NDArray[np.float64]]:
    """Return a model's bias on a payload, and deviations that tell its error.

    :param missed: bytes of each block drawn, weighted to stand for the payload.
    :param expected: the same as predicted.
    """
    count, total = len(missed), float(expected.sum())
    if not count or not total:
        return 0.0, missed
    found = float(missed.sum()) / total
    deviations = (missed - found * expected) * (count / total)
    squares = float((deviations**2).sum())
    known = SCATTER_WEIGHT * model.scatter**2
    by_chance = (known + squares) / (SCATTER_WEIGHT + count - 1) / count
    shown_by_chance = by_chance
    if count >= SCATTER_WEIGHT:  # blocks may be more alike than those of the fit
        shown_by_chance = min(by_chance, squares / (count - 1) / count)
    spread = max(model.bias**2, found**2 - shown_by_chance)
    belief = spread / (spread + by_chance)
    error = total * float(np.sqrt(belief * by_chance))
    if not squares:
        return belief * found, np.full(count, error / np.sqrt(count))
    return belief * found, deviations * (error / np.sqrt(squares))
