"""What to analyse where the user named nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snapcraft_compression_advisor.errors import NoInputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def find_payload(directory: Path) -> Path:
    """Return ``prime`` in a directory, else the one ``.snap`` in it.

    :raises NoInputError: where there is neither.
    :raises UsageError: where there are several snaps.
    """
    prime = directory / "prime"
    if prime.is_dir():
        return prime
    snaps = sorted(directory.glob("*.snap"))
    if len(snaps) == 1:
        return snaps[0]
    if snaps:
        names = ", ".join(snap.name for snap in snaps)
        message = f"Several snaps in {str(directory)!r}: {names}"
        raise UsageError(message, resolution="Name the one to analyse.")
    message = f"Nothing to analyse: neither 'prime' nor a .snap in {str(directory)!r}"
    raise NoInputError(message, resolution="Name a prime directory or a built .snap.")
