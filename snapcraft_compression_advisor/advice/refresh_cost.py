"""What each refresh costs with xz and with lzo: its download, and applying it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..core.frozen import frozen
from ..core.units import Interval
from ..devices.apply import ApplySizes, apply_seconds
from ..launch.model import combined
from .refreshes import Habits, Refresh

if TYPE_CHECKING:
    from ..devices.device import DeviceProfile
    from ..payload.search_work import SearchWork

LZO_SHARE = Interval(low=0.08, mid=0.40, high=0.92)
"""The share of an image that a plain delta is with lzo, per the share with xz: the
least, the geometric mean and the greatest of 28 pairs of successive versions
(``study/data/refresh-pairs.csv``). lzo writes bytes, xz a stream of bits: a change
shifts all that follows in a block with xz, but little of it with lzo."""


@frozen
class BuildSizes:
    """What a refresh brings.

    :param images: their sizes with xz and with lzo, in bytes.
    :param raw_bytes: contents of the image.
    :param search: what packing these takes, where a device packs them again.
    """

    images: Mapping[str, Interval]
    raw_bytes: int
    search: SearchWork | None = None


def refresh_cost(
    habits: Habits,
    sizes: BuildSizes,
    devices: Iterable[DeviceProfile],
    *,
    deltas: Mapping[str, Interval] | None = None,
) -> Refresh:
    """Return what a refresh costs.

    A snap-aware delta doesn't depend on the codec of the images. A plain one is a
    smaller share of an lzo image than of an xz image.

    :param deltas: of the refresh from a previous build, by codec.
    """
    images = sizes.images
    if habits.deltas == "none":
        nothing = dict.fromkeys(images, Interval.exactly(0.0))
        return Refresh(
            download_bytes=images, apply_s={device.name: nothing for device in devices}
        )
    download = deltas or {codec: _typical(habits, images, codec) for codec in images}
    plain = habits.deltas == "xdelta3"
    return Refresh(
        download_bytes=download,
        bytes_added=_added(download),
        apply_s={
            device.name: {
                codec: apply_seconds(
                    ApplySizes(
                        old_image=image.mid,
                        new_image=image.mid,
                        old_raw=sizes.raw_bytes,
                        new_raw=sizes.raw_bytes,
                        delta=download[codec].mid,
                        search=sizes.search,
                    ),
                    "xdelta3" if plain else "snap-1-1-xdelta3",
                    codec,
                    device,
                )
                for codec, image in images.items()
            }
            for device in devices
        },
    )


def _added(download: Mapping[str, Interval]) -> Interval:
    """Return what lzo adds to a delta: what is off with one codec is with both."""
    xz, lzo = download["xz"], download["lzo"]
    return Interval.around(lzo.low - xz.low, lzo.mid - xz.mid, lzo.high - xz.high)


def _typical(habits: Habits, images: Mapping[str, Interval], codec: str) -> Interval:
    """Return the size of a typical delta."""
    share = habits.delta_share or 1.0
    if habits.deltas != "xdelta3" or codec == "xz":
        return images["xz"].map(lambda size: size * share)
    shares = LZO_SHARE.map(lambda each: each * share)
    return combined(lambda both: both[0] * both[1], (images["lzo"], shares))
