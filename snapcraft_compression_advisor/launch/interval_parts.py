"""Where the interval of a saving comes from, and what would narrow it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial

from ..core.frozen import frozen
from ..core.units import Interval
from .model import (
    LaunchEstimate,
    calibrated_work,
    combined,
    saved_figures,
    squares_of,
    total_s,
)


@frozen
class IntervalParts:
    """Where the interval of a saving comes from.

    The first three are shares of the squared distances to its ends, which add up to 1;
    all are 0 where it has no width.

    :param device: what storage and processor leave open.
    :param guess: what it leaves open which blocks a launch reads.
    :param model: what the same codec takes in other launches, and how much of its work
        a launch waits for.
    :param if_recorded: the interval were it known which blocks the launch reads: as
        many as expected.
    :param if_calibrated: the interval were the device known to be as in the middle.
    """

    device: float
    guess: float
    model: float
    if_recorded: Interval
    if_calibrated: Interval


_GUESS = slice(3, 5)
"""Of the figures of :func:`total_s`, those of the guess; before it, the device's."""


def interval_parts(slow: LaunchEstimate, fast: LaunchEstimate) -> IntervalParts:
    """Return where the interval of :func:`seconds_saved` comes from."""
    return parts_of(saved_figures(slow, fast), calibrated_work(slow, fast))


def parts_of(figures: Sequence[Interval], work: Interval) -> IntervalParts:
    """Return where the interval comes from that figures of :func:`total_s` make.

    :param work: the third figure, if the device's own were known.
    """
    seeks, transfer, _, *launch = figures
    calibrated = [*_middles((seeks, transfer)), work, *launch]
    recorded = [*figures[: _GUESS.start], *_middles(figures[_GUESS]), figures[-1]]
    squares, left = (
        [below + above for below, above in squares_of(total_s, each)]
        for each in (figures, calibrated)
    )
    total = sum(squares) or 1.0
    of_model = min(squares[2], left[2])
    return IntervalParts(
        device=(sum(squares[:3]) - of_model) / total,
        guess=sum(squares[_GUESS]) / total,
        model=(of_model + squares[-1]) / total,
        if_recorded=combined(total_s, recorded),
        if_calibrated=combined(total_s, calibrated),
    )


def _middles(figures: Sequence[Interval]) -> list[Interval]:
    return [Interval.exactly(figure.mid) for figure in figures]


def average_saving(
    users: Sequence[tuple[float, LaunchEstimate, LaunchEstimate]],
) -> tuple[Interval, IntervalParts]:
    """Return what is saved on the average device, and where its interval comes from.

    :param users: the share of each device, and the slow and the fast launch there.
    """
    saved = average_figures(
        [(share, saved_figures(slow, fast)) for share, slow, fast in users]
    )
    work = Interval.exactly(0)
    for share, slow, fast in users:
        work += calibrated_work(slow, fast).map(partial(operator.mul, share))
    return combined(total_s, saved), parts_of(saved, work)


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
    return (
        combined(average, seeks),
        combined(average, transfer),
        Interval(
            low=average([each.low for each in work]),
            mid=average([each.mid for each in work]),
            high=average([each.high for each in work]),
        ),
        *(figures[0] for figures in launch),
    )
