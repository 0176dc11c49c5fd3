"""Whether two builds are ones of which a device refreshes from the first to the second.

Builds of different snaps are refused. What else is odd about two builds, a reader
should know: they may have been swapped, or be for different devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from ..core.errors import BadDataError
from ..core.files import first_difference
from ..core.units import MIB
from ..payload.source import Payload, SnapPayload, check_packed_size

LARGEST_BYTES = 64 * 1024 * MIB
"""What deltas are made of, holes included: xdelta3 takes ten minutes for so much."""


def check_names(old: Payload, new: Payload) -> None:
    """Refuse two builds of different snaps.

    :raises BadDataError: if their names differ.
    """
    if old.snap.name == new.snap.name:
        return
    message = (
        f"The builds are of different snaps: {str(old.path)!r} is "
        f"{old.snap.name!r}, {str(new.path)!r} is {new.snap.name!r}"
    )
    raise BadDataError(
        message, resolution="A refresh replaces a snap by one of the same name."
    )


def check_size(build: Payload) -> None:
    """Refuse a build whose files are too large to make a delta of.

    :raises BadDataError: if they come to more than :data:`LARGEST_BYTES`.
    """
    check_packed_size(build)
    total_bytes = build.inventory.raw_bytes
    if total_bytes > LARGEST_BYTES:
        message = f"The files of {str(build.path)!r} add up to {total_bytes:,} bytes"
        raise BadDataError(
            message,
            details=f"Deltas are made of up to {LARGEST_BYTES:,} bytes",
            resolution="Look for a sparse file that is much larger than intended.",
        )


def same_image(old: Payload, new: Payload) -> bool:
    """Return whether both builds are one image, byte for byte, or one directory."""
    if old.path.resolve() == new.path.resolve():
        return True
    if not (isinstance(old, SnapPayload) and isinstance(new, SnapPayload)):
        return False
    if old.path.stat().st_size != new.path.stat().st_size:
        return False
    return first_difference(old.path, new.path) is None


def oddities(old: Payload, new: Payload, *, changed: bool) -> Iterator[str]:
    """Yield what a reader should know of two builds, each without its full stop.

    :param changed: whether the contents of any file differ.
    """
    if same_image(old, new):
        yield (
            "Both builds are the same revision, byte for byte: a device that has it "
            "downloads nothing. The figures are for a refresh from it to itself"
        )
        return
    yield from _older(old, new)
    one, other = set(old.snap.architectures), set(new.snap.architectures)
    if one and other and "all" not in one | other and not one & other:
        yield (
            f"The old build is for {', '.join(sorted(one))}, the new one for "
            f"{', '.join(sorted(other))}: no device refreshes from one to the other"
        )
    if old.packed_with and new.packed_with and old.packed_with != new.packed_with:
        yield (
            f"The old build is packed with {old.packed_with}, the new one with "
            f"{new.packed_with}. The figures are for two builds of the same codec. "
            "At this one refresh, a plain delta holds nearly the whole image; a "
            "snap-aware delta is as large as between two builds of the same codec"
        )
    if not changed:
        yield "The contents of all files are the same in both builds"


def _older(old: Payload, new: Payload) -> Iterator[str]:
    """Yield why the new build seems to be the older one, if it does."""
    if not (isinstance(old, SnapPayload) and isinstance(new, SnapPayload)):
        return
    packed_s = [each.image.superblock.modified_s for each in (old, new)]
    if 0 < packed_s[1] < packed_s[0]:
        yield (
            f"The new build was packed before the old one ({_time(packed_s[1])} and "
            f"{_time(packed_s[0])}). Check their order: the old build comes first"
        )


def _time(seconds: int) -> str:
    time = datetime.fromtimestamp(seconds, tz=timezone.utc)
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
