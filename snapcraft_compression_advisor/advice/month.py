"""A user's month with a snap: launches times seconds, downloads times bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..codecs import SHIPPABLE
from ..core.units import Interval, combined
from .evidence import Downloads, Habits, Saving, download_seconds

if TYPE_CHECKING:
    from ..refresh.refresh import CodecRefresh, Refresh

Part = Literal["launches", "downloads"]

ASSUMED = Habits(refreshes=1.0, launches=20.0, deltas="xdelta3", assumed=True)
"""Of a project that names none: as many cold launches as pay for lzo by default
(:class:`~.evidence.Policy`) between two refreshes, and the delta that snapd asks for by
default."""
LZO_SHARE = Interval(low=0.08, mid=0.40, high=0.92)
"""The share of an image that a plain delta is with lzo, per the share with xz: the
least, the geometric mean and the greatest of 28 pairs of successive versions
(``study/data/refresh-pairs.csv``). lzo writes bytes, xz a stream of bits: a change
shifts all that follows in a block with xz, but little of it with lzo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """What lzo saves over xz in a month; negative if it costs.

    :param saving: whose launches these are, and where.
    :param habits: what the user does.
    :param downloads: what each refresh downloads.
    :param launch_s: seconds that all cold launches become shorter by.
    :param download_bytes: that all refreshes download less.
    :param download_s: seconds that these take.
    """

    saving: Saving
    habits: Habits
    downloads: Downloads
    link_mbit_per_s: float
    launch_s: Interval
    download_bytes: Interval
    download_s: Interval

    @property
    def total_s(self) -> Interval:
        """Saved by launches, less what downloads take; their errors are independent."""
        return combined(sum, (self.launch_s, self.download_s))

    def link_s(self, size_bytes: float) -> float:
        """Return the seconds of a download."""
        return download_seconds(size_bytes, self.link_mbit_per_s)

    @property
    def decided_by(self) -> Part:
        """The part that does most for the side that wins."""
        sign = 1 if self.total_s.mid >= 0 else -1
        launches = sign * self.launch_s.mid >= sign * self.download_s.mid
        return "launches" if launches else "downloads"


def month_of(
    saving: Saving, habits: Habits, downloads: Downloads, link_mbit_per_s: float
) -> Month:
    """Return the month of a user whose launches save that.

    The seconds are ``launches · saved - refreshes · added · 8 / (Mbit/s · 10⁶)``.
    """
    fewer = Interval.exactly(0) - downloads.bytes_added * habits.refreshes
    return Month(
        saving=saving,
        habits=habits,
        downloads=downloads,
        link_mbit_per_s=link_mbit_per_s,
        launch_s=saving.seconds * habits.launches,
        download_bytes=fewer,
        download_s=fewer.map(lambda size: download_seconds(size, link_mbit_per_s)),
    )


def usual_downloads(
    habits: Habits,
    images: Mapping[str, Interval],
    image_added: Interval,
    deltas: Mapping[str, Interval] | None = None,
) -> Downloads:
    """Return the bytes that a refresh downloads.

    A snap-aware delta doesn't depend on the codec of the images. A plain one is a
    smaller share of an lzo image than of an xz image.

    :param images: their sizes with xz and with lzo, in bytes.
    :param image_added: what lzo adds to the image.
    :param deltas: of the refresh from a previous build, by codec.
    """
    if habits.deltas == "none":
        return Downloads(by_codec=images, bytes_added=image_added)
    found = deltas or {codec: _typical(habits, images, codec) for codec in images}
    # What is off with one codec is with both.
    return Downloads(by_codec=found, bytes_added=found["lzo"] - found["xz"])


def _typical(habits: Habits, images: Mapping[str, Interval], codec: str) -> Interval:
    """Return the size of a typical delta."""
    share = habits.delta_share or 1.0
    if habits.deltas != "xdelta3" or codec == "xz":
        return images["xz"] * share
    shares = LZO_SHARE * share
    return combined(lambda both: both[0] * both[1], (images["lzo"], shares))


def month_by_refresh(
    refresh: Refresh,
    saving: Saving | None,
    image_added: Interval | None,
    habits: Habits | None,
    link_mbit_per_s: float,
) -> Month | None:
    """Return a month of launches and of refreshes like the one between two builds.

    :param saving: that decided the advice for the new build, if there is one.
    :param image_added: what lzo adds to the new image; None if it isn't known.
    :param habits: what a user does; None if that isn't known.
    :returns: None if no launch is known.
    """
    if saving is None:
        return None
    codecs = [refresh.codecs[name] for name in SHIPPABLE]
    used = habits or ASSUMED
    xz, lzo = (_downloaded(codec, used) for codec in codecs)
    added = _added(xz, lzo)
    if not added.known and [xz, lzo] == [codec.full_bytes for codec in codecs]:
        added = image_added or added  # which the same blocks tell more exactly
    downloads = Downloads(by_codec={"xz": xz, "lzo": lzo}, bytes_added=added)
    return month_of(saving, used, downloads, link_mbit_per_s)


def _downloaded(codec: CodecRefresh, habits: Habits) -> Interval:
    """Return the bytes that a refresh downloads."""
    if habits.deltas == "none":
        return codec.full_bytes
    return next(e.size_bytes for e in codec.choices if e.wanted == habits.deltas)


def _added(xz: Interval, lzo: Interval) -> Interval:
    """Return the bytes that lzo adds; the two estimates are independent."""
    if xz == lzo:  # one snap-aware delta for both
        return Interval.exactly(0.0)
    return combined(lambda both: both[1] - both[0], (xz, lzo))
