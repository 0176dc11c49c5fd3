"""Which files don't compress, by what a codec makes of their blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.trial.estimate import CONFIDENCE_Z
from snapcraft_compression_advisor.trial.stored import ALIKE

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.trial.stored import BlockSizes, StoredSizes

LEAST_RATIO = 0.95
"""A block that keeps so much of its length doesn't compress."""

LEAST_BYTES = 4096
"""Shorter blocks hardly ever compress, whatever is in them, and don't count."""

_LOGISTIC = 1.702
"""Steepness with which the logistic curve comes closest to the normal one (Camilli,
Origin of the scaling constant d = 1.7, 1994)."""

_LEAST_OF_FILE = 0.5
"""A file is named where so much of what it takes is such blocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompressibleFile:
    """A file that doesn't compress.

    :param stored_bytes: what its blocks that don't compress take in the image.
    """

    path: str
    stored_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Incompressible:
    """What doesn't compress in an image.

    :param stored_bytes: of blocks that don't.
    :param total_bytes: of all blocks.
    :param files: the largest first.
    """

    stored_bytes: Interval
    total_bytes: float
    files: tuple[IncompressibleFile, ...]


def find_incompressible(
    stored: StoredSizes, codec: str, *, among: Container[str]
) -> Incompressible | None:
    """Find what a codec doesn't make smaller by a twentieth.

    Where a block's size is estimated, it counts with the chance that it doesn't
    compress. What is wrong with these chances is taken to be alike for blocks of one
    payload to the same degree as what is wrong with the sizes (:data:`.stored.ALIKE`).

    :param among: paths of the files to look at; all count for the total.
    :returns: ``None`` for a codec that nothing is known of.
    """
    sizes = stored.codecs.get(codec)
    if sizes is None:
        return None
    layout = stored.layout
    looked_at = np.array([path in among for path in layout.paths], dtype=np.bool_)
    owners = layout.files_of_blocks()
    chances = np.where(looked_at[owners], _chances(sizes, layout.raw_bytes()), 0.0)
    return Incompressible(
        stored_bytes=_total(sizes.stored_bytes, chances),
        total_bytes=float(sizes.stored_bytes.sum()),
        files=_files(layout, sizes.stored_bytes, owners, chances),
    )


def _chances(sizes: BlockSizes, raw_bytes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how likely each block is not to compress; 0 for those that don't count."""
    above = sizes.stored_bytes - LEAST_RATIO * raw_bytes
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        z = above / sizes.errors
        # The logistic curve is within a hundredth of the normal distribution's.
        likely = 1 / (1 + np.exp(-_LOGISTIC * z))
    known = np.where(above >= 0, 1.0, 0.0)
    chances = np.where(sizes.errors > 0, likely, known)
    counts = (sizes.stored_bytes > 0) & (raw_bytes >= LEAST_BYTES)
    return np.where(counts, chances, 0.0)


def _total(stored_bytes: NDArray[np.float64], chances: NDArray[np.float64]) -> Interval:
    middle = float((stored_bytes * chances).sum())
    deviations = stored_bytes * np.sqrt(chances * (1 - chances))
    variance = (1 - ALIKE) * (deviations**2).sum() + ALIKE * deviations.sum() ** 2
    error = CONFIDENCE_Z * float(np.sqrt(variance))
    most = float(stored_bytes.sum())
    return Interval(
        low=max(0.0, middle - error), mid=middle, high=min(most, middle + error)
    )


def _files(
    layout: Layout,
    stored_bytes: NDArray[np.float64],
    owners: NDArray[np.int64],
    chances: NDArray[np.float64],
) -> tuple[IncompressibleFile, ...]:
    count = len(layout.paths)
    each = np.bincount(owners, stored_bytes, minlength=count)
    bad = np.bincount(owners, stored_bytes * chances, minlength=count)
    chosen = np.flatnonzero((bad > 0) & (bad >= _LEAST_OF_FILE * each))
    largest = chosen[np.argsort(-bad[chosen], kind="stable")]
    return tuple(
        IncompressibleFile(path=layout.paths[number], stored_bytes=float(bad[number]))
        for number in largest.tolist()
    )
