"""Deltas that snapd downloads in place of a whole image, and their sizes.

The formats, their options and what they refuse are those of ``snap/squashfs/delta.go``
of snapd (commit bee548f).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from ..core.frozen import frozen
from ..core.units import Interval
from ..payload.search_work import SearchWork

DeltaFormat = Literal["xdelta3", "snap-1-1-xdelta3"]

PLAIN: DeltaFormat = "xdelta3"
"""Between the two images as they stand: ``xdelta3 -3``."""

SNAP_AWARE: DeltaFormat = "snap-1-1-xdelta3"
"""Between the two images' unpacked contents, as ``unsquashfs -pf`` writes them:
``xdelta3 -7``. The device packs the result again, with the codec of the new image."""

DELTA_FORMATS: tuple[DeltaFormat, ...] = (SNAP_AWARE, PLAIN)
"""As snapd prefers them (``SupportedDeltaFormats``)."""


@frozen
class DeltaSize:
    """How large a delta is.

    :param size_bytes: known where xdelta3 ran, else an estimate.
    :param files: what each file of the new build adds to it, estimated, by path; files
        that add nothing aren't listed.
    :param coded_share: what of it LZMA has to decode; ``None`` where that isn't known.
    """

    size_bytes: Interval
    files: Mapping[str, float] = field(default_factory=dict)
    coded_share: float | None = None


@frozen
class RefreshSizes:
    """The sizes that decide what it takes to apply a delta, in bytes.

    :param old_image_bytes: of the image on the device.
    :param new_image_bytes: of the image that the delta makes of it.
    :param old_raw_bytes: of the old image's files, unpacked.
    :param new_raw_bytes: of the new image's files, unpacked.
    :param delta_bytes: of the delta.
    :param coded_share: what of the delta LZMA has to decode; ``None`` where that isn't
        known.
    :param search: what packing the new image takes; ``None`` where that isn't known.
    """

    old_image_bytes: int
    new_image_bytes: int
    old_raw_bytes: int
    new_raw_bytes: int
    delta_bytes: Interval
    coded_share: float | None = None
    search: SearchWork | None = None
