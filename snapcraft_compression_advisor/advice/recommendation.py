"""What to ship: from evidence to a recommendation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .evidence import break_even_launches
from .judgement import (
    SNAPCRAFT_DEFAULT,
    Judgement,
    Verdict,
    current_of,
    judge,
    stay_small,
)
from .reasons import Code, Compression, Condition, Growth, Lacking, PaidAfter, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.units import Interval
    from .evidence import Evidence, Policy, Saving

__all__ = ["SNAPCRAFT_DEFAULT", "Recommendation", "Verdict", "recommend"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What to ship.

    :param compression: the recommended codec.
    :param verdict: ``change`` it to that, ``keep`` it, ``no-benefit`` (lzo makes no
        difference worth having) or ``undecided`` (the evidence doesn't tell).
    :param reasons: the most important first.
    :param decisive: the saving that decided: the least of the deciding ones.
    :param bytes_added: what lzo adds to the image over xz.
    :param break_even_launches: cold launches that pay for ``bytes_added``.
    :param doubts: conditions of the policy that the evidence leaves open.
    :param settled_s: seconds that a policy could ask for and be answered: up to the
        first, lzo surely saves enough; above the second, it surely doesn't.
    """

    compression: Compression
    verdict: Verdict
    reasons: tuple[Reason, ...]
    decisive: Saving | None = None
    bytes_added: Interval | None = None
    break_even_launches: float | None = None
    doubts: tuple[Condition, ...] = ()
    settled_s: tuple[float, float] | None = None


def recommend(evidence: Evidence, policy: Policy) -> Recommendation:
    """Choose between xz and lzo."""
    added = evidence.bytes_added
    if added is not None and not evidence.launched:
        return _by_size(evidence, policy, added)
    deciding = _deciding(evidence, policy)
    if added is None or not deciding:
        return Recommendation(
            compression=current_of(evidence),
            verdict="undecided",
            reasons=(_nothing_to_judge(evidence),),
            bytes_added=added,
        )
    judgement = judge(evidence, policy, deciding, added)
    decisive = min(deciding, key=lambda saving: saving.seconds.mid)
    launches = break_even_launches(
        added.mid, decisive.seconds.mid, policy.link_mbit_per_s
    )
    paid = (PaidAfter(launches, policy.link_mbit_per_s),) if launches else ()
    return Recommendation(
        compression=judgement.choice,
        verdict=judgement.verdict,
        reasons=(
            *judgement.reasons,
            decisive,
            *_growth(evidence, added),
            *(paid if judgement.verdict != "no-benefit" else ()),
        ),
        decisive=decisive,
        bytes_added=added,
        break_even_launches=launches,
        doubts=judgement.doubts,
        settled_s=(
            min(saving.seconds.low for saving in deciding),
            min(saving.seconds.high for saving in deciding),
        ),
    )


def _by_size(evidence: Evidence, policy: Policy, added: Interval) -> Recommendation:
    """Choose for files that no launch is known to read: they should be small."""
    judgement = stay_small(evidence, policy, added, Code.NO_LAUNCH)
    if judgement.verdict == "change" and evidence.xz_bytes is not None:
        negligible = policy.negligible_growth * evidence.xz_bytes.mid
        if evidence.declared == "lzo" and added.low <= negligible:
            judgement = Judgement(
                choice="lzo",
                verdict="undecided",
                reasons=(Code.NO_LAUNCH, Code.SIZE_IN_DOUBT),
            )
    return Recommendation(
        compression=judgement.choice,
        verdict=judgement.verdict,
        reasons=(*judgement.reasons, *_growth(evidence, added)),
        bytes_added=added,
    )


def _growth(evidence: Evidence, added: Interval) -> tuple[Growth, ...]:
    xz_bytes = evidence.xz_bytes
    return () if xz_bytes is None else (Growth(added, xz_bytes),)


def _nothing_to_judge(evidence: Evidence) -> Reason:
    """Return why there is no figure to decide by."""
    sizes = (("xz", evidence.xz_bytes), ("lzo", evidence.lzo_bytes))
    lacking = tuple(codec for codec, size in sizes if size is None)
    if lacking:
        return Lacking("codec", lacking)
    if evidence.without_program:
        return Lacking("program", tuple(evidence.without_program))
    if evidence.nothing_found:
        return Lacking("files", tuple(evidence.nothing_found))
    return Code.NO_APP


def _deciding(evidence: Evidence, policy: Policy) -> Sequence[Saving]:
    """Return the savings that decide; none where one of their apps is unknown."""
    apps = [saving.app for saving in evidence.savings]
    deciding_apps = set(apps if policy.deciding_apps == "every" else apps[:1])
    if deciding_apps & {*evidence.nothing_found, *evidence.without_program}:
        return ()
    return [saving for saving in evidence.savings if saving.app in deciding_apps]
