"""Estimates of launches put together: of several devices, of several snaps.

A launch that reads several snaps waits for one block before it asks for the next,
whichever mount that is in: each mount decompresses one at a time
(``SQUASHFS_DECOMP_SINGLE``), and all share the storage. So the parts add up. Measured:
``docs/study/stacks.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from ..core.units import Interval, combined
from .model import LaunchEstimate, calibrated_work, saved_figures, total_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """What the interval of a saving would be if more were known.

    :param if_recorded: that the launch reads as many blocks as expected.
    :param if_calibrated: that the device is as in the middle.
    """

    if_recorded: Interval
    if_calibrated: Interval


def narrowing(slow: LaunchEstimate, fast: LaunchEstimate) -> Narrowing:
    """Return the ways to narrow the interval of :func:`seconds_saved`."""
    return _narrowing(saved_figures(slow, fast), calibrated_work(slow, fast))


def _narrowing(figures: Sequence[Interval], calibrated_s: Interval) -> Narrowing:
    """Return the ways to narrow the interval of figures of :func:`total_s`."""
    seeks, transfer, work, *shares, waited_share = figures
    known = [Interval.exactly(share.mid) for share in shares]
    device = [Interval.exactly(each.mid) for each in (seeks, transfer)]
    return Narrowing(
        if_recorded=combined(total_s, (seeks, transfer, work, *known, waited_share)),
        if_calibrated=combined(total_s, (*device, calibrated_s, *shares, waited_share)),
    )


def average_saving(
    users: Sequence[tuple[float, LaunchEstimate, LaunchEstimate]],
) -> tuple[Interval, Narrowing]:
    """Return the saving on the average device, and ways to narrow its interval.

    :param users: the share of each device, and the slow and the fast launch there.
    """
    saved = average_figures(
        [(share, saved_figures(slow, fast)) for share, slow, fast in users]
    )
    work = Interval.exactly(0)
    for share, slow, fast in users:
        work += calibrated_work(slow, fast) * share
    return combined(total_s, saved), _narrowing(saved, work)


def average_figures(
    devices: Sequence[tuple[float, Sequence[Interval]]],
) -> tuple[Interval, ...]:
    """Return the figures of :func:`total_s` of a launch on the average device.

    The launch is the same on all devices, and so is what isn't known of it. Storage
    differs from device to device, so its errors are independent. What processors take
    comes from the same few publications, or even from the same profile, so all of it is
    taken to be wrong in the same direction.

    :param devices: the share of each, which add up to 1, and its figures.
    """
    shares = [share for share, _ in devices]

    def average(values: Sequence[float]) -> float:
        return sum(a * b for a, b in zip(shares, values, strict=True))

    seeks, transfer, work, *launch = zip(
        *(figures for _, figures in devices), strict=True
    )
    low, mid, high = (
        average(ends) for ends in zip(*(e.ends for e in work), strict=True)
    )
    return (
        combined(average, seeks),
        combined(average, transfer),
        Interval(low=low, mid=mid, high=high),
        *(figures[0] for figures in launch),
    )


def together(layers: Sequence[LaunchEstimate]) -> LaunchEstimate:
    """Return the cost of one launch's snaps on one device, as one estimate.

    The device is the same for all, so the ends add up end by end. The shares of the
    launch mostly are the same too; if one snap's are known better, they are averaged by
    what the snaps cost. What another codec for one snap saves is
    :func:`.model.seconds_saved` of that snap alone: the others cost what they did.

    :param layers: at least one.
    """
    work = [each.transfer.mid + each.fill.mid + each.decompress.mid for each in layers]
    return LaunchEstimate(
        seeks=_sum(each.seeks for each in layers),
        transfer=_sum(each.transfer for each in layers),
        fill=_sum(each.fill for each in layers),
        decompress=_sum(each.decompress for each in layers),
        calibrated_s=_sum(each.calibrated for each in layers),
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
