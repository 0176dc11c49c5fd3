"""Which of the possible downloads a device takes at a refresh.

snapd tells the store the formats that it can apply, and takes the first of them for
which the store has a delta; it doesn't compare sizes (``SupportedDeltaFormats`` in
``snap/squashfs/delta.go``, ``selectDelta`` and ``Download`` in
``store/store_download.go``, commit bee548f). The store discards a delta that is too
close in size to the whole image, and doesn't say how close
(https://snapcraft.io/docs/snap-deltas).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from ..core.frozen import frozen
from .delta import PLAIN, SNAP_AWARE, DeltaFormat, DeltaSize

if TYPE_CHECKING:
    from ..core.units import Interval

Condition = Literal["default", "snap-delta-format"]
"""``default``: snapd as it is installed; ``snap-delta-format``: snapd 2.75 or later
where the experimental feature of that name is set (``features/features.go``)."""

ChoiceReason = Literal["preferred", "refused", "larger", "perhaps-larger"]


@frozen
class Choice:
    """What a device downloads.

    :param condition: what the device has set.
    :param download: a delta, or ``None`` for the whole image.
    :param size_bytes: of that.
    :param reason: ``preferred``: snapd asks for it first; ``refused``: snapd makes no
        snap-aware delta of this image, so it's a plain one; ``larger``: the delta isn't
        smaller than the image, so the store discards it; ``perhaps-larger``: likewise,
        if the delta is as large as the end of its interval.
    """

    condition: Condition
    download: DeltaFormat | None
    size_bytes: Interval
    reason: ChoiceReason


def choices(
    full_bytes: Interval, deltas: Mapping[DeltaFormat, DeltaSize]
) -> Iterator[Choice]:
    """Yield what a device downloads under each condition.

    :param full_bytes: of the whole image.
    :param deltas: that can be made.
    """
    yield _choice("default", PLAIN, full_bytes, deltas, "preferred")
    if SNAP_AWARE in deltas:
        yield _choice("snap-delta-format", SNAP_AWARE, full_bytes, deltas, "preferred")
    else:
        yield _choice("snap-delta-format", PLAIN, full_bytes, deltas, "refused")


def _choice(
    condition: Condition,
    name: DeltaFormat,
    full_bytes: Interval,
    deltas: Mapping[DeltaFormat, DeltaSize],
    reason: ChoiceReason,
) -> Choice:
    size = deltas[name].size_bytes
    download: DeltaFormat | None = name
    if size.mid >= full_bytes.mid:
        size, download, reason = full_bytes, None, "larger"
    elif size.high >= full_bytes.low and reason == "preferred":
        reason = "perhaps-larger"
    return Choice(
        condition=condition, download=download, size_bytes=size, reason=reason
    )
