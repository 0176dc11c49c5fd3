"""Durations and sizes as people write them in a policy: ``1.5s``, ``300MB``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.units import KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS_BY_UNIT: Mapping[str, float] = {"ms": 0.001, "s": 1, "min": 60}
BYTES_BY_UNIT: Mapping[str, float] = {
    "B": 1,
    "kB": 1_000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": KIB * MIB,
}

_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,9})?)"


def quantity_pattern(units: Mapping[str, float]) -> str:
    """Return the regular expression of a number with one of these units."""
    return rf"^{_NUMBER} ?({'|'.join(units)})$"


def share_pattern() -> str:
    """Return the regular expression of a share in percent."""
    return rf"^{_NUMBER} ?%$"


def parse_share(text: object) -> float | None:
    """Return a share of one, from a text such as ``20%``; ``None`` of another text.

    :raises ValueError: where it is nought.
    """
    found = re.match(share_pattern(), text) if isinstance(text, str) else None
    if found is None:
        return None
    if float(found[1]) == 0:
        message = f"{text!r} is nought, which nothing can meet"
        raise ValueError(message)
    return float(found[1]) / 100


def parse_seconds(text: object) -> float:
    """Return a duration in seconds.

    :param text: such as ``1.5s``, ``800 ms`` or ``2min``.
    :raises ValueError: where it isn't one, or is nought.
    """
    return _parse(text, SECONDS_BY_UNIT, example="1.5s")


def parse_bytes(text: object) -> float:
    """Return a size in bytes.

    :param text: such as ``300MB`` (decimal) or ``286 MiB``.
    :raises ValueError: where it isn't one, or is nought.
    """
    return _parse(text, BYTES_BY_UNIT, example="300MB")


def _parse(text: object, units: Mapping[str, float], *, example: str) -> float:
    known = ", ".join(units)
    if isinstance(text, int | float) and not isinstance(text, bool):
        message = f"{text} has no unit: write it like {example} (units: {known})"
        raise ValueError(message)  # noqa: TRY004 # pydantic takes only ValueError
    found = None
    if isinstance(text, str):
        found = re.fullmatch(quantity_pattern(units).strip("^$"), text)
    if found is None:
        message = f"{text!r} isn't a number with a unit, like {example} ({known})"
        raise ValueError(message)
    value = float(found[1]) * units[found[2]]
    if value == 0:
        message = f"{text!r} is nought, which nothing can meet"
        raise ValueError(message)
    return value
