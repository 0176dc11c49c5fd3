"""A recommendation and its reasons, which :mod:`..wording` words."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from ..core.units import Interval
from .evidence import Evidence, Policy, Saving
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

    # What goes on with the reason before:
    LIKELY = "likely"
    FOREIGN_CODEC = "foreign-codec"
    XZ_IS_SMALLER = "xz-is-smaller"
    SAME_SIZE = "same-size"
    SIZE_IN_DOUBT = "size-in-doubt"
    GROWTH_IN_DOUBT = "growth-in-doubt"


@dataclass(frozen=True, slots=True)
class Fails:
    """A condition of the policy surely doesn't hold."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class InDoubt:
    """The estimate is too wide to tell whether conditions of the policy hold."""

    conditions: tuple[Condition, ...]


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

    :param effect: ``keeps``: the codec alone keeps them; ``too-large``: so it does, but
        the image may not grow so much; ``neither``: both codecs break one;
        ``in-doubt``: the codec breaks one, and the other codec may; ``breaks``,
        ``may-break``: savings and size speak for the codec, but not the budgets.
    """

    effect: Literal["keeps", "too-large", "neither", "in-doubt", "breaks", "may-break"]
    codec: Compression


Reason = Code | Fails | InDoubt | Lacking | Budget

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

    :param saving: that decides; for the figures if a budget does.
    :param by_device: in the order in which they were chosen.
    """

    saving: Saving
    why: Decider
    by_device: tuple[DeviceVerdict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What to ship.

    :param compression: the recommended codec.
    :param verdict: ``change`` it to that, ``keep`` it, ``no-benefit`` (lzo makes no
        difference worth having) or ``undecided`` (the evidence doesn't tell).
    :param reasons: the most important first.
    :param evidence: that it was made from, by the policy.
    :param decides: which saving decided, and what each device gives by itself.
    :param break_even_launches: cold launches that pay for what lzo adds.
    :param month: of the saving that decided; ``None`` if nothing is known of
        refreshes.
    """

    compression: Compression
    verdict: Verdict
    reasons: tuple[Reason, ...]
    evidence: Evidence = field(default_factory=Evidence)
    policy: Policy = field(default_factory=Policy)
    decides: Decides | None = None
    break_even_launches: float | None = None
    month: Month | None = None

    @property
    def decisive(self) -> Saving | None:
        """The saving that decided."""
        return self.decides.saving if self.decides else None

    @property
    def bytes_added(self) -> Interval | None:
        """What lzo adds to the image over xz."""
        return self.evidence.bytes_added

    @property
    def doubts(self) -> tuple[Condition, ...]:
        """The conditions of the policy that the evidence leaves open."""
        open_ones = (each for each in self.reasons if isinstance(each, InDoubt))
        return next((each.conditions for each in open_ones), ())
