"""What to ship: from figures to a recommendation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from snapcraft_compression_advisor.advice import reasons
from snapcraft_compression_advisor.advice.cold_start import within_budgets
from snapcraft_compression_advisor.advice.judgement import (
    Answer,
    Compression,
    Doubt,
    Judgement,
    Verdict,
    all_of,
    stays_within,
)
from snapcraft_compression_advisor.advice.update_cost import break_even_launches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snapcraft_compression_advisor.advice.evidence import Evidence, Policy, Saving
    from snapcraft_compression_advisor.core.units import Interval

__all__ = ["SNAPCRAFT_DEFAULT", "Recommendation", "Verdict", "recommend"]

SNAPCRAFT_DEFAULT: Compression = "xz"
"""What snapcraft and snapd pack with where snapcraft.yaml has no ``compression``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What to ship.

    :param compression: the recommended codec.
    :param verdict: ``change`` it to that, ``keep`` it, ``no-benefit`` (lzo makes no
        difference worth having) or ``undecided`` (the evidence doesn't tell).
    :param reasons: in plain words, the most important first.
    :param decisive: the saving that decided: the least of the deciding ones.
    :param bytes_added: what lzo adds to the image over xz.
    :param break_even_launches: cold launches that pay for ``bytes_added``.
    :param doubts: conditions of the policy that the evidence leaves open.
    :param settled_s: seconds that a policy could ask for and be answered: up to the
        first, lzo surely saves enough; above the second, it surely doesn't.
    """

    compression: Compression
    verdict: Verdict
    reasons: tuple[str, ...]
    decisive: Saving | None = None
    bytes_added: Interval | None = None
    break_even_launches: float | None = None
    doubts: tuple[Doubt, ...] = ()
    settled_s: tuple[float, float] | None = None


def recommend(evidence: Evidence, policy: Policy) -> Recommendation:
    """Choose between xz and lzo."""
    current: Compression = "lzo" if evidence.declared == "lzo" else SNAPCRAFT_DEFAULT
    added = evidence.bytes_added
    if added is not None and not evidence.launched:
        return _by_size(evidence, policy, added)
    deciding = _deciding(evidence, policy)
    if added is None or not deciding:
        return Recommendation(
            compression=current,
            verdict="undecided",
            reasons=(reasons.nothing_to_judge(evidence),),
            bytes_added=added,
        )
    judgement = within_budgets(
        _judge(evidence, policy, deciding, current, added),
        evidence.cold_starts,
        declared=evidence.declared,
        lzo_fits=fits_in(added, evidence.xz_bytes, policy),
    )
    decisive = min(deciding, key=lambda saving: saving.seconds.mid)
    return Recommendation(
        compression=judgement.choice,
        verdict=judgement.verdict,
        reasons=(
            judgement.reason,
            *judgement.details,
            *reasons.figures(evidence, decisive, added=added),
            *(
                reasons.paid_after(policy, decisive, added=added)
                if judgement.verdict != "no-benefit"
                else ()
            ),
        ),
        decisive=decisive,
        bytes_added=added,
        break_even_launches=break_even_launches(
            added.mid, decisive.seconds.mid, policy.link_mbit_per_s
        ),
        doubts=judgement.doubts,
        settled_s=(
            min(saving.seconds.low for saving in deciding),
            min(saving.seconds.high for saving in deciding),
        ),
    )


def _by_size(evidence: Evidence, policy: Policy, added: Interval) -> Recommendation:
    """Choose for files that no launch is known to read: they should be small."""
    judgement = _stay_small(evidence, policy, added, reasons.NO_LAUNCH)
    if judgement.verdict == "change" and evidence.xz_bytes is not None:
        negligible = policy.negligible_growth * evidence.xz_bytes.mid
        if evidence.declared == "lzo" and added.low <= negligible:
            judgement = Judgement(
                choice="lzo", verdict="undecided", reason=reasons.SIZE_IN_DOUBT
            )
    return Recommendation(
        compression=judgement.choice,
        verdict=judgement.verdict,
        reasons=(judgement.reason, *reasons.size(evidence, added)),
        bytes_added=added,
    )


def saves_enough(saving: Saving, policy: Policy) -> Answer:
    """Tell whether a launch becomes faster by as much as the policy asks."""
    if policy.min_saving_share is None:
        return _reaches(saving.seconds, policy.min_saving_s)
    if saving.share is None:
        return Answer.UNKNOWN
    return _reaches(saving.share, policy.min_saving_share)


def fits_in(added: Interval, xz_bytes: Interval | None, policy: Policy) -> Answer:
    """Tell whether lzo adds no more to the image than the policy allows."""
    answers = []
    if policy.max_growth_bytes is not None:
        answers.append(stays_within(added, policy.max_growth_bytes))
    if policy.max_growth_share is not None and xz_bytes is not None:
        limit = policy.max_growth_share * xz_bytes.mid
        answers.append(stays_within(added, limit))
    return all_of(answers)


def _reaches(figure: Interval, least: float) -> Answer:
    if figure.low >= least:
        return Answer.YES
    return Answer.NO if figure.high < least else Answer.UNKNOWN


def pays_for_itself(saving: Saving, added: Interval, policy: Policy) -> Answer:
    """Tell whether the larger download is paid for within the policy's launches."""
    worst = break_even_launches(added.high, saving.seconds.low, policy.link_mbit_per_s)
    best = break_even_launches(added.low, saving.seconds.high, policy.link_mbit_per_s)
    if worst is not None and worst <= policy.max_launches:
        return Answer.YES
    if best is None or best > policy.max_launches:
        return Answer.NO
    return Answer.UNKNOWN


def _deciding(evidence: Evidence, policy: Policy) -> Sequence[Saving]:
    """Return the savings that decide; none where one of their apps is unknown."""
    apps = [saving.app for saving in evidence.savings]
    deciding_apps = set(apps if policy.deciding_apps == "every" else apps[:1])
    if deciding_apps & {*evidence.nothing_found, *evidence.without_program}:
        return ()
    return [saving for saving in evidence.savings if saving.app in deciding_apps]


def _judge(
    evidence: Evidence,
    policy: Policy,
    deciding: Sequence[Saving],
    current: Compression,
    added: Interval,
) -> Judgement:
    enough = all_of(saves_enough(saving, policy) for saving in deciding)
    pays = all_of(pays_for_itself(saving, added, policy) for saving in deciding)
    fits = fits_in(added, evidence.xz_bytes, policy)
    answer = all_of((enough, pays, fits))
    if answer is Answer.YES:
        verdict: Verdict = "keep" if evidence.declared == "lzo" else "change"
        return Judgement(choice="lzo", verdict=verdict, reason=reasons.LZO_PAYS)
    if answer is Answer.UNKNOWN:
        doubts = _doubts(saving=enough, paying=pays, growth=fits)
        return Judgement(
            choice=current,
            verdict="undecided",
            reason=reasons.too_wide(policy, doubts),
            doubts=doubts,
        )
    if enough is Answer.NO:
        return _stay_small(evidence, policy, added, reasons.saves_too_little(policy))
    against = reasons.never_pays if pays is Answer.NO else reasons.grows_too_much
    judgement = _stay_small(evidence, policy, added, against(policy))
    if judgement.verdict == "no-benefit":
        return Judgement(
            choice=judgement.choice, verdict="keep", reason=judgement.reason
        )
    return judgement


def _doubts(**answers: Answer) -> tuple[Doubt, ...]:
    every: tuple[Doubt, ...] = ("saving", "paying", "growth")
    return tuple(doubt for doubt in every if answers[doubt] is Answer.UNKNOWN)


def _stay_small(
    evidence: Evidence, policy: Policy, added: Interval, reason: str
) -> Judgement:
    """Judge a snap whose launches aren't worth lzo's bytes."""
    if evidence.declared in (None, "xz"):
        return Judgement(choice="xz", verdict="no-benefit", reason=reason)
    if evidence.declared != "lzo":
        return Judgement(
            choice="xz", verdict="change", reason=reason + reasons.FOREIGN_CODEC
        )
    if evidence.xz_bytes and added.high <= (
        policy.negligible_growth * evidence.xz_bytes.mid
    ):
        return Judgement(
            choice="lzo", verdict="no-benefit", reason=reason + reasons.NO_SIZE_EITHER
        )
    return Judgement(
        choice="xz", verdict="change", reason=reason + reasons.XZ_IS_SMALLER
    )
