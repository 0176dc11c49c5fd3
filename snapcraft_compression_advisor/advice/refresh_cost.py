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
) -> Refresh:
    """Return what a refresh costs whose delta is of a typical size.

    A plain delta holds the data blocks that changed, as the image does: the same share
    of both. One of contents doesn't depend on the codec of the images.

    :param images: sizes with xz and with lzo.
    :param raw_bytes: contents of the image.
    """
    share = habits.delta_share
    download = {codec: _download(habits, images, codec) for codec in images}
    if habits.deltas == "none" or share is None:
        nothing = dict.fromkeys(images, Interval.exactly(0.0))
        apply_s = {device.name: nothing for device in devices}
        return Refresh(download_bytes=download, apply_s=apply_s)
    plain = habits.deltas == "xdelta3"
    return Refresh(
        download_bytes=download,
        bytes_added=None if plain else Interval.exactly(0.0),
        added_share=_missed(share) if plain else None,
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


def _download(habits: Habits, images: Mapping[str, Interval], codec: str) -> Interval:
    """Return what a refresh downloads."""
    share = habits.delta_share
    if share is None:
        return images[codec]
    if habits.deltas != "xdelta3" or codec == "xz":
        return images["xz"].map(lambda size: size * share)
    return combined(lambda both: both[0] * both[1], (images[codec], _missed(share)))


def _missed(share: float) -> Interval:
    return Interval.around(
        share * (1 - SHARE_MISS), share, min(1.0, share * (1 + SHARE_MISS))
    )
