"""A user's month by the figures of one refresh, between two builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.frozen import frozen
from ..core.units import Interval
from ..launch.model import combined
from .month import Month, month_of
from .refreshes import ASSUMED, Habits, Refresh

if TYPE_CHECKING:
    from ..refresh import refresh as refreshes
    from ..refresh.choice import Choice
    from .recommendation import Recommendation

SHIPPED = ("xz", "lzo")


@frozen
class RefreshMonth:
    """A month in which each refresh is like the one between two builds.

    :param assumed: whether nothing was known of the user's habits.
    """

    month: Month
    assumed: bool


def month_by_refresh(
    refresh: refreshes.Refresh,
    advice: Recommendation,
    habits: Habits | None,
    link_mbit_per_s: float,
) -> RefreshMonth | None:
    """Return what lzo saves in a month of launches and such refreshes.

    :param refresh: with what applying its deltas takes.
    :param advice: for the new build: its deciding saving, and what lzo adds.
    :param habits: what a user does; ``None`` where that isn't known.
    :returns: ``None`` where no launch is known, or not both codecs were compared.
    """
    if advice.decisive is None or not {*SHIPPED} <= refresh.codecs.keys():
        return None
    codecs = {name: refresh.codecs[name] for name in SHIPPED}
    used = habits or ASSUMED
    chosen = {name: _downloaded(codec, used) for name, codec in codecs.items()}
    sizes = {name: size for name, (size, _) in chosen.items()}
    devices = next(iter(codecs["xz"].applying.values()), {})
    whole = all(choice is None or not choice.download for _, choice in chosen.values())
    added = advice.bytes_added
    if added is None or all(codec.full_measured for codec in codecs.values()):
        added = _added(codecs["xz"].full_bytes, codecs["lzo"].full_bytes)
    month = month_of(
        advice.decisive,
        used,
        Refresh(
            download_bytes=sizes,
            bytes_added=None if whole else _added(sizes["xz"], sizes["lzo"]),
            apply_s={
                device: {
                    name: _applied_s(codecs[name], choice, device)
                    for name, (_, choice) in chosen.items()
                }
                for device in devices
            },
        ),
        added,
        link_mbit_per_s,
    )
    return RefreshMonth(month=month, assumed=habits is None)


def _downloaded(
    codec: refreshes.CodecRefresh, habits: Habits
) -> tuple[Interval, Choice | None]:
    """Return what a refresh downloads, and the choice behind it."""
    if habits.deltas == "none":
        return codec.full_bytes, None
    condition = "default" if habits.deltas == "xdelta3" else "snap-delta-format"
    choice = next(each for each in codec.choices if each.condition == condition)
    return choice.size_bytes, choice


def _applied_s(
    codec: refreshes.CodecRefresh, choice: Choice | None, device: str
) -> Interval:
    if choice is None or choice.download is None:
        return Interval.exactly(0.0)
    return codec.applying[choice.download][device].seconds


def _added(xz: Interval, lzo: Interval) -> Interval:
    """Return what lzo adds; two estimates are off independently of each other."""
    if xz == lzo:  # one snap-aware delta for both
        return Interval.exactly(0.0)
    return combined(lambda both: both[1] - both[0], (xz, lzo))
