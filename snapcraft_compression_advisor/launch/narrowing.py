"""What would narrow the interval of a saving, and the saving of average devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


_GUESS = slice(3, 5)
"""Of the figures of :func:`total_s`, those of the guess; before it, the device's."""


def narrowing(slow: LaunchEstimate, fast: LaunchEstimate) -> Narrowing:
    """Return what would narrow the interval of :func:`seconds_saved`."""
    return _narrowing(saved_figures(slow, fast), calibrated_work(slow, fast))


def _narrowing(figures: Sequence[Interval], work: Interval) -> Narrowing:
    """Return what would narrow the interval of figures of :func:`total_s`.

    :param work: the third figure, if the device's own were known.
    """
    seeks, transfer, _, *launch = figures
    calibrated = [*_middles((seeks, transfer)), work, *launch]
    recorded = [*figures[: _GUESS.start], *_middles(figures[_GUESS]), figures[-1]]
    return Narrowing(
        if_recorded=combined(total_s, recorded),
        if_calibrated=combined(total_s, calibrated),
    )


def _middles(figures: Sequence[Interval]) -> list[Interval]:
    return [Interval.exactly(figure.mid) for figure in figures]


def average_saving(
    users: Sequence[tuple[float, LaunchEstimate, LaunchEstimate]],
) -> tuple[Interval, Narrowing]:
    """Return what is saved on the average device, and what would narrow that.

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
