"""The deltas from a previous build, where a project names one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..codecs import SHIPPABLE
from ..payload.source import open_payload
from .builds import check_names
from .estimate import DeltaEstimator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.units import Interval
    from ..payload.source import Payload
    from .delta import DeltaFormat


def deltas_from(
    previous: Path, new: Payload, delta_format: DeltaFormat
) -> Mapping[str, Interval]:
    """Estimate the deltas from a previous build to a new one, by codec.

    :param previous: a .snap or a prime directory.
    :raises BadDataError: where it is of another snap, or broken.
    :raises AdvisorError: where it can't be read.
    """
    with open_payload(previous) as old:
        check_names(old, new)
        estimator = DeltaEstimator(old, new)
        if delta_format == "snap-1-1-xdelta3":
            return dict.fromkeys(SHIPPABLE, estimator.snap_aware.size_bytes)
        return {codec: estimator.plain(codec).size_bytes for codec in SHIPPABLE}
