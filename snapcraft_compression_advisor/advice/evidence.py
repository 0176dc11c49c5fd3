"""What a recommendation is made from: the policy and the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from ..core.units import Interval

if TYPE_CHECKING:
    from ..launch.model import Narrowing

LIKELY = NormalDist().inv_cdf(0.9) / NormalDist().inv_cdf(0.95)
"""How far from the middle, of an interval's half, a verdict counts cases: it has to
hold in nine of ten. An interval holds nine of ten too, but to both sides, so each end
leaves out one of twenty (log-normal distribution)."""

AVERAGE = "average"
"""What a saving on no single device has in place of its name."""

_BITS_PER_BYTE = 8
_BITS_PER_MBIT = 1_000_000


Deltas = Literal["none", "xdelta3", "snap-1-1-xdelta3"]
"""What a refresh downloads: the whole image, or a delta in one of snapd's formats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What a user does in a month.

    :param refreshes: that the snap gets.
    :param launches: cold ones.
    :param deltas: what a refresh downloads.
    :param delta_share: size of a typical delta, as a share of the image with xz;
        None if it is estimated from a previous build.
    :param assumed: whether nothing is known of the users.
    """

    refreshes: float
    launches: float
    deltas: Deltas = "none"
    delta_share: float | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloads:
    """What a refresh downloads.

    :param by_codec: bytes.
    :param bytes_added: by lzo.
    """

    by_codec: Mapping[str, Interval]
    bytes_added: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When lzo is worth its bytes.

    :param min_saving_s: seconds that a cold launch has to become faster. A quarter of
        a second is what people notice without comparing; below it, the size decides.
    :param max_launches: cold launches within which the larger download has to have
        paid for itself. A snap is refreshed about once a month, and started cold
        about once a day of work: 20.
    :param link_mbit_per_s: speed of the download, megabits a second. 50 is an
        ordinary household's.
    :param deciding_apps: whether the first target app decides, or every one has
        to gain.
    :param negligible_growth: share of the image's size below which a difference of
        size is none; keeps a snap as it is if both codecs do the same.
    :param min_saving_share: in place of ``min_saving_s``, the share that a cold launch
        has to lose of what reading and decompressing add to it with xz.
    :param max_growth_bytes: what lzo may add to the image at most.
    :param max_growth_share: the same as a share of the image with xz.
    :param device_shares: of the users, by device, adding up to 1: lzo has to be worth
        its size on average over them. If none are given, on each device.
    :param cold_start_limits_s: by device what a cold start may take, for all apps or
        by app.
    :param habits: what a user does in a month; then the month counts in place of
        ``max_launches``.
    """

    min_saving_s: float = 0.25
    max_launches: float = 20.0
    link_mbit_per_s: float = 50.0
    deciding_apps: Literal["first", "every"] = "first"
    negligible_growth: float = 0.01
    min_saving_share: float | None = None
    max_growth_bytes: float | None = None
    max_growth_share: float | None = None
    device_shares: Mapping[str, float] = field(default_factory=dict)
    cold_start_limits_s: Mapping[str, float | Mapping[str, float]] = field(
        default_factory=dict
    )
    habits: Habits | None = None

    def cold_start_limit_s(self, app: str, device: str) -> float | None:
        """Return the budget of a cold start in seconds; None without one."""
        limit_s = self.cold_start_limits_s.get(device)
        return limit_s.get(app) if isinstance(limit_s, Mapping) else limit_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What lzo saves over xz in a cold launch.

    :param app: whose launch.
    :param device: the device profile's name; :data:`AVERAGE` for that over several.
    :param shares: of the users, by device, if it's the average over these.
    :param seconds: may be negative.
    :param xz_added_s: what the launch takes longer than a warm one with xz; ``None``
        if only the difference is known.
    :param narrowing: of the interval; None if that isn't known.
    """

    app: str
    device: str
    seconds: Interval
    xz_added_s: Interval | None = None
    narrowing: Narrowing | None = None
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> Interval | None:
        """What is saved of ``xz_added_s``; ``None`` if that isn't known."""
        whole = self.xz_added_s
        if whole is None or whole.low <= 0:
            return None
        return Interval.around(
            self.seconds.low / whole.low,
            self.seconds.mid / whole.mid,
            self.seconds.high / whole.high,
        )

    @property
    def likely(self) -> Saving:
        """The saving with ends that nine of ten cases are above, or below."""
        whole = self.xz_added_s
        return replace(
            self,
            seconds=_likely(self.seconds),
            xz_added_s=None if whole is None else _likely(whole),
        )


