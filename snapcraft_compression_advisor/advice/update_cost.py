"""What a larger image costs its users: the longer download of an update."""

from __future__ import annotations

import math

from snapcraft_compression_advisor.core.errors import UsageError

_BITS_PER_BYTE = 8
_BITS_PER_MBIT = 1_000_000


def download_seconds(bytes_added: float, link_mbit_per_s: float) -> float:
    """Return how much longer the download takes: ``bytes · 8 / (Mbit/s · 10⁶)``.

    The link is taken as fully used, so this is the least that the bytes can cost.

    :param bytes_added: bytes that the image grew by; negative where it shrank.
    :param link_mbit_per_s: speed of the link in decimal megabits per second.
    :returns: seconds; negative where the image shrank.
    :raises UsageError: where the speed isn't a positive number, or a figure isn't
        a number at all.
    """
    _refuse_nonsense(link_mbit_per_s, bytes_added)
    return bytes_added * _BITS_PER_BYTE / (link_mbit_per_s * _BITS_PER_MBIT)


def break_even_launches(
    bytes_added: float, seconds_saved: float, link_mbit_per_s: float
) -> float | None:
    """Return after how many launches the larger download has paid for itself.

    :param bytes_added: bytes that the image grew by; negative where it shrank.
    :param seconds_saved: seconds that each cold launch became shorter by.
    :param link_mbit_per_s: speed of the link in decimal megabits per second.
    :returns: launches, unrounded; 0 where no bytes are added; ``None`` where a
        launch saves nothing, so that no number of them pays.
    :raises UsageError: as :func:`download_seconds` does.
    """
    _refuse_nonsense(link_mbit_per_s, bytes_added, seconds_saved)
    if seconds_saved <= 0:
        return None
    return max(0.0, download_seconds(bytes_added, link_mbit_per_s)) / seconds_saved


def _refuse_nonsense(link_mbit_per_s: float, *figures: float) -> None:
    if not (math.isfinite(link_mbit_per_s) and link_mbit_per_s > 0):
        message = f"A link can't have a speed of {link_mbit_per_s} Mbit/s."
        raise UsageError(message, resolution="Give a positive number, such as 50.")
    if not all(math.isfinite(figure) for figure in figures):
        message = "The bytes added and the seconds saved have to be finite numbers."
        raise UsageError(message)
