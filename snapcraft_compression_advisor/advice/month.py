"""A month of a user's life with a snap: launches, downloads, applying deltas."""

from __future__ import annotations

from typing import Literal

from ..core.frozen import frozen
from ..core.units import Interval
from ..launch.model import combined
from .evidence import Saving, download_seconds
from .refreshes import Habits, Refresh

Part = Literal["launches", "downloads", "applying"]


@frozen
class Month:
    """What lzo saves over xz in a month; negative where it costs.

    :param saving: whose launches these are, and where.
    :param habits: what the user does.
    :param refresh: what each refresh costs.
    :param launch_s: seconds that all cold launches become shorter by.
    :param download_bytes: that all refreshes download less.
    :param download_s: seconds that these take.
    :param apply_s: seconds that all deltas are applied faster by.
    """

    saving: Saving
    habits: Habits
    refresh: Refresh
    link_mbit_per_s: float
    launch_s: Interval
    download_bytes: Interval
    download_s: Interval
    apply_s: Interval

    @property
    def total_s(self) -> Interval:
        """All of it; the three know nothing of each other."""
        return combined(sum, (self.launch_s, self.download_s, self.apply_s))

    def link_s(self, size_bytes: float) -> float:
        """Return how long a download takes."""
        return download_seconds(size_bytes, self.link_mbit_per_s)

    @property
    def decided_by(self) -> Part:
        """The part that does most for the side that wins."""
        parts: dict[Part, float] = {
            "launches": self.launch_s.mid,
            "downloads": self.download_s.mid,
            "applying": self.apply_s.mid,
        }
        sign = 1 if self.total_s.mid >= 0 else -1
        return max(parts, key=lambda part: sign * parts[part])


def month_of(
    saving: Saving,
    habits: Habits,
    refresh: Refresh,
    image_added: Interval,
    link_mbit_per_s: float,
) -> Month:
    """Return the month of a user whose launches save that.

    The seconds are ``launches · saved``, ``- refreshes · added · 8 / (Mbit/s · 10⁶)``
    and ``refreshes · (applied with xz - applied with lzo)``.

    :param image_added: what lzo adds to the image.
    """
    added = refresh.added(image_added)
    fewer = added.map(lambda size: 0.0 - size * habits.refreshes)
    faster = refresh.apply_saved_s(saving)
    return Month(
        saving=saving,
        habits=habits,
        refresh=refresh,
        link_mbit_per_s=link_mbit_per_s,
        launch_s=saving.seconds.map(lambda seconds: seconds * habits.launches),
        download_bytes=fewer,
        download_s=fewer.map(lambda size: download_seconds(size, link_mbit_per_s)),
        apply_s=faster.map(lambda seconds: seconds * habits.refreshes),
    )