def _likely(figure: Interval) -> Interval:
    """Return the interval of :attr:`Saving.likely`; one that isn't positive stays."""
    if figure.mid <= 0:
        return figure
    low, high = (
        figure.mid * (end / figure.mid) ** LIKELY if end > 0 else end
        for end in (figure.low, figure.high)
    )
    return replace(figure, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStart:
    """A cold start that has a budget.

    :param device: the device profile's name.
    :param limit_s: the budget.
    :param seconds: by codec what it takes, or if the app's own time isn't known,
        what reading and decompressing add to that.
    :param own_time_known: whether it is: only a recorded launch tells.
    """

    app: str
    device: str
    limit_s: float
    seconds: Mapping[str, Interval]
    own_time_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the recommendation is made from.

    :param declared: ``compression`` of snapcraft.yaml or the codec of the snap;
        ``None`` if it isn't known.
    :param xz_bytes: size of the image with xz, ``None`` if it isn't available.
    :param lzo_bytes: size with lzo, None if it isn't available.
    :param bytes_added: what lzo adds to the image over xz; ``None`` if either isn't
        available.
    :param savings: of each target app on each device, the deciding app first.
    :param averages: of each target app over the users' devices; if there are any,
        they decide in place of the savings on each device.
    :param nothing_found: apps of whose launch no file was found.
    :param without_program: apps whose program the payload doesn't hold.
    :param cold_starts: those that have a budget.
    :param launched: whether launches read it at all; those of a snap don't read its
        components, as far as files tell.
    :param reader_known: whether it is known what reads it. Of a component, ``savings``
        are those of a program that reads all of it, and nothing shows whether any does.
    :param downloads: of a refresh; None if nothing is known of refreshes.
    """

    declared: str | None = None
    xz_bytes: Interval | None = None
    lzo_bytes: Interval | None = None
    bytes_added: Interval | None = None
    savings: Sequence[Saving] = ()
    averages: Sequence[Saving] = ()
    nothing_found: Sequence[str] = ()
    without_program: Sequence[str] = ()
    cold_starts: Sequence[ColdStart] = ()
    launched: bool = True
    reader_known: bool = True
    downloads: Downloads | None = None


def download_seconds(bytes_added: float, link_mbit_per_s: float) -> float:
    """Return the seconds to download more bytes: ``bytes · 8 / (Mbit/s · 10⁶)``.

    The link is taken as fully used, so this is the least that the bytes can cost.

    :param bytes_added: bytes that the image grew by; negative if it shrank.
    :param link_mbit_per_s: speed of the link in decimal megabits per second.
    :returns: seconds; negative if the image shrank.
    """
    return bytes_added * _BITS_PER_BYTE / (link_mbit_per_s * _BITS_PER_MBIT)


def break_even_launches(
    bytes_added: float, seconds_saved: float, link_mbit_per_s: float
) -> float | None:
    """Return after how many launches the larger download has paid for itself.

    :param bytes_added: bytes that the image grew by; negative if it shrank.
    :param seconds_saved: seconds that each cold launch became shorter by.
    :param link_mbit_per_s: speed of the link in decimal megabits per second.
    :returns: launches, unrounded; 0 if no bytes are added; ``None`` if a
        launch saves nothing, so that no number of them pays.
    """
    if seconds_saved <= 0:
        return None
    return max(0.0, download_seconds(bytes_added, link_mbit_per_s)) / seconds_saved
