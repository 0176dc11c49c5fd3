"""Launches predicted from the other applications' data, for ``accuracy.py``."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from accuracy_data import CODECS
from kernel_blocks import TABLE, read_table
from snapcraft_compression_advisor.capture.cost_fit import FittedCosts, fit_costs
from snapcraft_compression_advisor.core.units import Interval
from snapcraft_compression_advisor.launch.model import block_cost
from static_folds import lognormal_spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accuracy_data import Launches

SAME_APPLICATION = {
    "chromium": "browser",
    "libreoffice-calc": "office",
    "libreoffice-writer": "office",
    "python-scipy": "python-app",
    "gnome-calculator": "gnome-calculator",
    "supertuxkart": "game",
    "jq": "cli",
}
"""Whose blocks are among those that the costs are fitted to; left out of the fit."""

TELLING_SHARE = 0.1
"""What a codec adds is compared where it is more than this share of the launch."""

FEWEST_TELLING = 3
_NORMAL_95 = 1.96
MEDIAN_OVER_MEAN = 1.2533
"""Standard error of a median, per that of a mean (normal distribution)."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What was predicted of one application with one codec, and what was measured.

    :param added_s: over the uncompressed image's cold launch; the interval holds the
        spread of launches as well.
    :param measured_s: likewise, the difference of the medians.
    :param telling: whether it is enough of the launch to be compared.
    """

    application: str
    codec: str
    added_s: Interval
    measured_s: float
    telling: bool

    @property
    def error(self) -> float:
        """How far the middle is off, relative."""
        return self.added_s.mid / self.measured_s - 1

    @property
    def held(self) -> bool:
        """Whether the interval holds what was measured."""
        return self.added_s.low <= self.measured_s <= self.added_s.high


@cache
def costs_without(application: str) -> FittedCosts:
    """Return the costs of blocks, fitted without those of an application."""
    left_out = SAME_APPLICATION.get(application)
    return fit_costs([block for block in read_table(TABLE) if block.group != left_out])


def alone_s(launches: Launches, codec: str) -> Interval:
    """Return what the blocks of a launch take to decompress, one after the other.

    Less what the launch does meanwhile.
    """
    sums = launches.sums[codec]
    alone = block_cost(
        costs_without(launches.name).decompress[codec],
        sums.compressed_blocks,
        sums.compressed_raw_bytes,
        sums.compressed_stored_bytes,
    )
    return alone.map(lambda seconds: seconds * launches.waited_share)


def is_telling(launches: Launches, codec: str) -> bool:
    """Return whether what a codec adds is enough of the launch to be compared."""
    return launches.added_s(codec) > TELLING_SHARE * launches.base_s


def factors(all_launches: Sequence[Launches]) -> Mapping[str, Interval]:
    """Return what a launch waits for, per second that its blocks take alone.

    The median of the applications where it tells, and where nine of ten lie; for a
    codec that tells in too few of them, of all codecs.
    """
    ratios = {
        codec: [
            each.added_s(codec) / alone_s(each, codec).mid
            for each in all_launches
            if is_telling(each, codec)
        ]
        for codec in CODECS
    }
    pooled = [ratio for each in ratios.values() for ratio in each]
    return {
        codec: lognormal_spread(each if len(each) >= FEWEST_TELLING else pooled)
        for codec, each in ratios.items()
    }


def launch_spread(all_launches: Sequence[Launches]) -> float:
    """Return the relative standard deviation of launches, the median of all."""
    return statistics.median(
        statistics.stdev(runs) / statistics.median(runs)
        for each in all_launches
        for runs in each.cold_s.values()
    )


def predict(launches: Launches, others: Sequence[Launches]) -> tuple[Prediction, ...]:
    """Predict an application's launches from the others."""
    factor = factors(others)
    runs = len(launches.cold_s["none"])
    spread = launch_spread(others)
    return tuple(
        _predict(launches, codec, factor[codec], spread / runs**0.5) for codec in CODECS
    )


def _predict(
    launches: Launches, codec: str, factor: Interval, error: float
) -> Prediction:
    alone = alone_s(launches, codec)
    low, mid, high = (
        alone.low * factor.low,
        alone.mid * factor.mid,
        alone.high * factor.high,
    )
    both = (launches.base_s**2 + (launches.base_s + mid) ** 2) ** 0.5
    noise_s = _NORMAL_95 * MEDIAN_OVER_MEAN * error * both
    return Prediction(
        application=launches.name,
        codec=codec,
        added_s=Interval(low=low - noise_s, mid=mid, high=high + noise_s),
        measured_s=launches.added_s(codec),
        telling=is_telling(launches, codec),
    )
