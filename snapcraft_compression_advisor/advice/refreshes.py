"""What refreshes bring to a user's device, and what each costs there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ..core.frozen import frozen
from ..core.units import Interval

if TYPE_CHECKING:
    from .evidence import Saving

Deltas = Literal["none", "xdelta3", "snap-1-1-xdelta3"]
"""What a refresh downloads: the whole image, or a delta in one of snapd's formats."""

DAYS = 365.25 / 12
"""Of an average month."""


@frozen
class Habits:
    """What a user does in a month.

    :param refreshes: that the snap gets.
    :param launches: cold ones.
    :param deltas: what a refresh downloads.
    :param delta_share: size of a typical delta, as a share of the image with xz;
        ``None`` where it is estimated from a previous build.
    """

    refreshes: float
    launches: float
    deltas: Deltas = "none"
    delta_share: float | None = None


ASSUMED = Habits(refreshes=1.0, launches=20.0, deltas="xdelta3")
"""Where a project says nothing: as many cold launches as pay for lzo by default
(:class:`~.evidence.Policy`) between two refreshes, and the delta that snapd asks for by
default."""


@frozen
class Refresh:
    """What a refresh costs, by codec.

    :param download_bytes: by codec.
    :param bytes_added: what lzo adds to a download; ``None`` where that is what it adds
        to the image.
    :param apply_s: by device and codec, the seconds to apply the delta; those of xz and
        of lzo on a device have their ends in common.
    """

    download_bytes: Mapping[str, Interval]
    bytes_added: Interval | None = None
    apply_s: Mapping[str, Mapping[str, Interval]]

    def added(self, image_added: Interval) -> Interval:
        """Return what lzo adds to a download.

        :param image_added: what it adds to the image.
        """
        return image_added if self.bytes_added is None else self.bytes_added

    def apply_saved_s(self, saving: Saving) -> Interval:
        """Return what lzo saves in applying a delta, where a saving is made.

        A device that is slow with one codec is slow with the other, so the ends belong
        together.
        """
        shares = saving.shares or {saving.device: 1.0}
        ends = {"low": 0.0, "mid": 0.0, "high": 0.0}
        for device, share in shares.items():
            xz, lzo = (self.apply_s[device][codec] for codec in ("xz", "lzo"))
            for end in ends:
                ends[end] += share * (getattr(xz, end) - getattr(lzo, end))
        return Interval.around(*ends.values())
