"""What a launch costs that reads from several mounts: an app's, its base's, others.

Each mount decompresses one block at a time (``SQUASHFS_DECOMP_SINGLE``), beside those
of the other mounts, and all share the storage. But a launch mostly waits for one block
before it asks for the next, whichever mount that is in. So the parts add up, and what
it does not wait for (``waited_share``) is as recorded of the whole launch. Measured:
``docs/study/stacks.md``.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from ..core.units import Interval
from .model import LaunchEstimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def together(layers: Sequence[LaunchEstimate]) -> LaunchEstimate:
    """Return what the layers of one launch cost on one device, as one estimate.

    The device is the same for all layers, so the ends add up end by end. The shares of
    the launch mostly are the same too; where one layer's are known better, they are
    averaged by what the layers cost. What another codec for one layer saves is
    :func:`.model.seconds_saved` of that layer alone: the others cost what they did.

    :param layers: at least one.
    """
    work = [
        each.transfer.mid + each.fill.mid + each.decompress.mid + each.metadata.mid
        for each in layers
    ]
    return LaunchEstimate(
        seeks=_sum(each.seeks for each in layers),
        transfer=_sum(each.transfer for each in layers),
        fill=_sum(each.fill for each in layers),
        decompress=_sum(each.decompress for each in layers),
        metadata=_sum(each.metadata for each in layers),
        calibrated=_sum(
            each.calibrated or Interval.exactly(each.decompress.mid) for each in layers
        ),
        read_share=_mean([each.read_share for each in layers], work),
        seek_share=_mean(
            [each.seek_share for each in layers], [each.seeks.mid for each in layers]
        ),
        waited_share=_mean([each.waited_share for each in layers], work),
    )


def _sum(parts: Iterable[Interval]) -> Interval:
    return reduce(add, parts)


def _mean(shares: Sequence[Interval], weights: Sequence[float]) -> Interval:
    """Return the mean of shares; the first of them if nothing tells them apart."""
    total = sum(weights)
    if not total or all(share == shares[0] for share in shares):
        return shares[0]
    return _sum(s * (weight / total) for s, weight in zip(shares, weights, strict=True))
