"""Budgets of cold starts: a limit that goes before what lzo saves or costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice import reasons
from snapcraft_compression_advisor.advice.judgement import (
    Answer,
    Judgement,
    all_of,
    stays_within,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from snapcraft_compression_advisor.advice.judgement import Compression, Verdict
    from snapcraft_compression_advisor.core.units import Interval

_OTHER: Mapping[Compression, Compression] = {"xz": "lzo", "lzo": "xz"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdStart:
    """A cold start that has a budget.

    :param device: the device profile's name.
    :param limit_s: the budget.
    :param seconds: by codec what it takes, or where the app's own time isn't known,
        what reading and decompressing add to that.
    :param own_time_known: whether it is: only a recorded launch tells.
    """

    app: str
    device: str
    limit_s: float
    seconds: Mapping[str, Interval]
    own_time_known: bool

    def kept_with(self, codec: str) -> Answer:
        """Tell whether it keeps its budget with a codec."""
        seconds = self.seconds.get(codec)
        if seconds is None:
            return Answer.UNKNOWN
        answer = stays_within(seconds, self.limit_s)
        if answer is Answer.YES and not self.own_time_known:
            return Answer.UNKNOWN
        return answer


def within_budgets(
    ordinary: Judgement,
    starts: Sequence[ColdStart],
    *,
    declared: str | None,
    lzo_fits: Answer,
) -> Judgement:
    """Return a judgement that minds the budgets of cold starts.

    Where one codec surely keeps them and the other surely breaks one, that decides,
    whatever the launch saves: a budget is a limit. Only the limit of the image's
    growth stands above it, which speaks of the choice of lzo itself. Where neither
    keeps them or the intervals leave it open, the ordinary judgement holds, but never
    leads from a codec to one that does worse.

    :param ordinary: what savings and size come to.
    :param declared: as in the evidence.
    :param lzo_fits: whether lzo adds no more to the image than the project allows.
    """
    if not starts:
        return ordinary
    current: Compression = "lzo" if declared == "lzo" else "xz"
    other = _OTHER[current]
    now, then = (_kept(starts, codec) for codec in (current, other))
    if {now, then} == {Answer.YES, Answer.NO}:
        keeper = current if now is Answer.YES else other
        return _decided(ordinary, starts, keeper, declared, lzo_fits)
    if now is Answer.NO:
        text = (
            reasons.NO_CODEC_IN_BUDGET
            if then is Answer.NO
            else reasons.budget_in_doubt(current, other)
        )
        return _noted(ordinary, text, starts)
    if ordinary.choice != current and then is not Answer.YES and then is not now:
        sure = then is Answer.NO
        return Judgement(
            choice=current,
            verdict=_verdict(current, declared) if sure else "undecided",
            reason=reasons.budget_speaks_against(other, sure=sure),
            details=_figures(starts),
        )
    return ordinary


def _kept(starts: Sequence[ColdStart], codec: str) -> Answer:
    return all_of(start.kept_with(codec) for start in starts)


def _decided(
    ordinary: Judgement,
    starts: Sequence[ColdStart],
    keeper: Compression,
    declared: str | None,
    lzo_fits: Answer,
) -> Judgement:
    """Return the judgement where one codec alone keeps the budgets."""
    if keeper == "lzo" and lzo_fits is Answer.NO:
        return _noted(ordinary, reasons.BUDGET_OR_SIZE, starts)
    reason = reasons.keeps_budget(keeper, _OTHER[keeper])
    if keeper == "lzo" and lzo_fits is Answer.UNKNOWN:
        choice: Compression = "lzo" if declared == "lzo" else "xz"
        return Judgement(
            choice=choice,
            verdict="undecided",
            reason=f"{reason} {reasons.GROWTH_IN_DOUBT}",
            details=_figures(starts),
        )
    return Judgement(
        choice=keeper,
        verdict=_verdict(keeper, declared),
        reason=reason,
        details=_figures(starts),
    )


def _verdict(choice: Compression, declared: str | None) -> Verdict:
    """Tell whether a choice changes what is declared; by default that is xz."""
    return "keep" if choice == (declared or "xz") else "change"


def _noted(judgement: Judgement, text: str, starts: Sequence[ColdStart]) -> Judgement:
    return replace(judgement, details=(*judgement.details, text, *_figures(starts)))


def _figures(starts: Sequence[ColdStart]) -> tuple[str, ...]:
    """Say what the starts take that don't surely keep their budget with both codecs."""
    return tuple(
        reasons.cold_start(start)
        for start in starts
        if any(start.kept_with(codec) is not Answer.YES for codec in _OTHER)
    )
