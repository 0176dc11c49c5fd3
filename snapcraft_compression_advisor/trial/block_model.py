"""What slow codecs make of a block, predicted by a model fitted beforehand.

``study/block_sizes.py`` fits it to blocks of many applications
(``study/data/block-sizes.csv``) and writes ``block_model.json``, with the errors that
it makes on applications that were left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations_with_replacement
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from ..codecs.codec import DATA_BLOCK_BYTES

NOT_PACKED = "none"
"""Stands for a payload of which no codec's sizes are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockModel:
    """How one codec's sizes follow from a closer look.

    :param coefficients: of the columns of :func:`model_columns`.
    :param looks: how many sizes of a block it is fitted to: those found last.
    :param scatter: what it misses of a block, one standard deviation in shares of the
        mean block's size: payloads left out.
    :param bias: likewise of a whole payload.
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
        stored = (ratios >= 1).all(
            axis=1
        )  # by every codec that looked: no other differs
        return np.asarray(np.where(stored, 1.0, np.clip(predicted, 0.0, 1.0)))


def model_columns(
    ratios: NDArray[np.float64], raw_bytes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what a model is linear in: the ratios, the length, and their products."""
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


class _Codec(TypedDict):
    coefficients: list[float]
    scatter: float
    bias: float


class _Looks(TypedDict):
    columns: list[str]
    codecs: dict[str, _Codec]


@cache
def _fitted() -> Mapping[str, _Looks]:
    text = files(__package__).joinpath("block_model.json").read_text(encoding="utf-8")
    models: dict[str, _Looks] = json.loads(text)["models"]
    return models
