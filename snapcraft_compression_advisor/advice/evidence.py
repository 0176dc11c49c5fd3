"""What a recommendation is made from: the policy and the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.units import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """When lzo is worth its bytes.

    :param min_saving_s: seconds that a cold launch has to become faster. A quarter of
        a second is what people notice without comparing; below it, the size decides.
    :param max_launches: cold launches within which the larger download has to have
        paid for itself. A snap is refreshed about once a month, and started cold
        about once a day of work: 20.
    :param link_mbit_per_s: speed of the download, megabits a second. 50 is an
        ordinary household's.
    :param deciding_apps: whether the first app alone decides, or every app that
        counts has to gain.
    :param negligible_growth: share of the image's size below which a difference of
        size is none; keeps a snap as it is where both codecs do the same.
    """

    min_saving_s: float = 0.25
    max_launches: float = 20.0
    link_mbit_per_s: float = 50.0
    deciding_apps: Literal["first", "every"] = "first"
    negligible_growth: float = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """What lzo saves over xz in a cold launch.

    :param app: whose launch.
    :param device: the device profile's name.
    :param seconds: may be negative.
    """

    app: str
    device: str
    seconds: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the recommendation is made from.

    :param declared: ``compression`` of snapcraft.yaml or the codec of the snap;
        ``None`` where it isn't known.
    :param xz_bytes: size of the image with xz, ``None`` where it isn't available.
    :param lzo_bytes: likewise with lzo.
    :param bytes_added: what lzo adds to the image over xz; ``None`` where either isn't
        available.
    :param savings: of each app that counts on each device, the deciding app first.
    :param nothing_found: apps of whose launch no file was found.
    """

    declared: str | None
    xz_bytes: Interval | None
    lzo_bytes: Interval | None
    bytes_added: Interval | None
    savings: Sequence[Saving] = ()
    nothing_found: Sequence[str] = ()
