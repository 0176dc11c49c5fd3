"""Which of the chosen devices decides, and what each of them gives by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from .evidence import Evidence, Saving
from .reasons import Budget, Decider, Decides, DeviceVerdict

if TYPE_CHECKING:
    from .recommendation import Recommendation


class Judge(Protocol):
    """Chooses by savings, of which each has to meet the policy."""

    def __call__(self, known: Evidence, savings: Sequence[Saving]) -> Recommendation:
        """Return the choice, without the figures that it rests on."""


def decide(
    evidence: Evidence,
    deciding: Sequence[Saving],
    judgement: Recommendation,
    judge: Judge,
) -> Decides:
    """Return which saving decides: the least of those that give the verdict.

    A saving that is larger, but less certain, can be the one that fails the policy. So
    those go first which alone come to the same verdict for the same reason.

    :param deciding: savings that decide together, at least one.
    :param judgement: what they come to.
    """
    apps = {saving.app for saving in deciding}
    savings = [saving for saving in evidence.savings if saving.app in apps]
    by_device = tuple(_by_device(evidence, savings, judge))
    alone = [(saving, judge(evidence, [saving])) for saving in deciding]
    alike = [saving for saving, each in alone if each.verdict == judgement.verdict]
    same = [
        saving
        for saving, each in alone
        if (each.verdict, each.reasons) == (judgement.verdict, judgement.reasons)
    ]
    saving = _least(same or alike or deciding)
    why: Decider = "least-saving"
    if len(by_device) == 1:
        why = "only-device"
    elif isinstance(judgement.reasons[0], Budget):
        why = "budget"
    elif saving.shares:
        why = "average"
    elif saving.device != _least(deciding).device:
        why = "not-worth-there"
    return Decides(saving=saving, why=why, by_device=by_device)


def _by_device(
    evidence: Evidence, savings: Sequence[Saving], judge: Judge
) -> Iterator[DeviceVerdict]:
    for device in dict.fromkeys(saving.device for saving in savings):
        here = [saving for saving in savings if saving.device == device]
        starts = [start for start in evidence.cold_starts if start.device == device]
        judgement = judge(replace(evidence, cold_starts=starts), here)
        yield DeviceVerdict(
            device=device,
            verdict=judgement.verdict,
            compression=judgement.compression,
            saving=_least(here),
        )


def _least(savings: Sequence[Saving]) -> Saving:
    return min(savings, key=lambda saving: saving.seconds.mid)
