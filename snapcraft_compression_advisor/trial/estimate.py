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
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.frozen import frozen
from .block_model import BlockModel
from .phase import Phase, Sample

CONFIDENCE_Z = 1.96
"""Two-sided 95 % of a normal distribution.

Of draws by lots from payloads that models left out, the intervals hold in 93 to 97 %
(``study/block_draws.py``).
"""

ALONE_CONFIDENCE_Z = 2.33
"""Two-sided 98 %, for intervals that hold in 95 % of draws where a regression on a few
dozen blocks takes the place of a model: it also follows their noise (likewise).
"""

SCATTER_WEIGHT = 12
"""As how many blocks a model's known scatter counts beside that of the blocks tried: a
few may all happen to be predicted well."""

_LARGEST_LEVERAGE = 0.9
_LEAST_DEGREES = 2.0
_TOLD_BY_SAMPLE = 6
"""Degrees of freedom that a regression takes from a sample of a few dozen blocks."""
_NEXT_TO_NONE = 1e-9
"""Penalty on the mean ratio itself, for the sake of the inverse alone."""


@frozen
class Misses:
    """What one step's prediction misses.

    :param total_bytes: in all.
    :param deviations: for every block that it was found from, weighted to stand for
        the payload; as if the block hadn't been used for the prediction.
    :param shares: the blocks' chances of being among those.
    :param in_file_order: whether they were drawn from file to file and stand so.
    :param degrees: of freedom, of their variance.
    """

    total_bytes: float
    deviations: NDArray[np.float64]
    shares: NDArray[np.float64]
    in_file_order: bool
    degrees: float


@frozen
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


@frozen
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
    if not len(sample.members):
        return Estimate(
            total_bytes=0.0,
            half_width_bytes=0.0,
            predicted_bytes=tuple(np.zeros(len(phase.members)) for phase in phases),
            misses=(),
            confidence_z=CONFIDENCE_Z,
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
    closer: Phase | None = None
    for phase in reversed(phases):
        if closer is not None:
            regression = _regression_on(closer, phase)
            ratios, missed = _regress(phase, known, regression)
        elif model is not None:
            ratios, missed = _correct(phase, known, model)
        else:
            regression = _regression(phase, known.members, known.weights)
            ratios, missed = _regress(phase, known, regression)
        closer = phase
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
    z = ALONE_CONFIDENCE_Z if model is None else CONFIDENCE_Z
    return Estimate(
        total_bytes=total_bytes + sum(each.total_bytes for each in misses),
        half_width_bytes=_half_width(misses, z),
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
            degrees=one.degrees,
        )
        for one, other in zip(first.misses, second.misses, strict=True)
    )
    return _half_width(misses, first.confidence_z)


@frozen
class _Regression:
    """A regression of a phase's ratios on its predictors, before any ratio is known.

    :param places: of the known blocks in the phase.
    :param bytes_each: that each known block stands for.
    :param rows: of predictors, for all blocks of the phase.
    :param solution: what the known ratios are multiplied by for the coefficients.
    :param leverage: of each known block, on its own prediction.
    """

    places: NDArray[np.int64]
    bytes_each: NDArray[np.float64]
    rows: NDArray[np.float64]
    solution: NDArray[np.float64]
    leverage: NDArray[np.float64]


def _regression(
    phase: Phase, members: NDArray[np.int64], weights: NDArray[np.float64]
) -> _Regression:
    """Return the regression of a phase on some of its blocks."""
    places = phase.places_of(members)
    columns, penalties = phase.predictors(known=len(places))
    rows = np.column_stack((np.ones(len(phase.members)), columns))
    bytes_each = weights * phase.raw_bytes[places]
    x, w = rows[places], bytes_each / np.mean(bytes_each)
    gram = (x * w[:, None]).T @ x
    penalties = np.concatenate(([_NEXT_TO_NONE], penalties))
    inverse = np.linalg.inv(gram + w.sum() * np.diag(penalties))
    return _Regression(
        places=places,
        bytes_each=bytes_each,
        rows=rows,
        solution=inverse @ (x * w[:, None]).T,
        leverage=w * ((x @ inverse) * x).sum(axis=1),
    )


@lru_cache(maxsize=2)
def _regression_on(closer: Phase, phase: Phase) -> _Regression:
    """Return that of a phase on the one after it: the same for all codecs."""
    return _regression(phase, closer.members, closer.weights)


def _regress(
    phase: Phase, known: _Known, regression: _Regression
) -> tuple[NDArray[np.float64], Misses]:
    """Fit the known blocks' ratios and predict those of all blocks of the phase."""
    places, rows = regression.places, regression.rows
    coefficients = regression.solution @ known.ratios
    predicted = np.where(phase.zeros, 0.0, np.clip(rows @ coefficients, 0.0, 1.0))
    missed = regression.bytes_each * (known.ratios - predicted[places])
    leverage = np.minimum(regression.leverage, _LARGEST_LEVERAGE)
    return predicted, Misses(
        total_bytes=float(missed.sum()),
        deviations=missed / (1 - leverage),
        shares=known.shares,
        in_file_order=known.in_file_order,
        degrees=max(_LEAST_DEGREES, len(places) - _TOLD_BY_SAMPLE),
    )


def _correct(
    phase: Phase, known: _Known, model: BlockModel
) -> tuple[NDArray[np.float64], Misses]:
    """Predict by a model, corrected by what it misses of the known blocks.

    A payload's bias is one of many, whose spread is known from payloads left out
    (:attr:`BlockModel.bias`). Few blocks tell it less well than that, so what they say
    counts in proportion (an empirical Bayes estimator). Where they show more than
    chance explains, the spread is at least the rest: a payload unlike those of the fit
    isn't taken for one of them.
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
        degrees=len(deviations) + SCATTER_WEIGHT - 1,
    )


def _bias(
    missed: NDArray[np.float64], expected: NDArray[np.float64], model: BlockModel
) -> tuple[float, NDArray[np.float64]]:
    """Return a model's bias on a payload, and deviations that tell its error.

    :param missed: bytes of each block drawn, weighted to stand for the payload.
    :param expected: likewise as predicted.
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


def _half_width(misses: Sequence[Misses], z: float) -> float:
    """Return the half width of the interval that misses of several steps leave.

    The degrees of freedom are those of Satterthwaite, An approximate distribution of
    estimates of variance components, 1946.
    """
    variances = [_variance(each) for each in misses]
    total = sum(variances)
    if not total:
        return 0.0
    scatter = sum(v**2 / m.degrees for v, m in zip(variances, misses, strict=True))
    return quantile(total**2 / scatter, z) * float(np.sqrt(total))


def quantile(degrees: float, z: float) -> float:
    """Return a quantile of Student's distribution.

    :param z: the same one of the normal distribution.

    The expansion of Cornish and Fisher's in the degrees of freedom (Abramowitz and
    Stegun, 26.7.5), good to a thousandth from five degrees on.
    """
    n = max(_LEAST_DEGREES, degrees)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def _variance(misses: Misses) -> float:
    """Return the variance of the sum of deviations.

    Blocks drawn from file to file: from the differences of neighbours, as little else
    is left to chance where they are evenly spread. (Of 20 payloads, what the step from
    the closer look to all blocks misses has a standard deviation of 0.56 % with xz and
    0.38 % with lzo; this says 0.58 and 0.41 %, independent draws would have 0.61 and
    0.46 %.) Others: as if the draws were independent. Certain blocks add none.
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
