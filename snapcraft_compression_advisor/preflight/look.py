"""All that a built snap's preflight rests on, gathered at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.payload.source import SnapPayload
from snapcraft_compression_advisor.preflight.packing import Packing, inspect_packing

if TYPE_CHECKING:
    from snapcraft_compression_advisor.payload.source import Payload
    from snapcraft_compression_advisor.preflight.resquash import Resquash
    from snapcraft_compression_advisor.trial.result import Progress


def look_at_packing(payload: Payload) -> Packing | None:
    """Return how a built snap was packed; ``None`` for a prime directory.

    :raises BadDataError: where the image is broken.
    """
    if not isinstance(payload, SnapPayload):
        return None
    return inspect_packing(payload.image, payload.entries)


def pack_again(payload: Payload, *, progress: Progress) -> Resquash | None:
    """Return what a repack of a built snap comes to; ``None`` for a prime directory.

    :raises AdvisorError: see :func:`resquash`.
    """
    if not isinstance(payload, SnapPayload):
        progress(f"{payload.path.name} isn't packed: there is nothing to pack again")
        return None
    # Only here: few runs pack anything.
    from snapcraft_compression_advisor.preflight.resquash import resquash

    again = resquash(
        payload.path, payload.image, snap_type=payload.snap.type, progress=progress
    )
    same = "the same, byte for byte" if again.equal else "not the same"
    progress(f"Packed again with {again.tool}, {payload.path.name} is {same}")
    return again
