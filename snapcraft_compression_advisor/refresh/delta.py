"""Deltas that snapd downloads in place of an image, and which one a device takes.

The formats, their options and what they refuse are those of ``snap/squashfs/delta.go``
of snapd (commit bee548f). snapd tells the store the formats that it can apply, and
takes the first of them for which the store has a delta; it doesn't compare sizes
(``SupportedDeltaFormats``; ``selectDelta`` and ``Download`` in
``store/store_download.go``). The store discards a delta that is too close in size to
the whole image, and doesn't say how close (https://snapcraft.io/docs/snap-deltas).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..core.units import Interval

DeltaFormat = Literal["xdelta3", "snap-1-1-xdelta3"]

PLAIN: DeltaFormat = "xdelta3"
"""Between the two images as they stand: ``xdelta3 -3``."""

SNAP_AWARE: DeltaFormat = "snap-1-1-xdelta3"
"""Between the two images' unpacked contents, as ``unsquashfs -pf`` writes them:
``xdelta3 -7``. The device packs the result again, with the codec of the new image. It
asks for one if its snapd is 2.75 or later, with the experimental feature
``snap-delta-format`` set (``features/features.go``), else for a plain one."""

DELTA_FORMATS: tuple[DeltaFormat, ...] = (SNAP_AWARE, PLAIN)
"""As snapd prefers them (``SupportedDeltaFormats``)."""

ChoiceReason = Literal["preferred", "refused", "larger", "perhaps-larger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaSize:
    """How large a delta is.

    :param size_bytes: known if xdelta3 made the delta, else an estimate.
    :param files: what each file of the new build adds to it, estimated, by path; files
        that add nothing aren't listed.
    """

    size_bytes: Interval
    files: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a device downloads.

    :param wanted: the format that the device asks for first.
    :param download: a delta, or None for the whole image.
    :param reason: ``preferred``: snapd asks for it first; ``refused``: snapd makes no
        snap-aware delta of this image, so it's a plain one; ``larger``: the delta isn't
        smaller than the image, so the store discards it; ``perhaps-larger``: it may be
        as large, at the end of its interval.
    """

    wanted: DeltaFormat
    download: DeltaFormat | None
    size_bytes: Interval
    reason: ChoiceReason


def choices(
    full_bytes: Interval, deltas: Mapping[DeltaFormat, DeltaSize]
) -> Iterator[Choice]:
    """Yield what a device downloads that asks for a plain delta, or a snap-aware one.

    :param full_bytes: size of the whole image.
    :param deltas: those that can be made.
    """
    for wanted in (PLAIN, SNAP_AWARE):
        download = wanted if wanted in deltas else PLAIN
        size = deltas[download].size_bytes
        reason: ChoiceReason = "preferred" if download == wanted else "refused"
        if size.mid >= full_bytes.mid:
            yield Choice(wanted, None, full_bytes, "larger")
            continue
        if size.high >= full_bytes.low and reason == "preferred":
            reason = "perhaps-larger"
        yield Choice(wanted, download, size, reason)
