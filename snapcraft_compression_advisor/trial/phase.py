"""Phases: each looks at fewer blocks than the one before it, and more closely."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout

MOST_KINDS = 12
"""Kinds of files that are told apart, those with the most bytes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Blocks that a phase looks at, and what it knows of them.

    Arrays have one element, or row, for each block.

    :param members: numbers of the blocks in the layout, ascending.
    :param raw_bytes: their lengths.
    :param shares: the chance that each had, of those in the phase before; 1 where all
        are in.
    :param weights: how many blocks of the payload each stands for.
    :param ratios: sizes with fast codecs per byte, a column each.
    :param features: other figures that say something about a block.
    :param zeros: whether a block holds nothing but zeros, and takes no room.
    :param in_file_order: whether it was drawn by equal steps from file to file.
    """

    members: NDArray[np.int64]
    raw_bytes: NDArray[np.float64]
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    ratios: NDArray[np.float64]
    features: NDArray[np.float64]
    zeros: NDArray[np.bool_]
    in_file_order: bool = False

    @property
    def complete(self) -> bool:
        """Whether every block of the payload is in it."""
        return bool((self.weights == 1).all())

    def places_of(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return at which indices these members stand."""
        places: NDArray[np.int64] = np.searchsorted(self.members, members)
        return places

    def predictors(self, *, curved: bool) -> NDArray[np.float64]:
        """Return what sizes are predicted from, a row for each block, standardised.

        The ratios, the block's length (short ones compress worse) and its square, and
        the features.

        :param curved: the ratios' squares as well, and their products with the length:
            more than a few blocks can tell about.
        """
        length = np.log2(self.raw_bytes)[:, None]
        columns = [self.ratios, length, length**2, self.features]
        if curved:
            columns += [self.ratios**2, self.ratios * length]
        table = np.column_stack(columns)
        spread = table.std(axis=0) if len(table) else np.ones(table.shape[1])
        middle = table.mean(axis=0) if len(table) else 0.0
        standard = (table - middle) / np.where(spread > 0, spread, 1.0)
        return np.column_stack((np.ones(len(table)), standard))


def phase_of_names(layout: Layout, members: NDArray[np.int64]) -> Phase:
    """Return what is known of blocks before any is read: lengths and kinds of files.

    :param members: all blocks of the payload, but for holes.
    """
    raw_bytes = layout.raw_bytes()[members].astype(np.float64)
    kinds = kinds_of_blocks(layout)[members]
    names, index = np.unique(kinds, return_inverse=True)
    most = np.argsort(-np.bincount(index, weights=raw_bytes), kind="stable")
    features = [index == kind for kind in most[:MOST_KINDS]]
    return Phase(
        members=members,
        raw_bytes=raw_bytes,
        shares=np.ones(len(members)),
        weights=np.ones(len(members)),
        ratios=np.zeros((len(members), 0)),
        features=np.array(features, dtype=np.float64)
        .reshape(min(MOST_KINDS, len(names)), len(members))
        .T,
        zeros=np.zeros(len(members), dtype=np.bool_),
    )


def closer_phase(
    phase: Phase,
    members: NDArray[np.int64],
    shares: NDArray[np.float64],
    sizes: NDArray[np.float64],
    *,
    features: int = 0,
) -> Phase:
    """Return blocks of a phase with what a closer look adds to what is known of them.

    :param members: numbers of the blocks, ascending.
    :param shares: the chance that each had of being drawn from the phase.
    :param sizes: what the look found, a row each.
    :param features: how many of the last columns are figures other than sizes.
    """
    places = phase.places_of(members)
    raw_bytes = phase.raw_bytes[places]
    per_byte = sizes / raw_bytes[:, None]
    middle = per_byte.shape[1] - features
    return Phase(
        members=members,
        raw_bytes=raw_bytes,
        shares=shares,
        weights=phase.weights[places] / shares,
        ratios=np.column_stack((phase.ratios[places], per_byte[:, :middle])),
        features=np.column_stack((phase.features[places], per_byte[:, middle:])),
        zeros=phase.zeros[places],
    )


def similar_side_by_side(layout: Layout) -> NDArray[np.int64]:
    """Return every block's place in an order by kind of file, then by file."""
    order = np.argsort(kinds_of_blocks(layout), kind="stable")
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def kinds_of_blocks(layout: Layout) -> NDArray[np.str_]:
    """Return for every block the kind of its file."""
    kinds = np.array([kind_of_file(path) for path in layout.paths], dtype=np.str_)
    every: NDArray[np.str_] = kinds[layout.files_of_blocks()]
    return every


def kind_of_file(path: str) -> str:
    """Return what a file's name tells of its contents: its suffix, mostly.

    >>> kind_of_file("usr/lib/libx.so.1.2")
    'so'
    """
    name = posixpath.basename(path)
    if ".so" in name:
        return "so"
    return name.rpartition(".")[2][:8] if "." in name else ""
