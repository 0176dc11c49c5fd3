"""What a fleet would gain, in the order in which to act, and what stands out."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ..core.frozen import frozen
from ..core.units import Interval
from .reading import Fleet, SnapRow

_FENCE = 1.5
"""Quartile ranges beyond a quartile: Tukey, Exploratory Data Analysis, 1977, 2D."""

_LEAST_FOR_FENCES = 8
_QUARTERS = 4
_GROWTH = 0.05
"""Of a size or time, as a share: a smaller change isn't listed."""


@frozen
class Gain:
    """What a snap gains from the compression that is recommended.

    :param gain: seconds of a cold launch, or bytes of the image.
    :param weight: of the snap; 1 where there are no weights.
    """

    snap: SnapRow
    gain: Interval
    weight: float

    @property
    def weighted(self) -> Interval:
        """The gain times the weight."""
        return self.gain.map(lambda end: end * self.weight)


def to_lzo(fleet: Fleet, weights: Mapping[str, float] | None) -> list[Gain]:
    """Return the snaps that should be packed with lzo, the largest gain first."""
    return _ranked(fleet, weights, "lzo", lambda snap: snap.saved_s)


def to_xz(fleet: Fleet, weights: Mapping[str, float] | None) -> list[Gain]:
    """Return those that should be packed with xz, by the bytes that saves."""
    return _ranked(fleet, weights, "xz", lambda snap: snap.added_bytes)


def _ranked(
    fleet: Fleet,
    weights: Mapping[str, float] | None,
    codec: str,
    gain_of: Callable[[SnapRow], Interval | None],
) -> list[Gain]:
    found = [
        Gain(
            snap=snap,
            gain=gain,
            weight=1.0 if weights is None else weights.get(snap.name, 0.0),
        )
        for snap in fleet.snaps
        if snap.verdict == "change" and snap.recommended == codec != snap.codec
        if (gain := gain_of(snap)) is not None
    ]
    return sorted(found, key=lambda each: -each.weighted.mid)


def total(gains: Sequence[Gain]) -> Interval:
    """Return the sum of gains, each times its weight, end by end."""
    return sum((each.weighted for each in gains), Interval.exactly(0.0))


def outliers(
    snaps: Sequence[SnapRow], figure: Callable[[SnapRow], float | None]
) -> list[tuple[SnapRow, float]]:
    """Return snaps beyond Tukey's upper fence of a figure's logarithm, largest first.

    :returns: none where there are too few snaps for quartiles to mean anything.
    """
    known = [(snap, value) for snap in snaps if (value := figure(snap))]
    logs = [math.log(value) for _, value in known if value > 0]
    if len(logs) < _LEAST_FOR_FENCES:
        return []
    first, _, third = statistics.quantiles(logs, n=_QUARTERS)
    fence = math.exp(third + _FENCE * (third - first))
    beyond = [each for each in known if each[1] > fence]
    return sorted(beyond, key=lambda each: -each[1])


def by_rule(snaps: Sequence[SnapRow]) -> list[tuple[str, Counter[str], int]]:
    """Return rules, their findings by severity, and how many snaps have one."""
    found: dict[str, Counter[str]] = {}
    having: Counter[str] = Counter()
    for snap in snaps:
        for rule, severity in snap.findings:
            found.setdefault(rule, Counter())[severity] += 1
        having.update({rule for rule, _ in snap.findings})
    return [(rule, found[rule], having[rule]) for rule in sorted(found)]


@frozen
class Pair:
    """A snap in both data sets."""

    before: SnapRow
    now: SnapRow


def pairs(before: Fleet, now: Fleet) -> tuple[list[Pair], list[str], list[str]]:
    """Return snaps in both data sets whose images differ, new ones and gone ones.

    Snaps are the same where their names are; of several of one name, the first by
    path is paired with the first.
    """
    old, new = _keyed(before.snaps), _keyed(now.snaps)
    same = [Pair(before=old[key], now=new[key]) for key in new if key in old]
    return (
        [pair for pair in same if pair.before.digest != pair.now.digest],
        [new[key].name for key in new if key not in old],
        [old[key].name for key in old if key not in new],
    )


def _keyed(snaps: Sequence[SnapRow]) -> dict[tuple[str, int], SnapRow]:
    count: Counter[str] = Counter()
    keyed = {}
    for snap in snaps:
        keyed[snap.name, count[snap.name]] = snap
        count[snap.name] += 1
    return keyed


def grown(before: float | None, now: float | None) -> bool:
    """Tell whether a figure differs by more than is worth a line."""
    if not before or now is None:
        return False
    return abs(now / before - 1) > _GROWTH
