"""Where the interval of a saving comes from, and what would narrow it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.units import Interval
from .model import LaunchEstimate, combined, saved_figures, squares_of, total_s


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalParts:
    """Where the interval of a saving comes from.

    The first three are shares of the squared distances to its ends, which add up to 1;
    all are 0 where it has no width.

    :param device: what storage and processor leave open.
    :param guess: what it leaves open which blocks a launch reads.
    :param model: what it leaves open how much a launch waits for.
    :param if_recorded: the interval were it known which blocks the launch reads: as
        many as expected.
    :param if_calibrated: the interval were the device as fast as in the middle.
    """

    device: float
    guess: float
    model: float
    if_recorded: Interval
    if_calibrated: Interval


_DEVICE, _GUESS, _MODEL = slice(0, 3), slice(3, 5), slice(5, 6)
"""Of the figures of :func:`total_s`, those of the device, the guess and the model."""


def interval_parts(slow: LaunchEstimate, fast: LaunchEstimate) -> IntervalParts:
    """Return where the interval of :func:`seconds_saved` comes from."""
    return parts_of(saved_figures(slow, fast))


def parts_of(figures: Sequence[Interval]) -> IntervalParts:
    """Return where the interval comes from that figures of :func:`total_s` make."""
    squares = [below + above for below, above in squares_of(total_s, figures)]
    total = sum(squares)
    device, guess, model = (
        sum(squares[part]) / total if total else 0.0
        for part in (_DEVICE, _GUESS, _MODEL)
    )
    if_recorded, if_calibrated = (
        combined(total_s, _known(figures, part)) for part in (_GUESS, _DEVICE)
    )
    return IntervalParts(
        device=device,
        guess=guess,
        model=model,
        if_recorded=if_recorded,
        if_calibrated=if_calibrated,
    )


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


def _known(figures: Sequence[Interval], part: slice) -> list[Interval]:
    """Return figures of which a part has only its middles."""
    result = list(figures)
    result[part] = [Interval.exactly(figure.mid) for figure in figures[part]]
    return result
