"""From some blocks' sizes to that of all, with an interval that holds.

A regression estimator over several phases. The blocks that a codec tried tell how its
sizes follow from the closest look, which is known of more blocks; those tell how that
follows from the look before, and so on up to all blocks. What each step's prediction
misses is estimated from the blocks of the closer phase, so that a poor prediction
widens the interval but doesn't bias it (Särndal, Swensson and Wretman, Model Assisted
Survey Sampling, 1992, chapters 6 and 9).

What slow codecs make of the blocks looked at most closely, a model predicts:
``study/block_sizes.py`` fits it to blocks of many applications
(``study/data/block-sizes.csv``) and writes ``block_model.json``, with the errors that
it makes on applications that were left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES
from .census import RIDGE, Phase, Sample

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


NOT_PACKED = "none"
"""Stands for a payload of which no codec's sizes are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockModel:
    """How one codec's sizes follow from a closer look.

    :param coefficients: of the columns of :func:`model_columns`.
    :param looks: how many sizes of a block it is fitted to: those found last.
    :param scatter: what it misses of a block, one standard deviation in shares of the
        mean block's size, of payloads left out.
    :param bias: what it misses of a whole payload, as a share.
    """

    coefficients: NDArray[np.float64]
    looks: int
    scatter: float
    bias: float

    def predict(
        self, ratios: NDArray[np.float64], raw_bytes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the sizes of blocks, as shares of their lengths.

        :param ratios: what the looks at them found, a column each.
        """
        ratios = ratios[:, ratios.shape[1] - self.looks :]
        predicted = model_columns(ratios, raw_bytes) @ self.coefficients
        # What no codec that looked made shorter, no other does.
        stored = (ratios >= 1).all(axis=1)
        return np.asarray(np.where(stored, 1.0, np.clip(predicted, 0.0, 1.0)))


def model_columns(
    ratios: NDArray[np.float64], raw_bytes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return a model's columns: the ratios, the length, and their products."""
    length = np.log2(raw_bytes) / np.log2(DATA_BLOCK_BYTES)
    simple = [*ratios.T, length]
    products = (one * other for one, other in combinations_with_replacement(simple, 2))
    return np.column_stack((np.ones(len(raw_bytes)), *simple, *products))


def block_models(
    known: str | None, look_names: Sequence[str]
) -> Mapping[str, BlockModel]:
    """Return the models that apply to a payload, by codec.

    :param known: the codec whose sizes are known, of a snap.
    :param look_names: what the looks' columns are, in their order.
    :returns: none if no model was fitted to such looks: a library is missing, say.
    """
    fitted = _fitted().get(known or NOT_PACKED)
    if fitted is None or fitted["columns"] != [*look_names]:
        return {}
    return {
        codec: BlockModel(
            coefficients=np.array(each["coefficients"]),
            looks=len(look_names),
            scatter=each["scatter"],
            bias=each["bias"],
        )
        for codec, each in fitted["codecs"].items()
    }


@cache
def _fitted() -> Mapping[str, Any]:
    text = files(__package__).joinpath("block_model.json").read_text(encoding="utf-8")
    models: Mapping[str, Any] = json.loads(text)["models"]
    return models


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals:
    """What one step's prediction leaves, as estimated.

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


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one codec makes of all blocks.

    :param half_width_bytes: of the interval that holds the truth in 95 % of draws.
    :param predicted_bytes: for each phase, the predicted size of every block in it.
    :param residuals: of each step, that of the blocks tried before all.
    :param confidence_z: quantile of the normal distribution that intervals are made of.
    """

    total_bytes: float
    half_width_bytes: float
    predicted_bytes: tuple[NDArray[np.float64], ...]
    residuals: tuple[Residuals, ...]
    confidence_z: float


@dataclass(frozen=True, slots=True)
class _Known:
    """Blocks of a phase whose ratios are known, or predicted from a closer look."""

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
    :param model: without one, the sample alone tells how sizes follow from the look.
    """
    z = ALONE_CONFIDENCE_Z if model is None else CONFIDENCE_Z
    if not len(sample.members):
        nothing = tuple(np.zeros(len(phase.members)) for phase in phases)
        return Estimate(0.0, 0.0, nothing, (), z)
    places = np.searchsorted(phases[-1].members, sample.members)
    ratios = stored_bytes / phases[-1].raw_bytes[places]
    weights = phases[-1].weights[places] / sample.shares
    known = _Known(sample.members, ratios, weights, sample.shares, in_file_order=False)
    residuals: list[Residuals] = []
    predicted: list[NDArray[np.float64]] = []
    for phase in reversed(phases):
        if residuals or model is None:
            ratios, residual = _regress(phase, known)
        else:
            ratios, residual = _correct(phase, known, model)
        residuals.append(residual)
        predicted.insert(0, ratios * phase.raw_bytes)
        known = _Known(
            *(phase.members, ratios, phase.weights, phase.shares),
            in_file_order=True,  # low lots are evenly spread over files
        )
    total_bytes = float((phases[0].weights * predicted[0]).sum())
    total_bytes += sum(each.total_bytes for each in residuals)
    half_width_bytes = half_width(residuals, z)
    return Estimate(
        total_bytes, half_width_bytes, tuple(predicted), tuple(residuals), z
    )


def difference_half_width(first: Estimate, second: Estimate) -> float:
    """Return the half width of a difference of two codecs tried on the same blocks.

    The same blocks went through all phases, so what one codec's sizes miss is much the
    same as what the other's miss.
    """
    residuals = [
        replace(one, deviations=one.deviations - other.deviations)
        for one, other in zip(first.residuals, second.residuals, strict=True)
    ]
    return half_width(residuals, first.confidence_z)


def half_width(residuals: Sequence[Residuals], z: float) -> float:
    """Return the half width of the interval that residuals of several steps leave."""
    return z * float(np.sqrt(sum(each.variance for each in residuals)))


def _regress(phase: Phase, known: _Known) -> tuple[NDArray[np.float64], Residuals]:
    """Fit the known blocks' ratios and predict those of all blocks of the phase."""
    places = np.searchsorted(phase.members, known.members)
    columns = phase.predictors(known=len(places))
    rows = np.column_stack((np.ones(len(phase.members)), columns))
    bytes_each = known.weights * phase.raw_bytes[places]
    x, w = rows[places], bytes_each / np.mean(bytes_each)
    penalties = np.full(rows.shape[1], RIDGE)
    penalties[0] = _NEXT_TO_NONE
    inverse = np.linalg.inv((x * w[:, None]).T @ x + w.sum() * np.diag(penalties))
    fitted = rows @ (inverse @ (x * w[:, None]).T @ known.ratios)
    predicted = np.where(phase.zeros, 0.0, np.clip(fitted, 0.0, 1.0))
    residual = bytes_each * (known.ratios - predicted[places])
    leverage = np.minimum(w * ((x @ inverse) * x).sum(axis=1), _LARGEST_LEVERAGE)
    return predicted, Residuals(
        total_bytes=float(residual.sum()),
        deviations=residual / (1 - leverage),
        shares=known.shares,
        in_file_order=known.in_file_order,
    )


def _correct(
    phase: Phase, known: _Known, model: BlockModel
) -> tuple[NDArray[np.float64], Residuals]:
    """Predict by a model, corrected by what it misses of the known blocks."""
    places = np.searchsorted(phase.members, known.members)
    predicted = np.where(phase.zeros, 0.0, model.predict(phase.ratios, phase.raw_bytes))
    bytes_each = known.weights * phase.raw_bytes[places]
    expected = bytes_each * predicted[places]
    residual = bytes_each * known.ratios - expected
    drawn = known.shares < 1
    correction, deviations = _bias(residual[drawn], expected[drawn], model)
    predicted = np.minimum(1.0, predicted * (1 + correction))
    certain = bytes_each * (known.ratios - predicted[places])
    every = np.zeros(len(residual))
    every[drawn] = deviations
    return predicted, Residuals(
        total_bytes=float(certain[~drawn].sum()),
        deviations=every,
        shares=known.shares,
        in_file_order=False,
    )


def _bias(
    residual: NDArray[np.float64], expected: NDArray[np.float64], model: BlockModel
) -> tuple[float, NDArray[np.float64]]:
    """Return a model's bias on a payload, and deviations that tell its error.

    The bias is one of many, whose spread is known from payloads left out. Few blocks
    tell it less well than that, so what they say counts in proportion (an empirical
    Bayes estimator). If they show more than chance explains, the spread is at least the
    rest: a payload unlike those of the fit isn't taken for one of them.
    """
    count, total = len(residual), float(expected.sum())
    if not count or not total:
        return 0.0, residual
    found = float(residual.sum()) / total
    deviations = (residual - found * expected) * (count / total)
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
