"""What each refresh costs with xz and with lzo: its download, and applying it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..core.units import Interval
from ..devices.apply import ApplySizes, apply_seconds
from ..launch.model import combined
from .refreshes import Habits, Refresh

if TYPE_CHECKING:
    from ..devices.device import DeviceProfile

SHARE_MISS = 0.3
"""How much larger or smaller the share of a plain delta may be with lzo than with xz:
an assumption. The same data blocks change with both, but not all compress alike."""


def refresh_cost(
    habits: Habits,
    images: Mapping[str, Interval],
    raw_bytes: int,
    devices: Iterable[DeviceProfile],
    *,
    deltas: Mapping[str, Interval] | None = None,
) -> Refresh:
    """Return what a refresh costs.

    A plain delta of a typical size holds the data blocks that changed, as the image
    does: the same share of both. One of contents doesn't depend on the images' codec.

    :param images: sizes with xz and with lzo.
    :param raw_bytes: contents of the image.
    :param deltas: of the refresh from a previous build, by codec.
    """
    if habits.deltas == "none":
        nothing = dict.fromkeys(images, Interval.exactly(0.0))
        return Refresh(
            download_bytes=images, apply_s={device.name: nothing for device in devices}
        )
    download = deltas or {codec: _typical(habits, images, codec) for codec in images}
    plain = habits.deltas == "xdelta3"
    return Refresh(
        download_bytes=download,
        bytes_added=_added(download) if deltas or not plain else None,
        added_share=_missed(habits.delta_share) if plain and not deltas else None,
        apply_s={
            device.name: {
                codec: apply_seconds(
                    ApplySizes(
                        old_image=image.mid,
                        new_image=image.mid,
                        old_raw=raw_bytes,
                        new_raw=raw_bytes,
                        delta=download[codec].mid,
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
    """Return what lzo adds to a delta: what an estimate misses, it misses with both."""
    xz, lzo = download["xz"], download["lzo"]
    return Interval.around(lzo.low - xz.low, lzo.mid - xz.mid, lzo.high - xz.high)


def _typical(habits: Habits, images: Mapping[str, Interval], codec: str) -> Interval:
    """Return the size of a typical delta."""
    share = habits.delta_share or 1.0
    if habits.deltas != "xdelta3" or codec == "xz":
        return images["xz"].map(lambda size: size * share)
    return combined(lambda both: both[0] * both[1], (images[codec], _missed(share)))


def _missed(share: float | None) -> Interval:
    usual = share or 1.0
    return Interval.around(
        usual * (1 - SHARE_MISS), usual, min(1.0, usual * (1 + SHARE_MISS))
    )
