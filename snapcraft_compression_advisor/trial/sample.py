"""Which blocks go to the slow codecs."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snapcraft_compression_advisor.payload.layout import Layout
    from snapcraft_compression_advisor.trial.census import Census

_GOLDEN_RATIO = 0.6180339887498949


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Blocks drawn from a census.

    :param members: their indices in the census, in the order of the draw's list, so
        that neighbours are alike.
    :param shares: the chance that each had of being drawn; 1 for a certain one.
    """

    members: NDArray[np.int64]
    shares: NDArray[np.float64]


def draw(
    census: Census,
    order: NDArray[np.int64],
    *,
    count: int,
    certain: NDArray[np.bool_],
    seed: int = 0,
) -> Sample:
    """Draw blocks at equal steps along the sum of their raw bytes.

    A block's chance is proportional to its raw bytes, so what is estimated is a mean
    ratio; and since the list has similar blocks side by side, equal steps give every
    kind of content its due (systematic sampling; Särndal, Swensson and Wretman, Model
    Assisted Survey Sampling, 1992, section 3.4). Drawing blocks that don't compress
    less often was tried, and widened the intervals.

    :param order: the census's indices, similar blocks side by side.
    :param count: how many to draw; certain ones come on top.
    :param certain: for each block of the census, whether it is to be drawn anyway.
    :param seed: another one draws other blocks.
    """
    sizes = census.raw_bytes * census.weights
    sure = certain | _larger_than_a_step(sizes, certain, count)
    listed = order[~sure[order]]
    left = count - int(np.count_nonzero(sure & ~certain))
    ends = np.cumsum(sizes[listed])
    if left <= 0 or not len(listed):
        drawn = listed[:0]
    else:
        start = (0.5 + seed * _GOLDEN_RATIO) % 1.0
        points = (np.arange(left) + start) / left * ends[-1]
        drawn = listed[np.minimum(np.searchsorted(ends, points), len(listed) - 1)]
    member = sure.copy()
    member[drawn] = True
    shares = np.ones(len(sizes))
    if len(listed):
        shares[listed] = np.minimum(1.0, left * sizes[listed] / ends[-1])
    members = order[member[order]]
    return Sample(members=members, shares=shares[members])


def similar_side_by_side(census: Census, layout: Layout) -> NDArray[np.int64]:
    """Order a census by the kind of file, then by its place in the payload."""
    kinds = np.array([kind_of_file(path) for path in layout.paths], dtype=np.str_)
    files = layout.files_of_blocks()[census.numbers]
    return np.lexsort((census.numbers, kinds[files]))


def kind_of_file(path: str) -> str:
    """Return what a file's name tells of its contents: its suffix, mostly.

    >>> kind_of_file("usr/lib/libx.so.1.2")
    'so'
    """
    name = posixpath.basename(path)
    if ".so" in name:
        return "so"
    return name.rpartition(".")[2][:8] if "." in name else ""


def _larger_than_a_step(
    sizes: NDArray[np.float64], certain: NDArray[np.bool_], count: int
) -> NDArray[np.bool_]:
    """Return the blocks that any step hits; without them, steps become shorter."""
    sure = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        rest = ~(sure | certain)
        left = count - int(np.count_nonzero(sure))
        total = float(sizes[rest].sum())
        if left <= 0 or not total:
            return sure
        more = rest & (sizes * left >= total)
        if not more.any():
            return sure
        sure |= more
