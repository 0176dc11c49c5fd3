"""The reasons of a recommendation: codes and figures, which :mod:`..wording` words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from ..core.units import Interval
from .evidence import ColdStart, Policy, Saving
from .month import Month

Compression = Literal["xz", "lzo"]
Verdict = Literal["change", "keep", "no-benefit", "undecided"]

Condition = Literal["saving", "paying", "growth"]
"""A condition of the policy: that launches gain enough, that the download pays for
itself (or the user gains time in a month), that the image doesn't grow too much."""


class Code(Enum):
    """A reason without figures."""

    LZO_PAYS = "lzo-pays"
    NO_LAUNCH = "no-launch"
    NO_APP = "no-app"
    READER_UNKNOWN = "reader-unknown"
    NO_CODEC_IN_BUDGET = "no-codec-in-budget"
    BUDGET_OR_SIZE = "budget-or-size"

    # What goes on with the reason before:
    LIKELY = "likely"
    FOREIGN_CODEC = "foreign-codec"
    XZ_IS_SMALLER = "xz-is-smaller"
    SAME_SIZE = "same-size"
    SIZE_IN_DOUBT = "size-in-doubt"
    GROWTH_IN_DOUBT = "growth-in-doubt"


@dataclass(frozen=True, slots=True)
class Fails:
    """A condition of the policy surely doesn't hold.

    :param within_margin: whether it may hold, but by no more than anybody notices.
    """

    condition: Condition
    policy: Policy
    within_margin: bool = False


@dataclass(frozen=True, slots=True)
class InDoubt:
    """The estimate is too wide to tell whether conditions of the policy hold."""

    conditions: tuple[Condition, ...]
    policy: Policy


@dataclass(frozen=True, slots=True)
class Lacking:
    """What would be judged isn't there.

    :param what: codecs that mksquashfs can't pack with, or apps whose program or whose
        files the payload doesn't hold.
    """

    what: Literal["codec", "program", "files"]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """What budgets of cold starts say.

    :param effect: ``keeps``: the codec alone keeps them; ``in-doubt``: the codec breaks
        one, and the other codec may; ``breaks``, ``may-break``: savings and size speak
        for the codec, but not the budgets.
    """

    effect: Literal["keeps", "in-doubt", "breaks", "may-break"]
    codec: Compression


@dataclass(frozen=True, slots=True)
class Growth:
    """What lzo adds to the image over xz."""

    added: Interval
    xz_bytes: Interval


@dataclass(frozen=True, slots=True)
class PaidAfter:
    """Cold launches that make up for the larger download, on a link of that speed."""

    launches: float
    link_mbit_per_s: float

    @property
    def whole_launches(self) -> int:
        """Launches after which it is paid: if it takes 4.2, after 5."""
        return max(1, math.ceil(round(self.launches, 1)))


Decider = Literal["only-device", "least-saving", "not-worth-there", "average", "budget"]
"""Why the verdict is that of one device: no other was chosen, lzo saves least there, or
lzo saves less elsewhere, but only there it isn't worth its size, or not certainly. Or
the average over the users' devices decides, or a budget of cold starts, not what lzo
saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceVerdict:
    """The verdict were there no other device.

    :param compression: the recommended codec.
    :param saving: the least of the deciding apps there.
    """

    device: str
    verdict: Verdict
    compression: Compression
    saving: Saving


@dataclass(frozen=True, slots=True, kw_only=True)
class Decides:
    """Which of several devices decides, and what each gives by itself.

    :param saving: that decides; for the figures where a budget does.
    :param by_device: in the order in which they were chosen.
    """

    saving: Saving
    why: Decider
    by_device: tuple[DeviceVerdict, ...]


Reason = (
    Code
    | Fails
    | InDoubt
    | Lacking
    | Budget
    | Growth
    | PaidAfter
    | Month
    | Saving
    | ColdStart
    | Decides
)
