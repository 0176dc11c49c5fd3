"""What a recommendation is put together from: answers and judgements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from snapcraft_compression_advisor.core.units import Interval

Verdict = Literal["change", "keep", "no-benefit", "undecided"]
Compression = Literal["xz", "lzo"]

Doubt = Literal["saving", "paying", "growth"]
"""A condition of the policy that may or may not hold: that launches gain enough, that
the download pays for itself, that the image doesn't grow too much."""


class Answer(Enum):
    """Whether a condition of the policy holds, as far as the interval tells."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A choice between xz and lzo.

    :param reason: for it, in a sentence or two.
    :param details: further sentences.
    :param doubts: what it leaves open.
    """

    choice: Compression
    verdict: Verdict
    reason: str
    details: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()


def all_of(answers: Iterable[Answer]) -> Answer:
    """Return whether all hold: a single no decides, else a single doubt."""
    given = set(answers)
    for answer in (Answer.NO, Answer.UNKNOWN):
        if answer in given:
            return answer
    return Answer.YES


def stays_within(figure: Interval, most: float) -> Answer:
    """Tell whether a figure is no more than a limit."""
    if figure.high <= most:
        return Answer.YES
    return Answer.NO if figure.low > most else Answer.UNKNOWN
